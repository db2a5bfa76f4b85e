"""Keeping a session's figures while it is hosted: counted after each commit, stored every few seconds and when its turn ends.

What is stored names the event up to which it counts. Who takes the session over after a crash counts the few seconds of stored events
that came after it, so counters neither jump back nor lose anything; what those stages took nobody knows any more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from uuid import UUID

import msgspec
from django.db.models.functions import Now

from schedviz.engine import Simulation
from schedviz.sessions.history import reading
from schedviz.sessions.hosting.lease import Lease
from schedviz.sessions.metrics import figures as stored
from schedviz.sessions.metrics.counting import count
from schedviz.sessions.metrics.figures import Figures
from schedviz.sessions.metrics.levels import levels
from schedviz.sessions.models import SchedulerFigures, Session
from schedviz.trace.events import AnyEvent
from schedviz.trace.recorder import StageTiming

STORE_SECONDS = 5.0
#: Further behind than this, counting begins anew: it would keep the session waiting.
_CATCH_UP_EVENTS = 100_000


class Keeper:
    """The figures of one hosted session."""

    def __init__(self, session_id: UUID, *, event: int) -> None:
        """Go on where the stored figures end, at the committed `event`."""
        self._session_id = session_id
        self.figures = _up_to(session_id, event)
        self._stored_at = time.monotonic()
        self._is_stored = SchedulerFigures.objects.filter(pk=session_id, event=event).exists()

    def count(self, events: Sequence[AnyEvent], timings: Mapping[int, StageTiming]) -> None:
        """Count what was committed."""
        if events:
            count(self.figures, events, timings)
            self._is_stored = False

    def store_if_due(self, lease: Lease, simulation: Simulation) -> None:
        """Store them if that was a while ago and something was counted since."""
        if time.monotonic() - self._stored_at >= STORE_SECONDS:
            self.store(lease, simulation)

    def store(self, lease: Lease, simulation: Simulation) -> None:
        """Store what was counted since, if anything was. The engine is at its committed position."""
        self._stored_at = time.monotonic()
        # Nothing here is fenced to the row: what an owner that lost its lease may write in this moment is no more than a moment old.
        if self._is_stored or not Session.objects.filter(pk=lease.session_id, epoch=lease.epoch).exists():
            return
        self.figures.gauges = levels(simulation)
        store(lease.session_id, self.figures)
        self._is_stored = True


def begin(session_id: UUID, simulation: Simulation) -> None:
    """Store the figures of a session that has just been made."""
    store(session_id, Figures(since=simulation.event, event=simulation.event, gauges=levels(simulation)))


def store(session_id: UUID, figures: Figures) -> None:
    """Put them beside the session."""
    row = SchedulerFigures(session_id=session_id, event=figures.event, data=stored.encode(figures), updated_at=Now())
    SchedulerFigures.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["session"], update_fields=["event", "data", "updated_at"]
    )


def _up_to(session_id: UUID, event: int) -> Figures:
    row = SchedulerFigures.objects.filter(pk=session_id).first()
    if row is None or not 0 <= event - row.event <= _CATCH_UP_EVENTS:
        return Figures(since=event, event=event)
    try:
        figures = stored.decode(bytes(row.data))
    except (msgspec.ValidationError, msgspec.DecodeError):
        return Figures(since=event, event=event)
    if figures.event < event:
        count(figures, reading.each_event(session_id, after=figures.event, until=event), {})
    return figures
