"""Checkpoints: saved engines with their views, and views alone. They are written in blob chunks, become valid only when complete, and are
thinned with age.

A view allows the moments after it to be shown. An engine allows a session to continue, be forked and be analysed. Views are small and
stored densely, so every moment is near one. Where engines were thinned, replay starts from an older one and takes longer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

import msgspec
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import QuerySet, Sum

from schedviz.sessions.errors import Fenced
from schedviz.sessions.history import blob_chunks
from schedviz.sessions.hosting.lease import Lease, require_update
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Session

#: A checkpoint is due when replay would take longer than this ...
DUE_SECONDS = 0.2
#: ... and this many times as long as saving one takes, so that saving costs less than a tenth of the work ...
DUE_COSTS = 10.0
#: ... but at most this long, unless engines are very large, because users wait for the replay of cycle details.
LATE_SECONDS = 2.0
LATE_COSTS = 3.0
#: A view is due after this number of events, which are folded in about 30 ms (a view of 100 nodes takes 2 KB) ...
VIEW_EVENTS = 2_000
#: ... unless views would then cost more than this share of the work.
VIEW_SHARE = 0.1
_NEWEST_ENGINES_KEPT = 8
#: Engines are thinned when engines and views take more space than the session's history plus this.
ENGINES_FREE_BYTES = 4 << 20
#: No gap between engines exceeds this share of its distance from the newest, whatever space the engines take.
MAX_GAP = 1 / 8


class CheckpointContents(msgspec.Struct, frozen=True):
    """An engine or a view to save, at a committed position."""

    event: int
    chunk: int
    cycle: int
    clock_seconds: float
    applied_seq: int
    in_command: bool
    digest: str
    engine_version: str
    #: Empty if only the view is saved.
    engine: bytes
    #: The view's JSON.
    view: bytes


def is_due(replay_seconds: float, cost_seconds: float) -> bool:
    """Whether replaying the work since the newest checkpoint has become too slow."""
    return replay_seconds > min(max(DUE_SECONDS, DUE_COSTS * cost_seconds), max(LATE_SECONDS, LATE_COSTS * cost_seconds))


def is_view_due(events: int, work_seconds: float, cost_seconds: float) -> bool:
    """Whether so many events came since the newest view that folding them is slow, and a view costs little of their work."""
    return events >= VIEW_EVENTS and work_seconds * VIEW_SHARE >= cost_seconds


def save(lease: Lease, saved: CheckpointContents, *, cost_seconds: float) -> Checkpoint:
    """Store a checkpoint, one transaction per blob chunk. Raises `Fenced` if the lease was lost; the checkpoint is then never used."""
    parts = [
        (part, list(blob_chunks.split(data)))
        for part, data in ((CheckpointPiece.Part.ENGINE, saved.engine), (CheckpointPiece.Part.VIEW, saved.view))
        if data
    ]
    sizes = {part: sum(map(len, chunks)) for part, chunks in parts}
    try:
        checkpoint = Checkpoint.objects.create(
            session_id=lease.session_id,
            event=saved.event,
            chunk=saved.chunk,
            cycle=saved.cycle,
            clock_seconds=saved.clock_seconds,
            applied_seq=saved.applied_seq,
            in_command=saved.in_command,
            has_engine=bool(saved.engine),
            engine_bytes=sizes.get(CheckpointPiece.Part.ENGINE, 0),
            view_bytes=sizes.get(CheckpointPiece.Part.VIEW, 0),
            digest=saved.digest,
            engine_version=saved.engine_version,
            cost_seconds=cost_seconds,
            epoch=lease.epoch,
        )
        for part, chunks in parts:
            for number, chunk in enumerate(chunks):
                CheckpointPiece.objects.create(checkpoint=checkpoint, part=part, number=number, data=chunk)
        with transaction.atomic():
            require_update(lease, engine_version=saved.engine_version)
            Checkpoint.objects.filter(pk=checkpoint.pk).update(complete=True)
    except IntegrityError as error:
        raise Fenced(lease.session_id) from error
    checkpoint.complete = True
    if checkpoint.has_engine:
        _thin(lease.session_id)
    return checkpoint


def newest(session_id: UUID, *, before_cycle: int | None = None, until_event: int | None = None) -> Checkpoint | None:
    """The newest checkpoint with an engine; the options are those of `engines`."""
    return engines(session_id, before_cycle=before_cycle, until_event=until_event).first()


def engines(session_id: UUID, *, before_cycle: int | None = None, until_event: int | None = None) -> QuerySet[Checkpoint]:
    """The checkpoints with an engine, newest first; optionally those before a cycle began, or not after an event."""
    rows = Checkpoint.objects.filter(session_id=session_id, complete=True, has_engine=True)
    if before_cycle is not None:
        rows = rows.filter(cycle__lt=before_cycle)
    if until_event is not None:
        rows = rows.filter(event__lte=until_event)
    return rows.order_by("-event", "-pk")


class EngineDeleted(LookupError):
    """A checkpoint's engine was deleted since the checkpoint was read: it was thinned, or the session was deleted."""


def stored_engine(checkpoint: Checkpoint) -> bytes:
    """The engine that was saved with a checkpoint, as bytes. Raises `EngineDeleted`."""
    rows = CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.ENGINE).order_by("number")
    pieces = [bytes(data) for data in rows.values_list("data", flat=True)]
    if not pieces:
        raise EngineDeleted
    return blob_chunks.join(pieces)


def sweep_incomplete(session_id: UUID, *, epoch: int) -> None:
    """Delete incomplete checkpoints of earlier owners."""
    Checkpoint.objects.filter(session_id=session_id, complete=False, epoch__lt=epoch).delete()


def _thin(session_id: UUID) -> None:
    """Delete engines, but not their views, when they take too much space. The first and the newest few are kept."""
    stored = list(engines(session_id).values_list("pk", "event", "engine_bytes"))
    views = Checkpoint.objects.filter(session_id=session_id).aggregate(bytes=Sum("view_bytes"))["bytes"] or 0
    total = views + sum(size for _, _, size in stored)
    history: int = Session.objects.filter(pk=session_id).values_list("history_bytes", flat=True).first() or 0
    allowed = history + ENGINES_FREE_BYTES
    if total <= allowed:
        return
    superfluous = thinned([event for _, event, _ in stored], [size for _, _, size in stored], excess=total - allowed)
    try:
        delete_engines([stored[index][0] for index in superfluous])
    except DatabaseError:
        # Thinning may fail: extra checkpoints do no harm, and the next save thins again.
        return


def delete_engines(checkpoints: Collection[int]) -> None:
    """Delete the engines of these checkpoints and keep their views."""
    with transaction.atomic():
        Checkpoint.objects.filter(pk__in=checkpoints).update(has_engine=False, engine_bytes=0, in_command=False)
        CheckpointPiece.objects.filter(checkpoint__in=checkpoints, part=CheckpointPiece.Part.ENGINE).delete()


def thinned(events: Sequence[int], sizes: Sequence[int], *, excess: int) -> set[int]:
    """Which engines to delete, newest first, as indexes. Those that leave the smallest gap, relative to its distance from the newest
    engine, go first, until `excess` bytes are freed or no gap may grow.
    """
    kept_indices = list(range(len(events)))
    superfluous: set[int] = set()

    def gap(index: int) -> float:
        older = events[kept_indices[index + 1]]
        return (events[kept_indices[index - 1]] - older) / max(1, events[0] - older)

    while excess > 0 and len(kept_indices) > _NEWEST_ENGINES_KEPT + 1:
        index = min(range(_NEWEST_ENGINES_KEPT, len(kept_indices) - 1), key=gap)
        if gap(index) > MAX_GAP:
            break
        excess -= sizes[kept_indices[index]]
        superfluous.add(kept_indices.pop(index))
    return superfluous
