"""What happened: cycles, events, the timeline, stories."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedviz.trace.events import AnyEvent
from schedviz.trace.story import Entry, Life
from schedviz.trace.view import CycleView
from schedviz.web.api.schemas.body import Body


class CycleSummaryBody(CycleView, kw_only=True, omit_defaults=True):
    """A cycle that ended. Its pod was popped with the event `firstEvent`, and `lastEvent` says that it ended: moments to go to."""

    first_event: int
    last_event: int


class CycleList(Body, frozen=True):
    """Summaries of cycles that have ended. `next` is the `after` of the following page, `previous` the `before` of the one before; null
    where there is none."""

    results: list[CycleSummaryBody]
    next: int | None
    previous: int | None


class EventList(Body, frozen=True):
    """Trace events in order. `last` is the newest that is stored; `next` is the `after` of the following page, `previous` the `before` of
    the one before, null where there is none."""

    results: list[AnyEvent]
    last: int
    next: int | None
    previous: int | None


class PodLevels(Body, frozen=True):
    """How many pods are in each queue, and at the API server (`all`)."""

    active_q: int = msgspec.field(name="activeQ")
    backoff_q: int = msgspec.field(name="backoffQ")
    unschedulable: int
    all: int


class TimelineBucket(Body, frozen=True):
    """What happened in the events `firstEvent` to `event`; `clockSeconds`, `pods` and `nodes` are at their end."""

    first_event: int
    event: int
    clock_seconds: float
    #: Scheduling cycles that ended, and of those how many as what.
    cycles: int
    scheduled: int
    unschedulable: int
    errors: int
    #: Pods that the scheduler deleted to make room for others.
    preempted: int
    #: Bindings that were written at the API server.
    bound: int
    #: Pods that entered, left or changed places in the queue; nodes that the cache took, changed or lost.
    pod_moves: int
    node_changes: int
    pods: PodLevels
    nodes: int


class TimelineBody(Body, frozen=True):
    """The past in a few numbers, in the order of events. `from` and `to`: after which event and until which."""

    after: int = msgspec.field(name="from")
    until: int = msgspec.field(name="to")
    #: The first moment that can be gone to.
    first_event: int
    buckets: list[TimelineBucket]


class StoryBody(Body, frozen=True):
    """What happened to a pod (`namespace/name`) or node until event `at`, in order. `lives` are the pods that had this name one after the
    other; `uid` tells whose an entry is. `next` is the `after` of the following page; where the last entries were asked for, `previous` is
    the `before` of the page before."""

    kind: Literal["pods", "nodes"]
    name: str
    at: int
    lives: list[Life]
    results: list[Entry]
    next: int | None
    previous: int | None
