"""History: cycles, events, the timeline, stories."""

from __future__ import annotations

from typing import Literal

import msgspec

from schedviz.trace.events import AnyEvent
from schedviz.trace.story import Entry, Life
from schedviz.trace.view import CycleView
from schedviz.web.api.schemas.body import Body


class CycleSummaryBody(CycleView, kw_only=True, omit_defaults=True):
    """A finished cycle. Event `firstEvent` popped its pod, `lastEvent` ended it."""

    first_event: int
    last_event: int


class CycleList(Body, frozen=True):
    """Summaries of finished cycles. `next` is the `after` of the next page, `previous` the `before` of the previous one; null if there is
    none.
    """

    results: list[CycleSummaryBody]
    next: int | None
    previous: int | None


class EventList(Body, frozen=True):
    """Trace events in order. `last` is the newest stored event; `next` is the `after` of the next page, `previous` the `before` of the
    previous one; null if there is none.
    """

    results: list[AnyEvent]
    last: int
    next: int | None
    previous: int | None


class PodLevels(Body, frozen=True):
    """The number of pods in each queue, and at the API server (`all`)."""

    active_q: int = msgspec.field(name="activeQ")
    #: With errorBackoffQ of v1.36.
    backoff_q: int = msgspec.field(name="backoffQ")
    #: With gated pods.
    unschedulable: int
    #: At the API server, whatever their state.
    all: int


class TimelineBucket(Body, frozen=True):
    """The events `firstEvent` to `event`, summed up; `clockSeconds`, `pods` and `nodes` are the values at the end."""

    first_event: int
    event: int
    clock_seconds: float
    #: Finished scheduling cycles, whatever their outcome.
    cycles: int
    #: Finished scheduling cycles with the outcome `scheduled`.
    scheduled: int
    #: Finished scheduling cycles with the outcome `unschedulable`; `pods.unschedulable` is the length of a queue.
    unschedulable: int
    #: Finished scheduling cycles with the outcome `error`.
    errors: int
    #: Pods that the scheduler deleted by preemption.
    preempted: int
    #: Bindings that were written to the API server.
    bound: int
    #: How often pods entered, left or moved in the queue.
    pod_moves: int
    #: How often nodes were added to, updated in or removed from the cache.
    node_changes: int
    pods: PodLevels
    nodes: int


class TimelineBody(Body, frozen=True):
    """The history in buckets, in the order of events. `from` and `to`: the range of events."""

    after: int = msgspec.field(name="from")
    until: int = msgspec.field(name="to")
    #: The first moment that can be opened.
    first_event: int
    buckets: list[TimelineBucket]


class StoryBody(Body, frozen=True):
    """The history of a pod (`namespace/name`) or node until event `at`, in order. `lives` are the successive pods with this name; the `uid`
    of an entry names its pod. `next` is the `after` of the next page; if the last entries were requested, `previous` is the `before` of
    the previous page.
    """

    kind: Literal["pods", "nodes"]
    name: str
    at: int
    lives: list[Life]
    results: list[Entry]
    next: int | None
    previous: int | None
