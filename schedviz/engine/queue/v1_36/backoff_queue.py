"""The two heaps of backoffQ: pods that plugins rejected, and pods with an error. Upstream: backend/queue/backoff_queue.go"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Literal

from schedviz.engine.framework.types import NANOS_PER_SECOND, QueuedPodInfo
from schedviz.engine.queue.interface import Less
from schedviz.trace.heap import Heap

HeapName = Literal["backoffQ", "errorBackoffQ"]


class BackoffQueue:
    """podBackoffQ and podErrorBackoffQ. Times are nanoseconds."""

    def __init__(self, now: Callable[[], int], less: Less, *, initial_seconds: float, max_seconds: float, pop_from_backoff_q: bool) -> None:
        self._now = now
        #: The order of activeQ, for pods whose backoff ends in the same second.
        self.active_q_less = less
        #: SchedulerPopFromBackoffQ: backoffs expire, and end, at whole seconds. Upstream: backoffQOrderingWindowDuration
        self._is_aligned = pop_from_backoff_q
        self.set_durations(initial_seconds, max_seconds)
        self.pod_backoff_q: Heap[QueuedPodInfo] = Heap(_key, self._less_with_priority if pop_from_backoff_q else self._less)
        self.pod_error_backoff_q: Heap[QueuedPodInfo] = Heap(_key, self._less)

    def set_durations(self, initial_seconds: float, max_seconds: float) -> None:
        """The limits of KubeSchedulerConfiguration."""
        self._initial = round(initial_seconds * NANOS_PER_SECOND)
        self._max = round(max_seconds * NANOS_PER_SECOND)

    def __len__(self) -> int:
        return len(self.pod_backoff_q) + len(self.pod_error_backoff_q)

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        return chain(self.pod_backoff_q, self.pod_error_backoff_q)

    def find(self, key: str) -> tuple[HeapName, QueuedPodInfo] | None:
        """The pod with this key, and its heap."""
        queued = self.pod_backoff_q.get(key)
        if queued is not None:
            return "backoffQ", queued
        queued = self.pod_error_backoff_q.get(key)
        return None if queued is None else ("errorBackoffQ", queued)

    def heap_for(self, queued: QueuedPodInfo) -> HeapName:
        """The heap that a pod belongs to: one without a plugin that rejected it failed with an error."""
        return "backoffQ" if queued.unschedulable_plugins or queued.pending_plugins else "errorBackoffQ"

    def heap(self, name: HeapName) -> Heap[QueuedPodInfo]:
        """One of the two heaps."""
        return self.pod_backoff_q if name == "backoffQ" else self.pod_error_backoff_q

    def is_backing_off(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod has to wait. Upstream: isPodBackingoff"""
        return self._now() < self.end(queued)

    def expiry(self, queued: QueuedPodInfo) -> int:
        """When the backoff expires, which orders the heaps; 0: the pod has none. Upstream: getBackoffTime"""
        if not self._has_backoff(queued):
            return 0
        if queued.backoff_expiration is None:
            queued.backoff_expiration = self._aligned(queued.timestamp + self._duration(_failures(queued)))
        return queued.backoff_expiration

    def end(self, queued: QueuedPodInfo) -> int:
        """The first time at which the pod no longer backs off; 0: it has no backoff.

        A pod still backs off at its expiry and, if backoffs are aligned, during the whole second that begins there.

        Upstream: isPodBackingoff
        """
        if not self._has_backoff(queued):
            return 0
        return self._aligned(self.expiry(queued)) + NANOS_PER_SECOND if self._is_aligned else self.expiry(queued) + 1

    def _has_backoff(self, queued: QueuedPodInfo) -> bool:
        return self._max != 0 and _failures(queued) != 0

    def _duration(self, failures: int) -> int:
        """Upstream: calculateBackoffDuration"""
        shift = failures - 1
        return self._max if self._initial > self._max >> shift else self._initial << shift

    def _aligned(self, nanos: int) -> int:
        return nanos - nanos % NANOS_PER_SECOND if self._is_aligned else nanos

    def _less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        return self.expiry(first) < self.expiry(second)

    def _less_with_priority(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        first_expiry, second_expiry = self.expiry(first), self.expiry(second)
        return first_expiry < second_expiry if first_expiry != second_expiry else self.active_q_less(first, second)


def _failures(queued: QueuedPodInfo) -> int:
    """The number of failed attempts that the backoff counts."""
    return queued.consecutive_errors_count or queued.unschedulable_count


def _key(queued: QueuedPodInfo) -> str:
    return queued.key
