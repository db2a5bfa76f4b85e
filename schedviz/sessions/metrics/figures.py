"""What was counted of one session's scheduler up to an event, as it is stored beside the session."""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from schedviz.sessions.metrics.definitions import Metric

Labels = tuple[str, ...]


class Histogram(msgspec.Struct):
    """How many observations fell into each bucket (the last is +Inf), and their sum."""

    counts: list[int]
    sum: float = 0.0


class Attempt(msgspec.Struct):
    """A scheduling attempt that has not ended: its cycle, or its binding."""

    profile: str
    attempts: int
    #: By the session's clock: when the pod was popped, and how long it had waited since it came to the queue for the first time.
    popped_at: float
    waited_seconds: float = 0.0
    #: What its stages took to compute.
    computed_seconds: float = 0.0
    #: Since when it waits at Permit; None: it does not.
    permit_since: float | None = None


class Figures(msgspec.Struct):
    """Counted from the event `since` to `event`. The process of the scheduler begins again with nothing when it restarts."""

    since: int
    event: int
    counters: dict[str, dict[Labels, float]] = {}
    histograms: dict[str, dict[Labels, Histogram]] = {}
    #: As they were at `event`.
    gauges: dict[str, dict[Labels, float]] = {}
    #: By the number of the scheduling cycle.
    open: dict[int, Attempt] = {}

    def count(self, metric: Metric, *labels: str, by: float = 1) -> None:
        """So many more."""
        counted = self.counters.setdefault(metric.name, {})
        counted[labels] = counted.get(labels, 0) + by

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """One more observation."""
        found = self.histograms.setdefault(metric.name, {})
        histogram = found.get(labels)
        if histogram is None:
            histogram = found[labels] = Histogram([0] * (len(metric.buckets) + 1))
        histogram.counts[bisect_left(metric.buckets, value)] += 1
        histogram.sum += value

    def restart(self) -> None:
        """The scheduler's process is a new one."""
        self.counters.clear()
        self.histograms.clear()
        self.open.clear()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Figures)


def encode(figures: Figures) -> bytes:
    """As they are stored."""
    return _encoder.encode(figures)


def decode(data: bytes) -> Figures:
    """From `encode`. Raises `msgspec.ValidationError` for what another version wrote."""
    return _decoder.decode(data)
