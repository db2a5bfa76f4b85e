"""Where runs of a session stop: kept here, looked at by the host of its engine after each cycle.

A hit interrupts the run as a pause does, and what is stored of it is how far it came. So replay stops there too, whatever breakpoints
there are by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import F, Max

from schedviz.sessions.errors import SessionError, SessionGone
from schedviz.sessions.models import Breakpoint, Session
from schedviz.trace.events import AnyEvent

#: In one session.
MOST = 20


class TooManyBreakpoints(SessionError):  # noqa: N818 -- says what happened.
    """A session that has as many breakpoints as it may have."""

    code = "too_many_breakpoints"


class Hit(msgspec.Struct, frozen=True):
    """A run stopped: at this breakpoint, because of this event."""

    breakpoint: int
    event: int
    when: str


class Armed:
    """The breakpoints of a session that are enabled, ready to be asked."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        # Parsing takes a library that a worker needs for nothing else.
        from schedviz.trace.breakpoint_grammar import parse
        from schedviz.trace.breakpoint_tree import test_of

        self._tests = [(number, when, test_of(parse(when))) for number, when in rows]

    def first_hit(self, events: Iterable[AnyEvent]) -> Hit | None:
        """The first of these events at which a breakpoint stops, and that breakpoint; the lowest number of several."""
        for event in events:
            for number, when, test in self._tests:
                if test(event):
                    return Hit(breakpoint=number, event=event.event, when=when)
        return None


class BreakpointMonitor:
    """Watches the runs of one session in its host. It costs nothing where no breakpoint is enabled."""

    def __init__(self, session: Session) -> None:
        self._session_id = session.pk
        self._edit = 0
        self._armed: Armed | None = None
        #: How many of the pending events were looked at; None: nothing runs that could be stopped.
        self._looked: int | None = None
        self._hit: Hit | None = None

    def refresh(self, edit: int) -> None:
        """See the breakpoints as they are now, where `edit` (of the session) says that they were edited."""
        if edit != self._edit:
            self._edit = edit
            rows = Breakpoint.objects.filter(session_id=self._session_id, enabled=True).order_by("number")
            enabled = list(rows.values_list("number", "when"))
            self._armed = Armed(enabled) if enabled else None

    def begin(self, pending: Sequence[AnyEvent]) -> None:
        """A run begins; what happened before is not its."""
        self._looked = len(pending)

    def drained(self) -> None:
        """The pending events were taken away."""
        if self._looked is not None:
            self._looked = 0

    def sees_hit(self, pending: Sequence[AnyEvent]) -> bool:
        """Whether the run is to stop, because of an event that was not looked at before."""
        if self._armed is None or self._looked is None:
            return False
        if self._hit is None:
            self._hit = self._armed.first_hit(pending[self._looked :])
        self._looked = len(pending)
        return self._hit is not None

    def take_hit(self, pending: Sequence[AnyEvent]) -> Hit | None:
        """Why the run is to stop, told once; None: it is not."""
        hit = self._hit if self.sees_hit(pending) else None
        self._hit = None
        return hit

    def end(self) -> None:
        """The run ended."""
        self._looked = self._hit = None


def of(session_id: UUID) -> list[Breakpoint]:
    """All breakpoints, by number."""
    return list(Breakpoint.objects.filter(session_id=session_id).order_by("number"))


def put(session_id: UUID, when: str, *, enabled: bool = True) -> Breakpoint:
    """Set a breakpoint. Raises `BreakpointError`, `TooManyBreakpoints` or `SessionGone`."""
    _check(when)
    with transaction.atomic():
        # Also makes a second one that comes at the same time wait.
        _edited(session_id)
        rows = Breakpoint.objects.filter(session_id=session_id)
        if rows.count() >= MOST:
            raise TooManyBreakpoints(f"A session has at most {MOST} breakpoints; take one away, or join two with `or`.")
        number = (rows.aggregate(Max("number"))["number__max"] or 0) + 1
        return Breakpoint.objects.create(session_id=session_id, number=number, when=when, enabled=enabled)


def change(session_id: UUID, number: int, *, when: str | None = None, enabled: bool | None = None) -> Breakpoint | None:
    """Change a breakpoint; None: there is none of this number. Raises `BreakpointError`."""
    if when is not None:
        _check(when)
    with transaction.atomic():
        row = Breakpoint.objects.filter(session_id=session_id, number=number).first()
        if row is None:
            return None
        _edited(session_id)
        row.when = row.when if when is None else when
        row.enabled = row.enabled if enabled is None else enabled
        row.save(update_fields=["when", "enabled"])
        return row


def remove(session_id: UUID, number: int) -> bool:
    """Take a breakpoint away; False: there is none of this number."""
    with transaction.atomic():
        _edited(session_id)
        return Breakpoint.objects.filter(session_id=session_id, number=number).delete()[0] > 0


def count_hit(session_id: UUID, hit: Hit) -> None:
    """Remember that a run was stopped, in the transaction of what it did."""
    Breakpoint.objects.filter(session_id=session_id, number=hit.breakpoint).update(hits=F("hits") + 1, last_event=hit.event)


def _edited(session_id: UUID) -> None:
    if not Session.objects.filter(pk=session_id).update(breakpoints_edit=F("breakpoints_edit") + 1):
        raise SessionGone(f"There is no session {session_id}.")


def _check(when: str) -> None:
    from schedviz.trace.breakpoint_grammar import parse

    parse(when)
