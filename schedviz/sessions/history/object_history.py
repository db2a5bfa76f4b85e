"""The complete history of one pod or node, from stored events. Only the chunks that mention it are opened."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import msgspec

from schedviz.sessions import frames
from schedviz.sessions.history import lineage, object_index
from schedviz.sessions.history.object_index import Kind
from schedviz.sessions.models import Chunk, Session
from schedviz.sessions.queries.keyset import read_in_batches
from schedviz.trace.events import AnyEvent, CycleStarted
from schedviz.trace.story import CyclePod, Entry, Life, StoryBuilder, lives_of, own_uid

#: The maximum number of successive pods with one name that are listed separately. The entries include the events of earlier ones.
MAX_LIVES = 100
_CHUNKS_PER_QUERY = 16


class ObjectHistory(msgspec.Struct, frozen=True):
    """Entries in order. `lives` are the pods that had the name, oldest first. `more`: further entries exist in that direction."""

    entries: list[Entry]
    lives: list[Life]
    more: bool


def read(session: Session, kind: Kind, name: str, *, after: int, before: int, limit: int, tail: bool) -> ObjectHistory:
    """The entries between two events, at most `limit`: the first ones, or with `tail` the last. `name` is a pod's `namespace/name`."""
    reader = _Reader(session, kind, name)
    entries = reader.last(after, before, limit) if tail else reader.first(after, before, limit)
    page = entries[-limit:] if tail else entries[:limit]
    return ObjectHistory(entries=page, lives=[life for life in reader.lives if life.born < before], more=len(entries) > limit)


class _Reader:
    def __init__(self, session: Session, kind: Kind, name: str) -> None:
        self.session = session
        self.kind = kind
        self.name = name
        self.lives = self._lives_of_name() if kind == "pods" else []

    def first(self, after: int, before: int, limit: int) -> list[Entry]:
        """More than `limit` entries from the beginning, if there are that many."""
        entries: list[Entry] = []
        builder = self._builder()
        for events in self._chunks(after, before):
            entries.extend(entry for entry in builder.entries(events) if after < entry.event < before)
            if len(entries) > limit:
                break
        return entries

    def last(self, after: int, before: int, limit: int) -> list[Entry]:
        """More than `limit` entries up to the end, if there are that many."""
        entries: list[Entry] = []
        for events in self._chunks(after, before, backwards=True):
            entries = [*(entry for entry in self._builder().entries(events) if after < entry.event < before), *entries]
            if len(entries) > limit:
                break
        return entries

    def _builder(self) -> StoryBuilder:
        return StoryBuilder(self.kind, self.name, lives=self.lives, find_cycle=self._find_cycle)

    def _chunks(self, after: int, before: int, *, backwards: bool = False) -> Iterator[list[AnyEvent]]:
        for owner, after_event, until_event in lineage.between(self.session.pk, after, before, backwards=backwards):
            numbers = object_index.chunks_about(owner, self.kind, self.name)
            rows = Chunk.objects.filter(session_id=owner, last_event__gt=after_event, first_event__lte=until_event)
            ordered = numbers[::-1] if backwards else numbers
            for start in range(0, len(ordered), _CHUNKS_PER_QUERY):
                some = rows.filter(number__in=ordered[start : start + _CHUNKS_PER_QUERY]).order_by("-number" if backwards else "number")
                for data in some.values_list("data", flat=True):
                    yield [event for event in frames.events_of(bytes(data)) if event.event <= until_event]

    def _lives_of_name(self) -> list[Life]:
        """The pods of this name, from chunks with creations and deletions. A pod that was imported and still exists is in neither."""
        events: list[AnyEvent] = []
        for segment in reversed(lineage.segments(self.session.pk)):
            for number in object_index.chunks_with_lives(segment.session_id, self.name)[-2 * MAX_LIVES :]:
                events += [event for event in _events_of(segment.session_id, number) if event.event <= segment.until]
        return lives_of(self.name, events) or lives_of(self.name, self._first_event_with_uid())

    def _first_event_with_uid(self) -> list[AnyEvent]:
        """The first event that has a UID for this name."""
        for events in self._chunks(0, self.session.event + 1):
            if event_with_uid := next((event for event in events if own_uid(event, self.name)), None):
                return [event_with_uid]
        return []

    def _find_cycle(self, cycle: int) -> CyclePod:
        for segment in lineage.segments(self.session.pk):
            rows = Chunk.objects.filter(session_id=segment.session_id, first_cycle__lt=cycle, last_cycle__gte=cycle)
            for _, data in read_in_batches(rows, "number", "data", batch_size=4):
                for event in frames.events_of(bytes(data)):
                    if isinstance(event, CycleStarted) and event.cycle == cycle and event.event <= segment.until:
                        return CyclePod(event.pod, event.uid)
        return CyclePod()


def _events_of(session_id: UUID, number: int) -> list[AnyEvent]:
    data = Chunk.objects.filter(session_id=session_id, number=number).values_list("data", flat=True).first()
    return [] if data is None else frames.events_of(bytes(data))
