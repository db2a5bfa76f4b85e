"""Followed clusters: the observations, and the agreement between the two schedulers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.explain.shadowing.judgement import Choice, Judgement, Verdict
from schedviz.sessions.observing.decision_times import MAX_TIMES
from schedviz.sessions.observing.observations import MAX_EVENTS, Seen
from schedviz.web.api.schemas.body import Body


class NewObservations(Body, frozen=True, forbid_unknown_fields=True):
    """Batch `n` (1, 2, 3, …) of the observations of a real cluster by `source`, in order. `version`: of its API server, such as v1.36.0.
    `decisions`: when its scheduler decided, if its log or its events are read.
    """

    source: Annotated[str, Meta(min_length=1, max_length=100, pattern="^[!-~]+$")]
    n: Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
    events: Annotated[list[Seen], Meta(max_length=MAX_EVENTS)]
    version: Annotated[str, Meta(max_length=64, pattern="^[!-~]*$")] = ""
    decisions: Annotated[tuple[DecisionTime, ...], Meta(max_length=MAX_TIMES)] = ()


class ObservationsTaken(Body, frozen=True):
    """The batch is stored. `expected`: the number of the next batch; `seq`: the last command that was made from the observations."""

    n: int
    expected: int
    seq: int
    duplicate: bool


class ObservedObject(Body, frozen=True):
    """An object as it was observed last: `key` is `namespace/name` or a name, `version` is an opaque text of the observer."""

    kind: str
    key: str
    uid: str
    version: str


class AgreementCounts(Body, frozen=True):
    """The number of real bindings by verdict; `rate` is the share of `agrees` among `agrees`, `notBest` and `infeasible`, null if there is
    none.
    """

    agrees: int
    not_best: int
    infeasible: int
    undecided: int
    unjudged: int
    rate: float | None


class ShadowedBinding(Body, frozen=True):
    """A real binding and its verdict. `event`: the moment before it; `arrival`: what this scheduler would have chosen when the pod arrived,
    after `arrivedEvent` (null: the pod existed before).
    """

    pod: str
    uid: str
    node: str
    verdict: Verdict
    event: int
    judgement: Judgement
    arrived_event: int | None
    arrival: Choice | None


class InferredPlace(Body, frozen=True):
    """How many pods wait in a place of the cluster's queue, and the first of them."""

    count: int
    pods: list[str]


class AgreementInterval(Body, frozen=True):
    """The bindings that were judged in an interval that begins then."""

    begins: datetime
    counts: AgreementCounts


class AgreementBreakdown(Body, frozen=True):
    """The newest `bindings` over time, in intervals of so many `seconds`, and by profile; and those that do not agree by the plugin that
    rejected the node or makes the largest difference, and by cause.
    """

    bindings: int
    seconds: int
    over_time: list[AgreementInterval]
    profiles: dict[str, AgreementCounts]
    plugins: dict[str, int]
    causes: dict[str, int]


class AgreementBody(Body, frozen=True):
    """How often the cluster's scheduler decided as this one would have: since the session began to follow, and for the newest `of`
    bindings. `waiting` pods are not bound yet. `queue` has them by the place that their conditions imply: `active`, `unschedulable` (or in
    backoff) and `nominated`. `breakdown` is null if no bindings are requested. `next` is the `before` of the next page of bindings.
    """

    source: str | None
    detached: bool
    all: AgreementCounts
    recent: AgreementCounts
    of: int
    waiting: int
    queue: dict[str, InferredPlace]
    breakdown: AgreementBreakdown | None
    bindings: list[ShadowedBinding]
    next: int | None


class ObserverBody(Body, frozen=True):
    """The source that a session follows, and a page of the objects that were observed last."""

    #: Null: none.
    source: str | None
    #: The number of the next batch.
    expected: int
    #: The number of events in all batches.
    events: int
    #: The last command that was made from them.
    seq: int
    #: When the last batch was accepted.
    pushed_at: datetime | None
    objects: list[ObservedObject]
    next: int | None
