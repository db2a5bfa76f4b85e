"""Request and response bodies of the REST API as structs. Bodies are decoded and encoded with them, and the OpenAPI schema is generated
from them.
"""

from schedviz.web.api.schemas.body import LONGEST_TITLE, Body, Title
from schedviz.web.api.schemas.breakpoints import BreakpointBody, BreakpointChange, BreakpointList, NewBreakpoint
from schedviz.web.api.schemas.commands import CommandBody, CommandList, CommandsTaken, OutcomeBody
from schedviz.web.api.schemas.following import (
    AgreementBody,
    AgreementCounts,
    NewObservations,
    ObservationsTaken,
    ObservedObject,
    ObserverBody,
    ShadowedBinding,
)
from schedviz.web.api.schemas.history import CycleList, CycleSummaryBody, EventList, PodLevels, StoryBody, TimelineBody, TimelineBucket
from schedviz.web.api.schemas.links import LinkBody, LinkList, LinkRole, NewLink
from schedviz.web.api.schemas.questions import MessageBody, NamesBody, PastedTextBody, WhatIfBody
from schedviz.web.api.schemas.service import QuotaBody, QuotaList, SampleLine, SampleList
from schedviz.web.api.schemas.sessions import (
    Follows,
    ForkedFrom,
    ForkList,
    HitBody,
    NewFork,
    NewSession,
    NewSessionFiles,
    Progress,
    SessionBody,
    SessionChange,
    SessionList,
    SessionStatus,
)
from schedviz.web.api.schemas.state import (
    CacheBody,
    CacheImageBody,
    NodeItemBody,
    QueueBody,
    QueuedPodBody,
    SnapshotBody,
    StateBody,
    ViewBody,
)

__all__ = [
    "LONGEST_TITLE",
    "AgreementBody",
    "AgreementCounts",
    "Body",
    "BreakpointBody",
    "BreakpointChange",
    "BreakpointList",
    "CacheBody",
    "CacheImageBody",
    "CommandBody",
    "CommandList",
    "CommandsTaken",
    "CycleList",
    "CycleSummaryBody",
    "EventList",
    "Follows",
    "ForkList",
    "ForkedFrom",
    "HitBody",
    "LinkBody",
    "LinkList",
    "LinkRole",
    "MessageBody",
    "NamesBody",
    "NewBreakpoint",
    "NewFork",
    "NewLink",
    "NewObservations",
    "NewSession",
    "NewSessionFiles",
    "NodeItemBody",
    "ObservationsTaken",
    "ObservedObject",
    "ObserverBody",
    "OutcomeBody",
    "PastedTextBody",
    "PodLevels",
    "Progress",
    "QueueBody",
    "QueuedPodBody",
    "QuotaBody",
    "QuotaList",
    "SampleLine",
    "SampleList",
    "SessionBody",
    "SessionChange",
    "SessionList",
    "SessionStatus",
    "ShadowedBinding",
    "SnapshotBody",
    "StateBody",
    "StoryBody",
    "TimelineBody",
    "TimelineBucket",
    "Title",
    "ViewBody",
    "WhatIfBody",
]
