"""Where the past of a session is stored: its own rows, and before it was forked those of the session that it was forked from, and so on.

When a session in between was deleted, the past begins at the fork after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import msgspec

from schedviz.sessions.models import Session
from schedviz.sessions.queries import prepared

#: Larger than any number of an event or a cycle.
ENDLESS = 1 << 62


class Stretch(msgspec.Struct, frozen=True):
    """The events `after` to `until`, and the cycles `after_cycle` to `until_cycle`, are stored as this session's."""

    session_id: UUID
    after: int
    until: int
    after_cycle: int
    until_cycle: int


def stretches(of: UUID | Session) -> list[Stretch]:
    """Newest first, without gaps; the session's own stretch goes on for ever. One whose row is known to be no fork's is not asked about."""
    if not isinstance(of, Session):
        rows = prepared.select_ancestors(of)
    elif of.forked_from_id is None:
        rows = [prepared.Ancestor(of.pk, of.fork_event, of.fork_cycle)]
    else:
        rows = prepared.select_ancestors(of.pk)
    found: list[Stretch] = []
    until, until_cycle = ENDLESS, ENDLESS
    for row in rows:
        after, after_cycle = min(row.fork_event, until), min(row.fork_cycle, until_cycle)
        found.append(Stretch(row.session_id, after, until, after_cycle, until_cycle))
        until, until_cycle = after, after_cycle
    return found


def of_event(session_id: UUID, event: int) -> Stretch | None:
    """Where the moment after an event is stored; None: before all that is. The moment of a fork is the fork's own."""
    return next((one for one in stretches(session_id) if one.after <= event <= one.until), None)


def of_cycle(session_id: UUID, cycle: int) -> Stretch | None:
    """Where a cycle that ended is stored; None: before all that is."""
    return next((one for one in stretches(session_id) if one.after_cycle < cycle <= one.until_cycle), None)


def shared(a: UUID, b: UUID, *, until_a: int, until_b: int) -> tuple[UUID, int] | None:
    """The last event that two sessions have in common, if both are looked at up to an event, and who stores it; None: they have none."""
    theirs = {one.session_id: one for one in stretches(b)}
    for one in stretches(a):
        other = theirs.get(one.session_id)
        if other is not None:
            return one.session_id, min(one.until, other.until, until_a, until_b)
    return None


def between(session_id: UUID, after: int, before: int, *, backwards: bool = False) -> Iterator[tuple[UUID, int, int]]:
    """Who stores the events after one and before another, in order: the session, after which and until which of its events."""
    found = stretches(session_id)
    for one in found if backwards else reversed(found):
        first, last = max(after, one.after), min(before - 1, one.until)
        if first < last:
            yield one.session_id, first, last
