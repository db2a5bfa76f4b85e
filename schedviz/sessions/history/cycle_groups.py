"""Groups of cycle summaries: the cycles that ended in one commit are stored and read together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple
from uuid import UUID

import msgspec

from schedviz.sessions.history import packing
from schedviz.sessions.models import CycleGroup
from schedviz.sessions.queries import prepared
from schedviz.trace.comparing import Summary

#: The event numbers of cycles in groups that versions before 0.2 wrote.
UNKNOWN_EVENT = 0
_GROUPS_PER_QUERY = 32

_decoder = msgspec.json.Decoder(list[Summary])


def pack(summaries: Sequence[Summary]) -> bytes:
    """The stored form of a group."""
    return packing.pack(msgspec.json.encode(summaries))


def unpack(data: bytes) -> list[Summary]:
    """The cycles of a group, in order."""
    return _decoder.decode(packing.unpack(data))


def between(session_id: UUID, after: int, until: int, *, backwards: bool = False) -> Iterator[Summary]:
    """The cycles of a session (without its ancestors') after one number up to another, ascending or descending, loaded lazily."""
    return (summary for summary, _ in sized_between(session_id, after, until, backwards=backwards))


def sized_between(session_id: UUID, after: int, until: int, *, backwards: bool = False) -> Iterator[tuple[Summary, int]]:
    """As `between`, each with its size in bytes of JSON: the mean of its group."""
    more = True
    while more:
        some = prepared.select_cycle_groups(session_id, after=after, until=until, limit=_GROUPS_PER_QUERY, backwards=backwards)
        more = len(some) == _GROUPS_PER_QUERY
        summaries: list[Summary] = []
        for data in some:
            text = packing.unpack(data)
            summaries = _decoder.decode(text)
            size = len(text) // len(summaries)
            yield from (
                (summary, size) for summary in (reversed(summaries) if backwards else summaries) if after < summary.cycle.cycle <= until
            )
        if more and backwards:
            until = summaries[0].cycle.cycle - 1
        elif more:
            after = summaries[-1].cycle.cycle


def exists(session_id: UUID, cycle: int) -> bool:
    """Whether a cycle is one of the session's own completed cycles."""
    return any(True for _ in between(session_id, cycle - 1, cycle))


def numbers(session_id: UUID) -> list[int]:
    """The numbers of all completed cycles of the session itself, in order."""
    return [summary.cycle.cycle for summary in between(session_id, 0, 1 << 62)]


def last_ended(session_id: UUID, event: int) -> int | None:
    """The session's last own cycle that had ended by an event; None if none had."""
    rows = CycleGroup.objects.filter(session_id=session_id)
    last_of_groups = rows.filter(last_event__lte=event).order_by("-last_cycle").values_list("last_cycle", flat=True).first()
    part = rows.filter(last_event__gt=event).order_by("last_cycle").values_list("data", flat=True).first()
    ended = [] if part is None else [summary.cycle.cycle for summary in unpack(bytes(part)) if summary.last_event <= event]
    return ended[-1] if ended else last_of_groups


class _Row(NamedTuple):
    """A stored group."""

    last_cycle: int
    last_event: int
    first_cycle: int
    data: bytes


class _Group(NamedTuple):
    """A group that answers for the events from `since` up to, but without, `until`. `summaries` is empty after the last group."""

    since: int
    until: float
    first_cycle: int
    summaries: Sequence[Summary]


#: Answers for no event.
_NO_GROUP = _Group(0, 0, 0, ())


class OwnCycles:
    """Which of a session's own cycles had ended by an event. Asked in the order of events, it reads each group at most once."""

    def __init__(self, session_id: UUID) -> None:
        self._rows = CycleGroup.objects.filter(session_id=session_id).order_by("last_cycle")
        self._group = _NO_GROUP
        #: The groups that were read and are still to be used.
        self._ahead: deque[_Row] = deque()
        #: The last cycle of the groups that were used or skipped.
        self._last_cycle = -1

    @cached_property
    def _first_cycle(self) -> int:
        return self._rows.values_list("first_cycle", flat=True).first() or 0

    def count_ended(self, event: int) -> int:
        """How many had ended by an event."""
        group = self._group_at(event)
        return group.first_cycle - self._first_cycle + sum(summary.last_event <= event for summary in group.summaries)

    def is_between_stages(self, event: int) -> bool:
        """Whether one had begun by an event and had not ended."""
        return any(summary.first_event <= event < summary.last_event for summary in self._group_at(event).summaries)

    def _group_at(self, event: int) -> _Group:
        """The first group that ended after an event."""
        if event < self._group.since:
            self._ahead.clear()
            self._last_cycle = -1
        if not self._group.since <= event < self._group.until:
            self._group = self._next_group(event)
        return self._group

    def _next_group(self, event: int) -> _Group:
        """The first group after those that were used or skipped that ended after an event."""
        while self._ahead and self._ahead[0].last_event <= event:
            self._last_cycle = self._ahead.popleft().last_cycle
        if not self._ahead:
            later = self._rows.filter(last_event__gt=event, last_cycle__gt=self._last_cycle)
            self._ahead.extend(map(_Row._make, later.values_list(*_Row._fields)[:_GROUPS_PER_QUERY]))
        if not self._ahead:
            after_last = (self._rows.values_list("last_cycle", flat=True).last() or self._first_cycle - 1) + 1
            return _Group(event, inf, after_last, ())
        row = self._ahead.popleft()
        self._last_cycle = row.last_cycle
        return _Group(event, row.last_event, row.first_cycle, unpack(bytes(row.data)))
