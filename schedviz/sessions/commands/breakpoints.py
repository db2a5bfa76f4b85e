"""Breakpoints, at which runs of a session stop. They are stored here and evaluated by the engine's host after each cycle.

A hit interrupts the run as a pause does, and the position where the run stopped is stored. Replay therefore stops at the same position,
even if breakpoints change later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F, Max

from schedviz.sessions.errors import SessionError, SessionGone
from schedviz.sessions.models import Breakpoint, Session
from schedviz.trace.events import AnyEvent

#: The maximum number of breakpoints in one session.
MAX_BREAKPOINTS = 20


class TooManyBreakpoints(SessionError):
    """The session already has the maximum number of breakpoints."""

    code = "too_many_breakpoints"


class Hit(msgspec.Struct, frozen=True):
    """A run stopped at this breakpoint because of this event."""

    breakpoint: int
    event: int
    when: str


class EnabledBreakpoints:
    """The parsed, enabled breakpoints of a session."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        # Imported here because only workers with breakpoints need the parsing library.
        from schedviz.trace.breakpoint_grammar import parse
        from schedviz.trace.breakpoint_tree import test_of

        self._tests = [(number, when, test_of(parse(when))) for number, when in rows]

    def first_hit(self, events: Iterable[AnyEvent]) -> Hit | None:
        """The first of these events that matches a breakpoint, and that breakpoint (the lowest number if several match)."""
        for event in events:
            for number, when, test in self._tests:
                if test(event):
                    return Hit(breakpoint=number, event=event.event, when=when)
        return None


class BreakpointMonitor:
    """Watches the runs of one session in its host. Without an enabled breakpoint it does nothing."""

    def __init__(self, session: Session) -> None:
        self._session_id = session.pk
        self._edit = 0
        self._enabled: EnabledBreakpoints | None = None
        #: How many pending events were already examined; None while no interruptible run is active.
        self._examined: int | None = None
        self._hit: Hit | None = None

    def refresh(self, edit: int) -> None:
        """Reload the breakpoints if `edit`, the session's edit counter, has changed."""
        if edit != self._edit:
            self._edit = edit
            rows = Breakpoint.objects.filter(session_id=self._session_id, enabled=True).order_by("number")
            enabled = list(rows.values_list("number", "when"))
            self._enabled = EnabledBreakpoints(enabled) if enabled else None

    def begin(self, pending: Sequence[AnyEvent]) -> None:
        """Start watching a run. Events before it do not count."""
        self._examined = len(pending)

    def drained(self) -> None:
        """Reset after the pending events were drained."""
        if self._examined is not None:
            self._examined = 0

    def sees_hit(self, pending: Sequence[AnyEvent]) -> bool:
        """Whether the run must stop because of an event that was not examined before."""
        if self._enabled is None or self._examined is None:
            return False
        if self._hit is None:
            self._hit = self._enabled.first_hit(pending[self._examined :])
        self._examined = len(pending)
        return self._hit is not None

    def take_hit(self, pending: Sequence[AnyEvent]) -> Hit | None:
        """The hit that stops the run, returned once; None if there is none."""
        hit = self._hit if self.sees_hit(pending) else None
        self._hit = None
        return hit

    def end(self) -> None:
        """Stop watching."""
        self._examined = self._hit = None


def of_session(session_id: UUID) -> list[Breakpoint]:
    """All breakpoints, by number."""
    return list(Breakpoint.objects.filter(session_id=session_id).order_by("number"))


def create(session_id: UUID, when: str, *, enabled: bool = True) -> Breakpoint:
    """Create a breakpoint. Raises `BreakpointError`, `TooManyBreakpoints` or `SessionGone`."""
    _require_valid(when)
    with transaction.atomic():
        # The lock also serializes concurrent requests.
        _count_edit(session_id)
        rows = Breakpoint.objects.filter(session_id=session_id)
        if rows.count() >= MAX_BREAKPOINTS:
            raise TooManyBreakpoints(f"A session has at most {MAX_BREAKPOINTS} breakpoints. Delete one, or combine two with `or`.")
        number = (rows.aggregate(Max("number"))["number__max"] or 0) + 1
        return Breakpoint.objects.create(session_id=session_id, number=number, when=when, enabled=enabled)


def change(
    session_id: UUID,
    number: int,
    *,
    when: str | None = None,
    enabled: bool | None = None,
    require: Callable[[Breakpoint], None] | None = None,
) -> Breakpoint | None:
    """Change a breakpoint; None if the number does not exist. `require` raises if this row may not be changed. Raises `BreakpointError`
    and `SessionGone`.
    """
    if when is not None:
        _require_valid(when)
    with transaction.atomic():
        _count_edit(session_id)
        row = Breakpoint.objects.select_for_update().filter(session_id=session_id, number=number).first()
        if row is None:
            return None
        if require is not None:
            require(row)
        row.when = row.when if when is None else when
        row.enabled = row.enabled if enabled is None else enabled
        row.save(update_fields=["when", "enabled"])
        return row


def remove(session_id: UUID, number: int, *, require: Callable[[Breakpoint], None] | None = None) -> bool:
    """Delete a breakpoint; False if the number does not exist. `require` raises if this row may not be deleted. Raises `SessionGone`."""
    with transaction.atomic():
        _count_edit(session_id)
        row = Breakpoint.objects.select_for_update().filter(session_id=session_id, number=number).first()
        if row is None:
            return False
        if require is not None:
            require(row)
        row.delete()
        return True


def count_hit(session_id: UUID, hit: Hit) -> None:
    """Count that a run was stopped, within the transaction of its slice."""
    Breakpoint.objects.filter(session_id=session_id, number=hit.breakpoint).update(hits=F("hits") + 1, last_event=hit.event)


def _count_edit(session_id: UUID) -> None:
    """Count an edit, so that a running engine reads the breakpoints again. Raises `SessionGone`."""
    if not Session.objects.filter(pk=session_id).update(breakpoints_edit=F("breakpoints_edit") + 1):
        raise SessionGone(f"There is no session {session_id}.")


def _require_valid(when: str) -> None:
    from schedviz.trace.breakpoint_grammar import parse

    parse(when)
