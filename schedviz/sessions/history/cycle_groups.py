"""Summaries of cycles, stored as many together as ended in one commit, and opened together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from schedviz.sessions.history import packing
from schedviz.sessions.models import CycleGroup
from schedviz.sessions.queries import prepared
from schedviz.trace.comparing import Summary

#: What versions before 0.2 wrote names no events.
UNKNOWN_EVENT = 0
#: So many groups are read with one statement.
_READ_TOGETHER = 32

_decoder = msgspec.json.Decoder(list[Summary])


def pack(summaries: Sequence[Summary]) -> bytes:
    """A group as it is stored."""
    return packing.pack(msgspec.json.encode(summaries))


def unpack(data: bytes) -> list[Summary]:
    """The cycles of a group, in order."""
    return _decoder.decode(packing.unpack(data))


def between(session_id: UUID, after: int, until: int, *, backwards: bool = False) -> Iterator[Summary]:
    """A session's own cycles after one, until another, in order or from the last to the first, as they are needed."""
    more = True
    while more:
        some = prepared.select_cycle_groups(session_id, after=after, until=until, limit=_READ_TOGETHER, backwards=backwards)
        more = len(some) == _READ_TOGETHER
        found: list[Summary] = []
        for data in some:
            found = unpack(data)
            yield from (one for one in (reversed(found) if backwards else found) if after < one.cycle.cycle <= until)
        if more and backwards:
            until = found[0].cycle.cycle - 1
        elif more:
            after = found[-1].cycle.cycle


def exists(session_id: UUID, cycle: int) -> bool:
    """Whether a cycle is among a session's own that ended."""
    return any(True for _ in between(session_id, cycle - 1, cycle))


def numbers(session_id: UUID) -> list[int]:
    """Of all of a session's own cycles that ended, in order."""
    return [one.cycle.cycle for one in between(session_id, 0, 1 << 62)]


def last_ended(session_id: UUID, event: int) -> int | None:
    """The last of a session's own cycles that had ended after an event; None: none had."""
    rows = CycleGroup.objects.filter(session_id=session_id)
    whole = rows.filter(last_event__lte=event).order_by("-last_cycle").values_list("last_cycle", flat=True).first()
    part = rows.filter(last_event__gt=event).order_by("last_cycle").values_list("data", flat=True).first()
    ended = [] if part is None else [one.cycle.cycle for one in unpack(bytes(part)) if one.last_event <= event]
    return ended[-1] if ended else whole


def count_ended(session_id: UUID, event: int) -> int:
    """How many of a session's own cycles had ended after an event."""
    last = last_ended(session_id, event)
    if last is None:
        return 0
    first = CycleGroup.objects.filter(session_id=session_id).order_by("last_cycle").values_list("first_cycle", flat=True)[0]
    return last - first + 1


def stands_in(session_id: UUID, event: int) -> bool:
    """Whether after an event one of a session's own cycles, which ended later, was between two stages."""
    data = (
        CycleGroup.objects.filter(session_id=session_id, last_event__gt=event).order_by("last_cycle").values_list("data", flat=True).first()
    )
    return data is not None and any(one.first_event <= event < one.last_event for one in unpack(bytes(data)))
