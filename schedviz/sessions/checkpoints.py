"""Saved engines with their views: written in pieces, counted only when complete, thinned as they age."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.db import DatabaseError, IntegrityError, transaction

from schedviz.sessions import pieces
from schedviz.sessions.errors import Fenced
from schedviz.sessions.lease import Lease, fenced_update
from schedviz.sessions.models import Checkpoint, CheckpointPiece

#: Replay may always take this long before a checkpoint is due ...
DUE_SECONDS = 0.2
#: ... and this many times what a checkpoint costs, so that they stay below a tenth of the work ...
DUE_COSTS = 10.0
#: ... but, unless they are very large, no longer than somebody waits who wants to see a cycle in detail.
LATE_SECONDS = 2.0
LATE_COSTS = 3.0
_NEWEST_KEPT = 8


class Saved(msgspec.Struct, frozen=True):
    """An engine to be saved, and the committed position it is at."""

    event: int
    chunk: int
    cycle: int
    clock_seconds: float
    applied_seq: int
    in_command: bool
    digest: str
    engine_version: str
    engine: bytes
    #: The view's JSON.
    view: bytes


def is_due(replay_seconds: float, cost_seconds: float) -> bool:
    """Whether doing again what came since the newest checkpoint has become too slow."""
    return replay_seconds > min(max(DUE_SECONDS, DUE_COSTS * cost_seconds), max(LATE_SECONDS, LATE_COSTS * cost_seconds))


def save(lease: Lease, saved: Saved, *, cost_seconds: float) -> Checkpoint:
    """Store a checkpoint, one transaction for each piece. Raises `Fenced` when the lease was lost; then it never counts."""
    try:
        checkpoint = Checkpoint.objects.create(
            session_id=lease.session_id,
            event=saved.event,
            chunk=saved.chunk,
            cycle=saved.cycle,
            clock_seconds=saved.clock_seconds,
            applied_seq=saved.applied_seq,
            in_command=saved.in_command,
            digest=saved.digest,
            engine_version=saved.engine_version,
            cost_seconds=cost_seconds,
            epoch=lease.epoch,
        )
        for part, data in ((CheckpointPiece.Part.ENGINE, saved.engine), (CheckpointPiece.Part.VIEW, saved.view)):
            for number, piece in enumerate(pieces.cut(data)):
                CheckpointPiece.objects.create(checkpoint=checkpoint, part=part, number=number, data=piece)
        with transaction.atomic():
            if not fenced_update(lease, engine_version=saved.engine_version):
                raise Fenced(f"Another owner has taken session {lease.session_id}.")
            Checkpoint.objects.filter(pk=checkpoint.pk).update(complete=True)
    except IntegrityError as error:
        raise Fenced(f"Session {lease.session_id} was deleted.") from error
    checkpoint.complete = True
    _thin(lease.session_id)
    return checkpoint


def newest(session_id: UUID, *, before_cycle: int | None = None, until_event: int | None = None) -> Checkpoint | None:
    """The newest complete checkpoint, the newest at which a cycle had not begun, or the newest that is not after an event."""
    rows = Checkpoint.objects.filter(session_id=session_id, complete=True)
    if before_cycle is not None:
        rows = rows.filter(cycle__lt=before_cycle)
    if until_event is not None:
        rows = rows.filter(event__lte=until_event)
    return rows.order_by("-event", "-pk").first()


def engine_bytes(checkpoint: Checkpoint) -> bytes:
    """What the engine wrote."""
    rows = CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.ENGINE).order_by("number")
    return pieces.join(bytes(data) for data in rows.values_list("data", flat=True))


def sweep_incomplete(session_id: UUID, *, epoch: int) -> None:
    """Delete what earlier owners left unfinished."""
    Checkpoint.objects.filter(session_id=session_id, complete=False, epoch__lt=epoch).delete()


def _thin(session_id: UUID) -> None:
    """Keep the first, the newest few, and of the older ones ever fewer: gaps double with age, so a jump back stays affordable."""
    rows = Checkpoint.objects.filter(session_id=session_id, complete=True).order_by("-event", "-pk")
    events = list(rows.values_list("pk", "event"))
    superfluous = thinned([event for _, event in events])
    if superfluous:
        try:
            Checkpoint.objects.filter(pk__in=[pk for index, (pk, _) in enumerate(events) if index in superfluous]).delete()
        except DatabaseError:
            # Too many checkpoints are no harm; the next one thins again.
            return


def thinned(events: list[int]) -> set[int]:
    """Which of the checkpoints, newest first, are superfluous, as indexes."""
    superfluous: set[int] = set()
    kept = events[_NEWEST_KEPT - 1] if len(events) >= _NEWEST_KEPT else 0
    for index in range(_NEWEST_KEPT, len(events) - 1):
        # Without this one, the gap that a jump has to replay would still be small beside its distance from the head.
        gap = kept - events[index + 1]
        if gap * 8 <= events[0] - events[index + 1]:
            superfluous.add(index)
        else:
            kept = events[index]
    return superfluous
