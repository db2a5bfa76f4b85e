"""The agreement rate: how often the scheduler of a followed cluster chose what this one would have chosen. Stores and reports the shadow's
records.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from django.db.models import QuerySet, Sum
from django.utils import timezone

from schedviz.explain.shadowing.judgement import Choice, Judgement
from schedviz.sessions.models import Agreement, Observer, ShadowedPod
from schedviz.sessions.queries import prepared
from schedviz.sessions.queries.prepared import ShadowedRow

replace = msgspec.structs.replace

#: The number of newest bindings that are kept individually; older ones remain in the counts.
MAX_STORED_BINDINGS: Final = 10_000
#: After so many new bindings, surplus ones are deleted.
_SWEEP_INTERVAL_BINDINGS: Final = 500
#: The number of newest bindings in the recent rate.
RECENT_BINDINGS: Final = 100
#: Metrics have a recent rate for sessions with a push in this time, and for at most so many of them.
_ACTIVE_PERIOD: Final = timedelta(hours=1)
_MAX_ACTIVE_SESSIONS: Final = 100

#: Verdicts, and the columns in which they are counted.
COLUMNS: Final[dict[str, str]] = {
    "agrees": "agrees",
    "notBest": "not_best",
    "infeasible": "infeasible",
    "undecided": "undecided",
    "unjudged": "unjudged",
}


class PodArrival(msgspec.Struct, frozen=True):
    """A pod that became ready to be scheduled, and the choice of this engine at that moment."""

    pod: str
    uid: str
    #: The event after which the pod is in the cluster.
    event: int
    choice: Choice


class JudgedBinding(msgspec.Struct, frozen=True):
    """A binding by the real scheduler with the verdict of this engine."""

    pod: str
    uid: str
    #: The event just before the binding, at which the pod is still pending.
    event: int
    node: str
    judgement: Judgement
    #: The pod's schedulerName.
    profile: str = ""


class BindingSeen(msgspec.Struct, frozen=True):
    """A binding by the real scheduler that is judged later, when others that were in flight are known."""

    pod: str
    uid: str
    #: The event just before the binding.
    event: int
    node: str


class PodPlaced(msgspec.Struct, frozen=True):
    """A pending pod whose conditions imply another place in the real scheduler's queue."""

    pod: str
    uid: str
    place: str


class DeletedWhilePending(msgspec.Struct, frozen=True):
    """A pod that was deleted while it was pending, so there is no verdict."""

    pod: str
    uid: str


#: What the shadow scheduler records of a pod of the followed cluster: arrival, place in the real queue, binding or deletion.
ShadowRecord = PodArrival | PodPlaced | BindingSeen | JudgedBinding | DeletedWhilePending


class VerdictCounts(msgspec.Struct, frozen=True):
    """How many bindings got each verdict."""

    agrees: int = 0
    not_best: int = 0
    infeasible: int = 0
    undecided: int = 0
    unjudged: int = 0

    @property
    def judged(self) -> int:
        """The number of bindings with a verdict that does not depend on an unknown order."""
        return self.agrees + self.not_best + self.infeasible

    @property
    def rate(self) -> float | None:
        """The share of judged bindings that agree; None if there are none."""
        return self.agrees / self.judged if self.judged else None


def store(session_id: UUID, records: Sequence[ShadowRecord]) -> None:
    """Store the shadow's records, in the transaction of the engine's slice."""
    rows: dict[tuple[str, str], ShadowedRow] = {}
    deleted: list[tuple[str, str]] = []
    for record in records:
        key = (record.pod, record.uid)
        if isinstance(record, DeletedWhilePending):
            # Its arrival may be in the same slice.
            rows.pop(key, None)
            deleted.append(key)
            continue
        row = rows.get(key) or ShadowedRow(record.pod, record.uid)
        if isinstance(record, PodArrival):
            rows[key] = replace(row, arrived_event=record.event, arrival=msgspec.json.encode(record.choice).decode())
        elif isinstance(record, PodPlaced):
            rows[key] = replace(row, place=record.place)
        elif isinstance(record, BindingSeen):
            rows[key] = replace(row, bound_event=record.event, node=record.node)
        else:
            judgement = record.judgement
            rows[key] = replace(
                row,
                bound_event=record.event,
                node=record.node,
                verdict=judgement.verdict,
                judgement=msgspec.json.encode(judgement).decode(),
                profile=record.profile,
                cause=judgement.cause or "",
                plugin=judgement.deciding_plugin,
            )
    prepared.store_shadowed(session_id, list(rows.values()))
    for pod, uid in deleted:
        ShadowedPod.objects.filter(session_id=session_id, pod=pod, uid=uid, bound_event=None).delete()
    _count(session_id, [record for record in records if isinstance(record, JudgedBinding)])


def _count(session_id: UUID, bindings: Sequence[JudgedBinding]) -> None:
    if not bindings:
        return
    more = dict.fromkeys(COLUMNS.values(), 0)
    for binding in bindings:
        more[COLUMNS[binding.judgement.verdict]] += 1
    total = prepared.add_to_agreement(session_id, **more)
    if total // _SWEEP_INTERVAL_BINDINGS != (total - len(bindings)) // _SWEEP_INTERVAL_BINDINGS:
        _sweep(session_id)


def _sweep(session_id: UUID) -> None:
    """Delete the oldest bindings beyond those that are kept."""
    bound = ShadowedPod.objects.filter(session_id=session_id, bound_event__isnull=False)
    oldest = bound.order_by("-bound_event").values_list("bound_event", flat=True)[MAX_STORED_BINDINGS : MAX_STORED_BINDINGS + 1].first()
    if oldest is not None:
        bound.filter(bound_event__lte=oldest).delete()


def counts(session_id: UUID) -> VerdictCounts:
    """The counts since the session began to follow."""
    row = Agreement.objects.filter(session_id=session_id).values(*COLUMNS.values()).first()
    return VerdictCounts(**row) if row else VerdictCounts()


def counts_of_all() -> VerdictCounts:
    """The counts of all sessions, for metrics."""
    sums = Agreement.objects.aggregate(**{column: Sum(column) for column in COLUMNS.values()})
    return VerdictCounts(**{column: total or 0 for column, total in sums.items()})


def recently_active() -> list[UUID]:
    """The sessions into which a cluster was pushed within the last hour, the latest first; for metrics."""
    active = Observer.objects.filter(pushed_at__gte=timezone.now() - _ACTIVE_PERIOD).order_by("-pushed_at")
    return list(active.values_list("session_id", flat=True)[:_MAX_ACTIVE_SESSIONS])


def recent(session_id: UUID) -> VerdictCounts:
    """The counts of the newest bindings."""
    newest = judged(session_id).order_by("-bound_event")
    counts_by_column: dict[str, int] = dict.fromkeys(COLUMNS.values(), 0)
    for verdict in newest.values_list("verdict", flat=True)[:RECENT_BINDINGS]:
        counts_by_column[COLUMNS[verdict]] += 1
    return VerdictCounts(**counts_by_column)


def waiting(session_id: UUID) -> int:
    """How many observed pods are pending."""
    return ShadowedPod.objects.filter(session_id=session_id, bound_event__isnull=True).count()


def bindings(session_id: UUID, verdicts: Sequence[str], *, before: int | None, limit: int) -> list[ShadowedPod]:
    """Judged pods, the newest binding first. `verdicts` filters them; empty means all."""
    rows = judged(session_id)
    narrowed: dict[str, Any] = {}
    if verdicts:
        narrowed["verdict__in"] = list(verdicts)
    if before is not None:
        narrowed["bound_event__lt"] = before
    return list(rows.filter(**narrowed).order_by("-bound_event")[:limit])


def judged(session_id: UUID) -> QuerySet[ShadowedPod]:
    """Bindings with a verdict. Others wait for bindings that are in flight."""
    return ShadowedPod.objects.filter(session_id=session_id, bound_event__isnull=False).exclude(verdict="")
