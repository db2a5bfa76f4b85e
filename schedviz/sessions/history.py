"""What is stored of the past: the view of any moment by folding, events, chunks, cycles. Nothing here computes a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from uuid import UUID

import msgspec

from schedviz.sessions import frames, pieces
from schedviz.sessions.errors import HistoryUnavailable, SessionGone
from schedviz.sessions.models import MAIN_BRANCH, Checkpoint, CheckpointPiece, Chunk, Command, CycleSummary, Session
from schedviz.trace.events import AnyEvent, BindingEnded, BindingStageEnded, BindingStarted
from schedviz.trace.fold import Fold
from schedviz.trace.view import CycleView, View

_view_decoder = msgspec.json.Decoder(View)
_cycle_decoder = msgspec.json.Decoder(CycleView)
#: They have the number of the cycle that they come from, and are not of it.
_BINDING = (BindingStarted, BindingStageEnded, BindingEnded)


class Moment(msgspec.Struct, frozen=True):
    """A view and the number of the chunk after which it is the state."""

    chunk: int
    view: View


class Summary(msgspec.Struct, frozen=True):
    """A cycle that ended, the event with which its pod was popped, and the one that says it ended."""

    cycle: CycleView
    first_event: int
    last_event: int


def state_at_head(session: Session) -> Moment:
    """The state after all that is stored: the newest checkpoint's view with the later chunks folded over it.

    An empty view while the session is being imported. The session may be a stale copy; what is returned is newer, never older.
    """
    return _fold_from(_newest_checkpoint(session.pk, event=None), session.pk, until_event=None)


def state_at_event(session: Session, event: int) -> Moment:
    """The state after one event; `chunk` is the last whole chunk in it. Raises `HistoryUnavailable`."""
    if event > session.event:
        raise HistoryUnavailable(f"Event {event} has not happened; the last is {session.event}.")
    checkpoint = _newest_checkpoint(session.pk, event=event)
    if checkpoint is None:
        raise HistoryUnavailable(f"Nothing is stored that leads to event {event}.")
    return _fold_from(checkpoint, session.pk, until_event=event)


def first_moment(session: Session) -> int:
    """The earliest event whose moment can be shown; 0: the beginning."""
    rows = Checkpoint.objects.filter(session_id=session.pk, branch=MAIN_BRANCH, complete=True)
    return rows.order_by("event").values_list("event", flat=True).first() or 0


def frames_after(session_id: UUID, chunk: int, *, limit: int = 64) -> list[tuple[int, bytes]]:
    """Up to `limit` stored frames after a chunk, with their numbers, in order."""
    rows = Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, number__gt=chunk).order_by("number")
    return [(number, bytes(data)) for number, data in rows.values_list("number", "data")[:limit]]


def events(session_id: UUID, *, after: int = 0, before: int | None = None, limit: int = 1000, tail: bool = False) -> list[AnyEvent]:
    """Up to `limit` events between two, in order: the first of them, or with `tail` the last."""
    rows = Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, last_event__gt=after)
    if before is not None:
        rows = rows.filter(first_event__lt=before)
    parts: list[list[AnyEvent]] = []
    count = 0
    for data in rows.order_by("-number" if tail else "number").values_list("data", flat=True).iterator(chunk_size=8):
        some = [one for one in frames.events_of(bytes(data)) if one.event > after and (before is None or one.event < before)]
        parts.append(some)
        count += len(some)
        if count >= limit:
            break
    found = list(chain.from_iterable(reversed(parts) if tail else parts))
    return found[-limit:] if tail else found[:limit]


def chunk(session_id: UUID, number: int) -> Chunk | None:
    """One stored chunk."""
    return Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, number=number).first()


def chunk_of_event(session_id: UUID, event: int) -> Chunk | None:
    """The stored chunk that an event is in."""
    rows = Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, last_event__gte=event, first_event__lte=event)
    return rows.order_by("number").first()


def cycle_summary(session_id: UUID, cycle: int) -> Summary | None:
    """The summary of a cycle that ended."""
    return next(iter(_summaries(list(CycleSummary.objects.filter(session_id=session_id, branch=MAIN_BRANCH, cycle=cycle)))), None)


def cycles(session_id: UUID, *, after: int = 0, before: int | None = None, limit: int = 100, tail: bool = False) -> list[Summary]:
    """Up to `limit` summaries of cycles between two, in order: the first of them, or with `tail` the last."""
    rows = CycleSummary.objects.filter(session_id=session_id, branch=MAIN_BRANCH, cycle__gt=after)
    if before is not None:
        rows = rows.filter(cycle__lt=before)
    found = _summaries(list(rows.order_by("-cycle" if tail else "cycle")[:limit]))
    return found[::-1] if tail else found


def spans_of_cycles(session_id: UUID, first: int, last: int) -> dict[int, tuple[int, int]]:
    """The first event of each of these cycles, with which its pod was popped, and the one that says it ended (else its last so far)."""
    spans: dict[int, tuple[int, int]] = {}
    rows = Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, first_cycle__lte=last, last_cycle__gte=first)
    for data in rows.order_by("number").values_list("data", flat=True).iterator(chunk_size=4):
        for event in frames.events_of(bytes(data)):
            if first <= event.cycle <= last and not isinstance(event, _BINDING):
                spans[event.cycle] = (spans.get(event.cycle, (event.event,))[0], event.event)
    return spans


def _summaries(rows: list[CycleSummary]) -> list[Summary]:
    # A version that did not store their events wrote these.
    old = [row.cycle for row in rows if row.first_event is None or row.last_event is None]
    spans = spans_of_cycles(rows[0].session_id, min(old), max(old)) if old else {}
    return [
        Summary(
            cycle=_cycle_decoder.decode(bytes(row.data)),
            first_event=row.first_event or spans.get(row.cycle, (0, 0))[0],
            last_event=row.last_event or spans.get(row.cycle, (0, 0))[1],
        )
        for row in rows
    ]


def command(session_id: UUID, seq: int) -> Command | None:
    """One accepted command."""
    return Command.objects.filter(session_id=session_id, branch=MAIN_BRANCH, seq=seq).first()


def stored_view(checkpoint: Checkpoint) -> View:
    """The view that was saved with a checkpoint."""
    rows = CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.VIEW).order_by("number")
    return _view_decoder.decode(pieces.join(bytes(data) for data in rows.values_list("data", flat=True)))


def _newest_checkpoint(session_id: UUID, *, event: int | None) -> Checkpoint | None:
    rows = Checkpoint.objects.filter(session_id=session_id, branch=MAIN_BRANCH, complete=True)
    if event is not None:
        rows = rows.filter(event__lte=event)
    return rows.order_by("-event", "-pk").first()


def _fold_from(checkpoint: Checkpoint | None, session_id: UUID, *, until_event: int | None) -> Moment:
    if checkpoint is None:
        if not Session.objects.filter(pk=session_id).exists():
            raise SessionGone(f"There is no session {session_id}.")
        return Moment(chunk=0, view=View())
    fold = Fold(stored_view(checkpoint))
    last_chunk = checkpoint.chunk
    for number, data in _later_chunks(checkpoint, session_id):
        for event in frames.events_of(data):
            if until_event is not None and event.event > until_event:
                return Moment(chunk=last_chunk, view=fold.to_view())
            if event.event > fold.event:
                fold.apply(event)
        last_chunk = number
    return Moment(chunk=last_chunk, view=fold.to_view())


def _later_chunks(checkpoint: Checkpoint, session_id: UUID) -> Iterator[tuple[int, bytes]]:
    rows = Chunk.objects.filter(session_id=session_id, branch=MAIN_BRANCH, number__gt=checkpoint.chunk).order_by("number")
    for number, data in rows.values_list("number", "data").iterator(chunk_size=16):
        yield number, bytes(data)
