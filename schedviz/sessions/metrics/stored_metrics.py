"""Updates a session's metrics while it is hosted: after each commit in memory, every few seconds and at the end of hosting in the database.

The stored metrics name their last event. After a crash the next owner counts the stored events that follow, so counters neither jump back
nor lose events; only the durations of those stages are unknown.
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
from schedviz.sessions.metrics import metric_values
from schedviz.sessions.metrics.counting import count
from schedviz.sessions.metrics.gauges import read_gauges
from schedviz.sessions.metrics.metric_values import MetricValues
from schedviz.sessions.models import SchedulerMetrics, Session
from schedviz.trace.events import AnyEvent
from schedviz.trace.recorder import StageTiming

STORE_SECONDS = 5.0
#: If the stored metrics are further behind than this, counting starts again, because catching up would delay the session.
_CATCH_UP_EVENTS = 100_000


class MetricsRecorder:
    """The metrics of one hosted session."""

    def __init__(self, session_id: UUID, *, event: int, release: str) -> None:
        """Continue from the stored metrics up to the committed `event`. `release`: what the session simulates."""
        self._session_id = session_id
        self.values = _up_to(session_id, event, release=release)
        self._stored_at = time.monotonic()
        self._is_stored = SchedulerMetrics.objects.filter(pk=session_id, event=event).exists()

    def count(self, events: Sequence[AnyEvent], timings: Mapping[int, StageTiming]) -> None:
        """Count a committed slice."""
        if events:
            count(self.values, events, timings)
            self._is_stored = False

    def store_if_due(self, lease: Lease, simulation: Simulation) -> None:
        """Store the metrics if they have changed and were last stored a while ago."""
        if time.monotonic() - self._stored_at >= STORE_SECONDS:
            self.store(lease, simulation)

    def store(self, lease: Lease, simulation: Simulation) -> None:
        """Store the metrics if they have changed. The engine is at its committed position."""
        self._stored_at = time.monotonic()
        # This write is not fenced: an owner that lost its lease can only write values that are a few moments old.
        if self._is_stored or not Session.objects.filter(pk=lease.session_id, epoch=lease.epoch).exists():
            return
        self.values.gauges = read_gauges(simulation)
        store(lease.session_id, self.values)
        self._is_stored = True


def store_initial(session_id: UUID, simulation: Simulation) -> None:
    """Store the metrics of a session that was just created."""
    store(session_id, MetricValues(event=simulation.event, release=simulation.release.version, gauges=read_gauges(simulation)))


def store(session_id: UUID, values: MetricValues) -> None:
    """Write the metrics beside the session."""
    row = SchedulerMetrics(session_id=session_id, event=values.event, data=metric_values.encode(values), updated_at=Now())
    SchedulerMetrics.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["session"], update_fields=["event", "data", "updated_at"]
    )


def _up_to(session_id: UUID, event: int, *, release: str) -> MetricValues:
    row = SchedulerMetrics.objects.filter(pk=session_id).first()
    if row is None or not 0 <= event - row.event <= _CATCH_UP_EVENTS:
        return MetricValues(event=event, release=release)
    try:
        values = metric_values.decode(bytes(row.data))
    except (msgspec.ValidationError, msgspec.DecodeError):
        return MetricValues(event=event, release=release)
    values.release = release
    if values.event < event:
        count(values, reading.each_event(session_id, after=values.event, until=event), {})
    return values
