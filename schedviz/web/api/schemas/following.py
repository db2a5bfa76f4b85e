"""A followed cluster: what was seen of it, and how often its scheduler did what this one would have done."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from schedviz.explain.judgement import Choice, Judgement, Verdict
from schedviz.sessions.observing.observations import MOST as MOST_SEEN
from schedviz.sessions.observing.observations import Seen
from schedviz.web.api.schemas.body import Body


class NewObservations(Body, frozen=True, forbid_unknown_fields=True):
    """Batch `n` (1, 2, 3, …) of what `source` saw of a real cluster, in order."""

    source: Annotated[str, Meta(min_length=1, max_length=100, pattern="^[!-~]+$")]
    n: Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]
    events: Annotated[list[Seen], Meta(max_length=MOST_SEEN)]


class ObservationsTaken(Body, frozen=True):
    """The batch is stored. `expected`: the number of the next one; `seq`: the last command made of what was pushed."""

    n: int
    expected: int
    seq: int
    duplicate: bool


class ObservedObject(Body, frozen=True):
    """An object as the observer saw it last: `key` is `namespace/name` or a name, `version` is the observer's own word for its content."""

    kind: str
    key: str
    uid: str
    version: str


class AgreementCounts(Body, frozen=True):
    """How many real bindings came to which verdict; `rate` is the share that agrees of those that could be judged, null where none was."""

    agrees: int
    not_best: int
    infeasible: int
    unjudged: int
    rate: float | None


class ShadowedBinding(Body, frozen=True):
    """A real binding and what this scheduler makes of it. `event`: the moment before; `arrival`: what it would have chosen when the pod
    came, after `arrivedEvent` (null: it was there before)."""

    pod: str
    uid: str
    node: str
    verdict: Verdict
    event: int
    judgement: Judgement
    arrived_event: int | None
    arrival: Choice | None


class AgreementBody(Body, frozen=True):
    """How often the cluster's scheduler did what this one would have done: since the session began to follow, and of the newest `of`
    bindings. `waiting` pods have not been bound. `next` is the `before` of the following page of bindings."""

    source: str | None
    detached: bool
    all: AgreementCounts
    recent: AgreementCounts
    of: int
    waiting: int
    bindings: list[ShadowedBinding]
    next: int | None


class ObserverBody(Body, frozen=True):
    """Whom a session follows (`source` null: nobody), which batch is `expected`, and a page of the objects that were seen last."""

    source: str | None
    expected: int
    events: int
    seq: int
    pushed_at: datetime | None
    objects: list[ObservedObject]
    next: int | None
