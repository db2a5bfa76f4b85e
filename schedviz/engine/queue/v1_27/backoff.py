"""The backoff of a pod after failed attempts: it doubles with each attempt, up to a limit."""

from __future__ import annotations

from schedviz.engine.framework.types import NANOS_PER_SECOND, QueuedPodInfo


class Backoff:
    """Backoff durations between the two limits of KubeSchedulerConfiguration. Upstream: scheduling_queue.go calculateBackoffDuration"""

    def __init__(self, initial_seconds: float, max_seconds: float) -> None:
        self._initial = round(initial_seconds * NANOS_PER_SECOND)
        self._max = round(max_seconds * NANOS_PER_SECOND)

    def expiry(self, queued: QueuedPodInfo) -> int:
        """When the backoff ends, counted from the pod's last addition to the queue. Upstream: scheduling_queue.go getBackoffTime"""
        duration = self._initial
        for _ in range(1, queued.attempts):
            if duration > self._max - duration:
                return queued.timestamp + self._max
            duration += duration
        return queued.timestamp + duration
