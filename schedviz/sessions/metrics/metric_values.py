"""The metrics of one session's scheduler up to an event, as stored beside the session."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from schedviz.sessions.metrics.definitions import Metric
from schedviz.trace.releases import DEFAULT_RELEASE

Labels = tuple[str, ...]


class Histogram(msgspec.Struct):
    """The number of observations in each bucket (the last is +Inf), and their sum."""

    counts: list[int]
    sum: float = 0.0


class Attempt(msgspec.Struct):
    """A scheduling attempt that has not ended: its cycle or its binding."""

    profile: str
    attempts: int
    #: By the session's clock: when the pod was popped, and how long it had waited since it first entered the queue (v1.36: activeQ).
    popped_at: float
    waited_seconds: float = 0.0
    #: The computation time of its stages.
    computed_seconds: float = 0.0
    #: Since when the pod waits at Permit; None if it does not wait.
    permit_since: float | None = None


class MetricValues(msgspec.Struct):
    """Metrics counted up to `event`. A scheduler restart resets them, as for a new process."""

    event: int
    #: The release that the session simulates. `MetricsRecorder` sets it: values that older versions stored have none.
    release: str = DEFAULT_RELEASE
    counters: dict[str, dict[Labels, float]] = {}
    histograms: dict[str, dict[Labels, Histogram]] = {}
    #: Gauges at `event`. Whoever stores the values replaces all of them; `restart` leaves them.
    gauges: dict[str, dict[Labels, float]] = {}
    #: By the number of the scheduling cycle.
    open_attempts: dict[int, Attempt] = msgspec.field(default_factory=dict, name="open")

    def count(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """Increase a counter."""
        counted = self.counters.setdefault(metric.name, {})
        counted[labels] = counted.get(labels, 0) + by

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Add an observation to a histogram."""
        by_labels = self.histograms.setdefault(metric.name, {})
        histogram = by_labels.get(labels)
        if histogram is None:
            histogram = by_labels[labels] = Histogram([0] * (len(metric.buckets) + 1))
        histogram.counts[bisect_left(metric.buckets, value)] += 1
        histogram.sum += value

    def restart(self) -> None:
        """Reset everything for a new scheduler process."""
        self.counters.clear()
        self.histograms.clear()
        self.open_attempts.clear()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(MetricValues)


def encode(values: MetricValues) -> bytes:
    """The stored form."""
    return _encoder.encode(values)


def decode(data: bytes) -> MetricValues:
    """Read the stored form. Raises `msgspec.ValidationError` for that of another version."""
    return _decoder.decode(data)
