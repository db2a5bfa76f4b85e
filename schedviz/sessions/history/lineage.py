"""Where the past of a session is stored: in its own rows, and before its fork in those of its parent, and so on.

If an ancestor was deleted, the past begins at the fork after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from uuid import UUID

import msgspec

from schedviz.sessions.models import Session
from schedviz.sessions.queries import prepared

#: Larger than any event or cycle number.
ENDLESS = 1 << 62


class Segment(msgspec.Struct, frozen=True):
    """The range of events (`after` to `until`) and cycles (`after_cycle` to `until_cycle`) that one session of the lineage stores."""

    session_id: UUID
    after: int
    until: int
    after_cycle: int
    until_cycle: int


def segments(of: UUID | Session) -> list[Segment]:
    """The segments of a lineage, newest first, without gaps. The session's own segment has no end. A session that is known not to be a
    fork needs no query.
    """
    if not isinstance(of, Session):
        rows = prepared.select_ancestors(of)
    elif of.forked_from_id is None:
        rows = [prepared.Ancestor(of.pk, of.fork_event, of.fork_cycle)]
    else:
        rows = prepared.select_ancestors(of.pk)
    result: list[Segment] = []
    until, until_cycle = ENDLESS, ENDLESS
    for row in rows:
        after, after_cycle = min(row.fork_event, until), min(row.fork_cycle, until_cycle)
        result.append(Segment(row.session_id, after, until, after_cycle, until_cycle))
        until, until_cycle = after, after_cycle
    return result


def of_event(session_id: UUID, event: int) -> Segment | None:
    """The session that stores the moment after an event; None if it is before all that is stored. The moment of the fork belongs to the
    fork.
    """
    return next((segment for segment in segments(session_id) if segment.after <= event <= segment.until), None)


def of_cycle(session_id: UUID, cycle: int) -> Segment | None:
    """The session that stores a completed cycle; None if it is before all that is stored."""
    return next((segment for segment in segments(session_id) if segment.after_cycle < cycle <= segment.until_cycle), None)


def shared(a: UUID, b: UUID, *, until_a: int, until_b: int) -> tuple[UUID, int] | None:
    """The last event that two sessions share, each considered up to an event, and the session that stores it; None if they share none."""
    segments_of_b = {segment.session_id: segment for segment in segments(b)}
    for segment in segments(a):
        other = segments_of_b.get(segment.session_id)
        if other is not None:
            return segment.session_id, min(segment.until, other.until, until_a, until_b)
    return None


def between(session_id: UUID, after: int, before: int, *, backwards: bool = False) -> Iterator[tuple[UUID, int, int]]:
    """The sessions that store the events between two, in order, each with its part: the events after one number, up to another."""
    all_segments = segments(session_id)
    yield from within(all_segments if backwards else reversed(all_segments), after, before)


def within(some: Iterable[Segment], after: int, before: int) -> Iterator[tuple[UUID, int, int]]:
    """The same for segments that are known, in their order."""
    for segment in some:
        after_event, until_event = max(after, segment.after), min(before - 1, segment.until)
        if after_event < until_event:
            yield segment.session_id, after_event, until_event
