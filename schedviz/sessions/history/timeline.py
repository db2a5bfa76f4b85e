"""A summary of a session's whole past: the tallies of chunks, added up in buckets. No chunk is opened.

A tally is stored with each chunk. Tallies that older versions did not store are computed when they are first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import BigIntegerField, F, Max, Min, Q, Sum, Value
from django.db.models.functions import Least

from schedviz.sessions import frames
from schedviz.sessions.history import lineage, reading
from schedviz.sessions.models import Checkpoint, Chunk, ChunkTally, Session
from schedviz.sessions.queries import prepared
from schedviz.trace.events import AnyEvent
from schedviz.trace.tally import Counts, Levels, Tally, levels_of, tally

_COUNTS = Counts.__struct_fields__
_CHUNKS_PER_TRANSACTION = 200


class Bucket(msgspec.Struct, frozen=True):
    """Consecutive chunks: counts of their events, and the levels after the last of them."""

    first_event: int
    event: int
    clock_seconds: float
    counts: Counts
    levels: Levels


def buckets(session: Session, *, after: int, until: int, max_buckets: int) -> list[Bucket]:
    """The events in a range, in buckets with about the same number of events; a chunk is never split."""
    in_past = _tallies_of_past(session)
    rows = ChunkTally.objects.filter(in_past, first_event__lte=until, last_event__gt=after).exclude(first_event__gt=F("last_event"))
    last_event = Least(F("last_event"), Value(until), output_field=BigIntegerField())
    sums: list[Any] = list(
        rows.annotate(place=(last_event - after - 1) * max_buckets / max(1, until - after))
        .values("place")
        .annotate(last=Max("last_event"), began=Min("first_event"), **{f"sum_{name}": Sum(name) for name in _COUNTS})
        .order_by("place")
    )
    ends = {row.last_event: row for row in rows.filter(last_event__in=[totals["last"] for totals in sums])}
    return [
        Bucket(
            first_event=totals["began"],
            event=ends[totals["last"]].last_event,
            clock_seconds=ends[totals["last"]].clock_seconds,
            counts=Counts(*(totals[f"sum_{name}"] for name in _COUNTS)),
            levels=_levels(ends[totals["last"]]),
        )
        for totals in sums
    ]


def _tallies_of_past(session: Session) -> Q:
    """The condition of the tallies of this session's past. The part before the fork of a split chunk is stored as the fork's tally 0."""
    condition = Q(pk__in=[])
    for segment in lineage.segments(session.pk):
        _fill(segment.session_id)
        condition |= Q(Q(first_event__gt=segment.after) | Q(number=0), session_id=segment.session_id, last_event__lte=segment.until)
    return condition


def levels_after(session_id: UUID, chunk: int) -> Levels:
    """The queue lengths and object counts after a stored chunk."""
    levels = prepared.select_levels(session_id, chunk)
    if levels is None:
        _fill(session_id)
        levels = prepared.select_levels(session_id, chunk)
    return levels or Levels()


def levels_at(session: Session, event: int) -> Levels:
    """The queue lengths and object counts after an event. Reads the chunk that contains it."""
    segment = lineage.of_event(session.pk, event)
    if segment is None:
        return Levels()
    stored = reading.chunk_of_event(segment.session_id, event)
    if stored is None:
        # It is the last event before the first chunk.
        return levels_after(segment.session_id, 0)
    before = levels_after(segment.session_id, stored.number - 1)
    return tally((one for one in frames.events_of(bytes(stored.data)) if one.event <= event), before).levels


def store_initial(session_id: UUID, levels: Levels, *, event: int, clock_seconds: float, before: Sequence[AnyEvent] = ()) -> None:
    """Store the levels at the beginning of a session. `before`: the last events before a fork that do not fill a chunk; they are
    counted.
    """
    counted = Tally(counts=tally(before, Levels()).counts, levels=levels)
    first = before[0].event if before else event + 1
    prepared.insert_tally(session_id, 0, events=(first, event), clock_seconds=clock_seconds, tally=counted)


def _levels(row: ChunkTally) -> Levels:
    return Levels(**{name: getattr(row, name) for name in Levels.__struct_fields__})


def _fill(session_id: UUID) -> None:
    """Compute the tallies of chunks that were stored without; does nothing if all have one."""
    newest = Chunk.objects.filter(session_id=session_id).aggregate(Max("number"))["number__max"] or 0
    counted = ChunkTally.objects.filter(session_id=session_id).order_by("-number").first()
    if counted is not None and counted.number >= newest:
        return
    if counted is None:
        first = Checkpoint.objects.filter(session_id=session_id, complete=True).order_by("event", "pk").first()
        if first is None:
            return
        view = reading.stored_view(first)
        chunk, levels = first.chunk, levels_of(view.queue, view.api.objects)
        store_initial(session_id, levels, event=first.event, clock_seconds=first.clock_seconds)
    else:
        chunk, levels = counted.number, _levels(counted)
    while some := reading.frames_after(session_id, chunk, limit=_CHUNKS_PER_TRANSACTION):
        with transaction.atomic():
            for number, data in some:
                events = frames.events_of(data)
                chunk_tally = tally(events, levels)
                chunk, levels = number, chunk_tally.levels
                span = (events[0].event, events[-1].event)
                prepared.insert_tally(session_id, number, events=span, clock_seconds=events[-1].at, tally=chunk_tally)
