"""URL patterns of the REST API."""

from __future__ import annotations

from django.urls import include, path, re_path

from schedviz.web.api.endpoints.agreement import Agreement
from schedviz.web.api.endpoints.breakpoints import Breakpoints, OneBreakpoint
from schedviz.web.api.endpoints.cases import Cases
from schedviz.web.api.endpoints.commands import Commands, CommandsTogether, OneCommand
from schedviz.web.api.endpoints.compare import Compare, CompareReport
from schedviz.web.api.endpoints.cycles import Cycles, OneCycle
from schedviz.web.api.endpoints.describe import DescribeNode, DescribePod
from schedviz.web.api.endpoints.devices import Devices
from schedviz.web.api.endpoints.dump import Dump
from schedviz.web.api.endpoints.events import Events
from schedviz.web.api.endpoints.experiments import (
    CancelExperiment,
    ExperimentResults,
    Experiments,
    ExperimentVariants,
    OneExperiment,
    PauseExperiment,
    ResumeExperiment,
    TrialSession,
)
from schedviz.web.api.endpoints.explain import ExplainMessage, ExplainPending, ExplainPod, PendingOverview, SmallestChange, WhatIf
from schedviz.web.api.endpoints.explain_text import ExplainText
from schedviz.web.api.endpoints.export import Export
from schedviz.web.api.endpoints.forks import Forks
from schedviz.web.api.endpoints.lesson_drafts import LessonDraft
from schedviz.web.api.endpoints.lesson_hints import LessonHints
from schedviz.web.api.endpoints.lesson_progress import Progress
from schedviz.web.api.endpoints.lessons import Lessons, OneLesson, SessionLesson
from schedviz.web.api.endpoints.links import Links, OneLink
from schedviz.web.api.endpoints.moments import ViewAt
from schedviz.web.api.endpoints.object_history import NodeHistory, PodHistory
from schedviz.web.api.endpoints.objects import OneObject, SelectedObjects
from schedviz.web.api.endpoints.observations import Observations
from schedviz.web.api.endpoints.problems import Problems
from schedviz.web.api.endpoints.quotas import Quotas
from schedviz.web.api.endpoints.samples import OneSample, Samples
from schedviz.web.api.endpoints.sessions import Cancel, OneSession, Sessions
from schedviz.web.api.endpoints.state import State
from schedviz.web.api.endpoints.swagger_page import docs_page, to_schema
from schedviz.web.api.endpoints.timeline import Timeline
from schedviz.web.api.errors import no_such_address
from schedviz.web.api.openapi import SchemaView

urlpatterns = [
    path("", to_schema),
    path("docs/", docs_page, name="api-docs"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("problems/", Problems.as_view(), name="problems"),
    path("quotas/", Quotas.as_view(), name="quotas"),
    path("compare/", Compare.as_view(), name="compare"),
    path("compare/report/", CompareReport.as_view(), name="compare-report"),
    path("lessons/", Lessons.as_view(), name="lessons"),
    path("lessons/<str:name>/", OneLesson.as_view(), name="lesson"),
    path("lessons/<str:name>/progress/", Progress.as_view(), name="lesson-progress"),
    path("rooms/", include("schedviz.web.rooms.api.urls")),
    path("", include("schedviz.web.accounts.api.urls")),
    path("explain/message/", ExplainText.as_view(), name="explain-text"),
    path("samples/", Samples.as_view(), name="samples"),
    path("cases/", Cases.as_view(), name="cases"),
    path("samples/<str:name>/", OneSample.as_view(), name="sample"),
    path("experiments/", Experiments.as_view(), name="experiments"),
    path("experiments/<uuid:experiment_id>/", OneExperiment.as_view(), name="experiment"),
    path("experiments/<uuid:experiment_id>/results/", ExperimentResults.as_view(), name="experiment-results"),
    path("experiments/<uuid:experiment_id>/variants/", ExperimentVariants.as_view(), name="experiment-variants"),
    path("experiments/<uuid:experiment_id>/cancel/", CancelExperiment.as_view(), name="cancel-experiment"),
    path("experiments/<uuid:experiment_id>/pause/", PauseExperiment.as_view(), name="pause-experiment"),
    path("experiments/<uuid:experiment_id>/resume/", ResumeExperiment.as_view(), name="resume-experiment"),
    path("experiments/<uuid:experiment_id>/trials/<int:number>/session/", TrialSession.as_view(), name="open-trial"),
    path("sessions/", Sessions.as_view(), name="sessions"),
    path("sessions/<uuid:session_id>/", OneSession.as_view(), name="session"),
    path("sessions/<uuid:session_id>/cancel/", Cancel.as_view(), name="cancel"),
    path("sessions/<uuid:session_id>/commands/", Commands.as_view(), name="commands"),
    path("sessions/<uuid:session_id>/commands/together/", CommandsTogether.as_view(), name="commands-together"),
    path("sessions/<uuid:session_id>/commands/<int:seq>/", OneCommand.as_view(), name="command"),
    path("sessions/<uuid:session_id>/branches/", Forks.as_view(), name="branches"),
    path("sessions/<uuid:session_id>/state/", State.as_view(), name="state"),
    path("sessions/<uuid:session_id>/view/", ViewAt.as_view(), name="view"),
    path("sessions/<uuid:session_id>/timeline/", Timeline.as_view(), name="timeline"),
    path("sessions/<uuid:session_id>/cycles/", Cycles.as_view(), name="cycles"),
    path("sessions/<uuid:session_id>/cycles/<int:cycle>/", OneCycle.as_view(), name="cycle"),
    path("sessions/<uuid:session_id>/events/", Events.as_view(), name="events"),
    path("sessions/<uuid:session_id>/stories/pods/<str:namespace>/<str:name>/", PodHistory.as_view(), name="pod-story"),
    path("sessions/<uuid:session_id>/stories/nodes/<str:name>/", NodeHistory.as_view(), name="node-story"),
    path("sessions/<uuid:session_id>/explain/", ExplainPending.as_view(), name="explain-pending"),
    path("sessions/<uuid:session_id>/overview/", PendingOverview.as_view(), name="pending-overview"),
    path("sessions/<uuid:session_id>/explain/message/", ExplainMessage.as_view(), name="explain-message"),
    path("sessions/<uuid:session_id>/explain/<str:namespace>/<str:name>/", ExplainPod.as_view(), name="explain-pod"),
    path("sessions/<uuid:session_id>/explain/<str:namespace>/<str:name>/change/", SmallestChange.as_view(), name="smallest-change"),
    path("sessions/<uuid:session_id>/dump/", Dump.as_view(), name="dump"),
    path("sessions/<uuid:session_id>/describe/nodes/<str:name>/", DescribeNode.as_view(), name="describe-node"),
    path("sessions/<uuid:session_id>/describe/pods/<str:namespace>/<str:name>/", DescribePod.as_view(), name="describe-pod"),
    path("sessions/<uuid:session_id>/devices/", Devices.as_view(), name="devices"),
    path("sessions/<uuid:session_id>/objects/", OneObject.as_view(), name="object"),
    path("sessions/<uuid:session_id>/objects/selected/", SelectedObjects.as_view(), name="selected-objects"),
    path("sessions/<uuid:session_id>/what-if/", WhatIf.as_view(), name="what-if"),
    path("sessions/<uuid:session_id>/breakpoints/", Breakpoints.as_view(), name="breakpoints"),
    path("sessions/<uuid:session_id>/breakpoints/<int:number>/", OneBreakpoint.as_view(), name="breakpoint"),
    path("sessions/<uuid:session_id>/observations/", Observations.as_view(), name="observations"),
    path("sessions/<uuid:session_id>/agreement/", Agreement.as_view(), name="agreement"),
    path("sessions/<uuid:session_id>/export/", Export.as_view(), name="export"),
    path("sessions/<uuid:session_id>/lesson/", SessionLesson.as_view(), name="session-lesson"),
    path("sessions/<uuid:session_id>/lesson/draft/", LessonDraft.as_view(), name="lesson-draft"),
    path("sessions/<uuid:session_id>/lesson/hints/", LessonHints.as_view(), name="lesson-hints"),
    path("sessions/<uuid:session_id>/links/", Links.as_view(), name="links"),
    path("sessions/<uuid:session_id>/links/<int:link_id>/", OneLink.as_view(), name="link"),
    re_path(r"^.*$", no_such_address),
]
