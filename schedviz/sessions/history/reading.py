"""Reads a session's stored past: the view of any moment (by folding events), events, chunks, cycles. It computes no schedule."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, takewhile
from typing import NamedTuple
from uuid import UUID

import msgspec
from django.db.models import F, QuerySet

from schedviz.kube.gc_tuning import without_gc
from schedviz.sessions import frames
from schedviz.sessions.errors import HistoryUnavailable, SessionGone
from schedviz.sessions.history import blob_chunks, cycle_groups, lineage
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Chunk, Command, Session
from schedviz.sessions.queries import prepared
from schedviz.sessions.queries.database import repeated_cursor
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.sessions.queries.rows import RowsWhere
from schedviz.trace.comparing.side import Summary
from schedviz.trace.events import AnyEvent, BindingEnded, BindingStageEnded, BindingStarted, CycleStarted, PodGroupStarted
from schedviz.trace.fold import Fold
from schedviz.trace.past_events import PastEvent
from schedviz.trace.view import View

_view_decoder = msgspec.json.Decoder(View)
#: Events that carry a cycle's number but are not part of the cycle.
_BINDING_EVENTS = (BindingStarted, BindingStageEnded, BindingEnded)
_CYCLES_PER_PAGE = 500

_BETWEEN = "session_id = %s AND seq > %s AND seq < %s"
_first_commands = RowsWhere(Command, f"{_BETWEEN} ORDER BY seq LIMIT %s")
_last_commands = RowsWhere(Command, f"{_BETWEEN} ORDER BY seq DESC LIMIT %s")
_COMMAND_SIZES = f"SELECT length(body) FROM scheduling_command WHERE {_BETWEEN} ORDER BY seq"  # noqa: S608 -- made of constants.  # nosec B608
#: The size of one page of commands, events or cycles, in bytes of JSON; a page has at least one of them, however large it is.
PAGE_BYTES = 4 * 1024 * 1024
#: The newest state of a session with at most this many nodes and pods together is read in about a tenth of a second.
_SMALL_SESSION = 1000


class Moment(msgspec.Struct, frozen=True):
    """The state of a session after an event."""

    #: The number of the last chunk that is folded into the view.
    chunk: int
    view: View


def state_at_head(session: Session) -> Moment:
    """The newest stored state: the newest checkpoint's view with later chunks folded over it.

    The view is empty while the session is being imported. `session` may be stale; the result is at least as new.
    """
    return _fold_from(_newest_checkpoint(session.pk, event=None), session.pk, until_event=None)


def is_small(session: Session) -> bool:
    """Whether the newest state of a session is read so fast that nothing needs to limit it."""
    return session.nodes + session.pods <= _SMALL_SESSION


def state_at_event(session: Session, event: int) -> Moment:
    """The state after one event. `chunk` is the last chunk that it contains completely, 0 before a fork. Raises `HistoryUnavailable`."""
    if event > session.event:
        raise HistoryUnavailable(f"Event {event} has not happened; the last is {session.event}.")
    checkpoint = checkpoint_before(session, event)
    moment = _fold_from(checkpoint, checkpoint.session_id, until_event=event)
    return moment if checkpoint.session_id == session.pk else msgspec.structs.replace(moment, chunk=0)


def checkpoint_before(session: Session, event: int) -> Checkpoint:
    """The checkpoint from which the moment after an event can be rebuilt. Raises `HistoryUnavailable`."""
    segment = lineage.of_event(session.pk, event)
    checkpoint = None if segment is None else _newest_checkpoint(segment.session_id, event=event)
    if checkpoint is None:
        first = first_moment(session)
        raise HistoryUnavailable(f"The history before event {first} is no longer stored, so event {event} cannot be shown.")
    return checkpoint


def first_moment(session: Session) -> int:
    """The earliest event whose moment can be shown; 0 is the beginning."""
    oldest = lineage.segments(session.pk)[-1:]
    rows = Checkpoint.objects.filter(session_id__in=[segment.session_id for segment in oldest], complete=True)
    return rows.order_by("event").values_list("event", flat=True).first() or 0


def frames_after(session_id: UUID, chunk: int, *, limit: int = 64) -> list[tuple[int, bytes]]:
    """Up to `limit` frames after a chunk, ready to send, with their numbers, in order."""
    rows = Chunk.objects.filter(session_id=session_id, number__gt=chunk).order_by("number")
    return [(number, frames.to_send(bytes(data))) for number, data in rows.values_list("number", "data")[:limit]]


class CyclePage(NamedTuple):
    """Summaries in order, and whether there are more beyond the last one (with `tail`: before the first one)."""

    cycles: list[Summary]
    more: bool


def events(
    session_id: UUID,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 1000,
    max_bytes: int | None = None,
    tail: bool = False,
) -> list[AnyEvent]:
    """Up to `limit` events in a range, in order: the first ones, or with `tail` the last.

    With `max_bytes`, they total about this many bytes of JSON (an event counts as the mean of its chunk), but there is at least one if the
    range has any.
    """
    parts: list[list[AnyEvent]] = []
    count = 0
    remaining = math.inf if max_bytes is None else max_bytes
    end = lineage.ENDLESS if before is None else before
    for data, after_event, until_event in _chunks_between(session_id, after, end, backwards=tail):
        every, size = frames.sized_events_of(data)
        parts.append([event for event in every if after_event < event.event <= until_event])
        fitting = remaining * len(every) // size
        if fitting < len(parts[-1]):
            limit = min(limit, max(1, count + int(fitting)))
        count += len(parts[-1])
        remaining -= size * len(parts[-1]) / len(every)
        if count >= limit:
            break
    result = list(chain.from_iterable(reversed(parts) if tail else parts))
    return result[-limit:] if tail else result[:limit]


def each_event(session_id: UUID, *, after: int, until: int) -> Iterator[AnyEvent]:
    """The events in a range, in order, loaded lazily."""
    for data, after_event, until_event in _chunks_between(session_id, after, until + 1, backwards=False):
        yield from (event for event in frames.events_of(data) if after_event < event.event <= until_event)


def each_cycle(session_id: UUID, *, after: int, backwards: bool = False) -> Iterator[Summary]:
    """The summaries of the cycles after one, ascending or descending, loaded lazily."""
    before: int | None = None
    while some := page_of_cycles(session_id, after=after, before=before, limit=_CYCLES_PER_PAGE, tail=backwards).cycles:
        yield from reversed(some) if backwards else some
        if backwards:
            before = some[0].cycle.cycle
        else:
            after = some[-1].cycle.cycle


def _chunks_between(session_id: UUID, after: int, before: int, *, backwards: bool) -> Iterator[tuple[bytes, int, int]]:
    """The chunks that have events between two, each with its part as `lineage.between` has it."""
    for owner, after_event, until_event in lineage.between(session_id, after, before, backwards=backwards):
        with_events = Chunk.objects.filter(session_id=owner, first_event__lte=F("last_event"))
        rows = with_events.filter(last_event__gt=after_event, first_event__lte=until_event)
        # Filter by the indexed column that finds the first chunk.
        for _, data in read_in_batches(rows, "last_event", "data", batch_size=8, backwards=backwards):
            yield bytes(data), after_event, until_event


def chunk(session_id: UUID, number: int) -> Chunk | None:
    """One stored chunk."""
    return Chunk.objects.filter(session_id=session_id, number=number).first()


def chunk_of_event(session_id: UUID, event: int) -> Chunk | None:
    """The stored chunk that contains an event."""
    rows = Chunk.objects.filter(session_id=session_id, last_event__gte=event, first_event__lte=event)
    return rows.order_by("number").first()


def cycle_summary(session_id: UUID, cycle: int) -> Summary | None:
    """The summary of a completed cycle."""
    if cycle > lineage.ENDLESS:
        # SQLite has no such integers.
        return None
    return next(iter(cycles(session_id, after=cycle - 1, before=cycle + 1, limit=1)), None)


def cycles(of: UUID | Session, *, after: int = 0, before: int | None = None, limit: int = 100, tail: bool = False) -> list[Summary]:
    """Up to `limit` cycle summaries in a range, in order: the first ones, or with `tail` the last."""
    return page_of_cycles(of, after=after, before=before, limit=limit, max_bytes=None, tail=tail).cycles


def page_of_cycles(
    of: UUID | Session,
    *,
    after: int = 0,
    before: int | None = None,
    limit: int = 100,
    max_bytes: int | None = PAGE_BYTES,
    tail: bool = False,
) -> CyclePage:
    """As `cycles`; the summaries total at most `max_bytes` of JSON, but there is at least one if the range has any."""
    summaries: list[Summary] = []
    more = False
    remaining = math.inf if max_bytes is None else max_bytes
    last_wanted = lineage.ENDLESS if before is None else before - 1
    segments = lineage.segments(of)
    for segment in segments if tail else reversed(segments):
        rows = cycle_groups.sized_between(
            segment.session_id, max(after, segment.after_cycle), min(last_wanted, segment.until_cycle), backwards=tail
        )
        part: list[Summary] = []
        for summary, size in rows:
            count = len(summaries) + len(part)
            remaining -= size
            if more := count >= limit or (remaining < 0 and count > 0):
                break
            part.append(summary)
        summaries += _with_events(segment.session_id, part)
        if more:
            break
    return CyclePage(summaries[::-1] if tail else summaries, more)


def last_cycle_until(session_id: UUID, event: int) -> int:
    """The last cycle that had ended by an event; 0 if none had."""
    for segment in lineage.segments(session_id):
        if segment.after <= event and (last := cycle_groups.last_ended(segment.session_id, min(event, segment.until))) is not None:
            return last
    return 0


def spans_of_cycles(session_id: UUID, first: int, last: int) -> dict[int, tuple[int, int]]:
    """For each of these cycles, the event that popped its pod and the event that ended it (or its latest event so far)."""
    spans: dict[int, tuple[int, int]] = {}
    for segment in reversed(lineage.segments(session_id)):
        rows = Chunk.objects.filter(
            session_id=segment.session_id, first_event__lte=segment.until, first_cycle__lte=last, last_cycle__gte=first
        )
        for _, data in read_in_batches(rows, "number", "data", batch_size=4):
            for event in frames.events_of(bytes(data)):
                if first <= event.cycle <= last and event.event <= segment.until and not isinstance(event, _BINDING_EVENTS):
                    spans[event.cycle] = (spans.get(event.cycle, (event.event,))[0], event.event)
    return spans


def _with_events(session_id: UUID, summaries: list[Summary]) -> list[Summary]:
    # Versions that did not store event numbers wrote these.
    old = [summary.cycle.cycle for summary in summaries if summary.last_event == cycle_groups.UNKNOWN_EVENT]
    if not old:
        return summaries
    spans = spans_of_cycles(session_id, min(old), max(old))
    return [
        summary
        if summary.last_event != cycle_groups.UNKNOWN_EVENT
        else msgspec.structs.replace(summary, first_event=span[0], last_event=span[1])
        for summary in summaries
        for span in (spans.get(summary.cycle.cycle, (0, 0)),)
    ]


def command(session_id: UUID, seq: int) -> Command | None:
    """One accepted command."""
    return Command.objects.filter(session_id=session_id, seq=seq).first()


def commands(session_id: UUID, *, after: int = 0, before: int | None = None, limit: int = 100, tail: bool = False) -> list[Command]:
    """A page of accepted commands in a range, in order: the first ones, or with `tail` the last.

    It has at most `limit` commands whose bodies total at most `PAGE_BYTES`, and at least one command if there is any.
    """
    between = prepared.stored_id(session_id), after, lineage.ENDLESS if before is None else before
    fitting = _count_fitting_commands(*between, limit, tail=tail)
    return _last_commands(*between, fitting)[::-1] if tail else _first_commands(*between, fitting)


def commands_numbered(session_id: UUID, seqs: Iterable[int]) -> dict[int, Command]:
    """The commands of a session with these numbers, by number."""
    return {stored.seq: stored for stored in Command.objects.filter(session_id=session_id, seq__in=list(seqs))}


def _count_fitting_commands(session_id: object, after: int, before: int, limit: int, *, tail: bool) -> int:
    """How many commands fit on a page. Only their sizes are queried."""
    with repeated_cursor() as cursor:
        cursor.execute(f"{_COMMAND_SIZES}{' DESC' if tail else ''} LIMIT %s", [session_id, after, before, limit])
        sizes = [size for (size,) in cursor.fetchall()]
    return max(1, sum(1 for _ in takewhile(lambda size: size <= PAGE_BYTES, accumulate(sizes))))


def stored_view(checkpoint: Checkpoint) -> View:
    """The view that was saved with a checkpoint."""
    rows = CheckpointPiece.objects.filter(checkpoint=checkpoint, part=CheckpointPiece.Part.VIEW).order_by("number")
    return _view_decoder.decode(blob_chunks.join(bytes(data) for data in rows.values_list("data", flat=True)))


def newest_view_event(session_id: UUID) -> int:
    """The event of the newest stored view; 0 if there is none."""
    newest = _newest_checkpoint(session_id, event=None)
    return 0 if newest is None else newest.event


def _newest_checkpoint(session_id: UUID, *, event: int | None) -> Checkpoint | None:
    rows = Checkpoint.objects.filter(session_id=session_id, complete=True)
    if event is not None:
        rows = rows.filter(event__lte=event)
    return rows.order_by("-event", "-pk").first()


def _fold_from(checkpoint: Checkpoint | None, session_id: UUID, *, until_event: int | None) -> Moment:
    if checkpoint is None:
        if not Session.objects.filter(pk=session_id).exists():
            raise SessionGone(f"There is no session {session_id}.")
        return Moment(chunk=0, view=View())
    with without_gc():
        return _folded(checkpoint, session_id, until_event=until_event)


def _folded(checkpoint: Checkpoint, session_id: UUID, *, until_event: int | None) -> Moment:
    fold = Fold(stored_view(checkpoint))
    last_chunk = checkpoint.chunk
    for number, events in _later_events(checkpoint, session_id, until_event=lineage.ENDLESS if until_event is None else until_event):
        news = events if events[0].event > fold.event else [event for event in events if event.event > fold.event]
        if until_event is not None and events[-1].event > until_event:
            fold.apply_all(event for event in news if event.event <= until_event)
            break
        fold.apply_all(news)
        last_chunk = number
    return Moment(chunk=last_chunk, view=fold.to_view())


def _later_events(checkpoint: Checkpoint, session_id: UUID, *, until_event: int) -> Iterator[tuple[int, Sequence[AnyEvent | PastEvent]]]:
    """The events after the checkpoint, chunk by chunk. Results of a cycle are left out if a later cycle begins before the end, because a
    view has only one cycle.
    """
    rows = Chunk.objects.filter(session_id=session_id, number__gt=checkpoint.chunk, first_event__lte=until_event)
    past, beginning = _last_beginning(rows.filter(last_event__lte=until_event, last_cycle__gt=F("first_cycle")))
    for number, data in read_in_batches(rows, "number", "data", batch_size=16):
        if number == past:
            yield number, beginning
        else:
            yield number, frames.past_events_of(bytes(data)) if number < past else frames.events_of(bytes(data))


def _last_beginning(rows: QuerySet[Chunk]) -> tuple[int, Sequence[AnyEvent]]:
    """The last chunk in which a cycle begins, that of a pod or of a whole pod group, and its events; 0: there is none."""
    number: int | None = None
    while True:
        before = rows if number is None else rows.filter(number__lt=number)
        row = before.order_by("-number").values_list("number", "data").first()
        if row is None:
            return 0, ()
        number, events = row[0], frames.events_of(bytes(row[1]))
        if any(isinstance(event, PodGroupStarted) or (isinstance(event, CycleStarted) and not event.pod_group) for event in events):
            return number, events
