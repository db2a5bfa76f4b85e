"""The queue of a view, with working heaps."""

from __future__ import annotations

from typing import Literal

from schedviz.trace.events import InFlightChanged, PodNominated, QueueMoved, QueueName
from schedviz.trace.heap import Heap
from schedviz.trace.view import QueuedPod, QueueView


def priority_sort(first: QueuedPod, second: QueuedPod) -> bool:
    """Whether the first pod leaves activeQ before the second. Upstream: framework/plugins/queuesort/priority_sort.go Less"""
    if first.priority != second.priority:
        return first.priority > second.priority
    return first.timestamp_seconds < second.timestamp_seconds


def expires_before(first: QueuedPod, second: QueuedPod) -> bool:
    """Whether the first pod leaves backoffQ before the second. Upstream: scheduling_queue.go podsCompareBackoffCompleted"""
    return first.backoff_expiry_seconds < second.backoff_expiry_seconds


def expires_or_sorts_before(first: QueuedPod, second: QueuedPod) -> bool:
    """The same in v1.36, where pods are popped from backoffQ: its expiries are whole seconds, and equal ones are common.

    Upstream: backoff_queue.go lessBackoffCompletedWithPriority
    """
    if first.backoff_expiry_seconds != second.backoff_expiry_seconds:
        return expires_before(first, second)
    return priority_sort(first, second)


#: The queues that are heaps.
HeapName = Literal["activeQ", "backoffQ", "errorBackoffQ"]


def heap_of(queue: HeapName, entries: list[QueuedPod], *, pops_from_backoff_q: bool = False) -> Heap[QueuedPod]:
    """A heap with this array."""
    less = expires_before
    if queue == "activeQ":
        less = priority_sort
    elif queue == "backoffQ" and pops_from_backoff_q:
        less = expires_or_sorts_before
    heap: Heap[QueuedPod] = Heap(_key, less)
    heap.load(entries)
    return heap


def pop_order(queue: HeapName, entries: list[QueuedPod], *, pops_from_backoff_q: bool = False) -> list[QueuedPod]:
    """A heap's array in the order in which its pods leave."""
    return heap_of(queue, entries, pops_from_backoff_q=pops_from_backoff_q).in_pop_order()


class QueueFold:
    """A QueueView to which events are applied. Views that it returned never change."""

    def __init__(self, view: QueueView) -> None:
        self.pops_from_backoff_q = view.pops_from_backoff_q
        self._heaps = {
            "activeQ": heap_of("activeQ", view.active_q),
            "backoffQ": heap_of("backoffQ", view.backoff_q, pops_from_backoff_q=view.pops_from_backoff_q),
            "errorBackoffQ": heap_of("errorBackoffQ", view.error_backoff_q),
        }
        self._in_flight = list(view.in_flight)
        #: By key, in the order in which they were added.
        self._unschedulable = {entry.pod: entry for entry in view.unschedulable}
        self._nominated = {node: list(pods) for node, pods in view.nominated.items()}
        self._scheduling_cycle = view.scheduling_cycle
        self._move_request_cycle = view.move_request_cycle

    def view(self) -> QueueView:
        """The queue's present view."""
        return QueueView(
            active_q=list(self._heaps["activeQ"]),
            backoff_q=list(self._heaps["backoffQ"]),
            unschedulable=list(self._unschedulable.values()),
            nominated={node: list(pods) for node, pods in self._nominated.items()},
            scheduling_cycle=self._scheduling_cycle,
            move_request_cycle=self._move_request_cycle,
            error_backoff_q=list(self._heaps["errorBackoffQ"]),
            in_flight=list(self._in_flight),
            pops_from_backoff_q=self.pops_from_backoff_q,
        )

    def queue_moved(self, event: QueueMoved) -> None:
        """Apply moves of pods."""
        for move in event.moves:
            entry = move.entry
            if move.source is not None and move.source != move.target:
                removed = self._take(move.source, move.pod)
                entry = removed if entry is None else entry
            if move.target is not None and entry is not None:
                self._put(move.target, entry)
        self._scheduling_cycle = event.scheduling_cycle
        self._move_request_cycle = event.move_request_cycle

    def pod_nominated(self, event: PodNominated) -> None:
        """Apply a change of a nomination."""
        for node, pods in self._nominated.items():
            if event.pod in pods:
                pods.remove(event.pod)
                if not pods:
                    del self._nominated[node]
                break
        if event.node is not None:
            self._nominated.setdefault(event.node, []).append(event.pod)

    def in_flight_changed(self, event: InFlightChanged) -> None:
        """Add pods and events in flight, or remove a pod and the events that no other pod needs."""
        self._in_flight += event.added
        if event.done:
            indices = [index for index, entry in enumerate(self._in_flight) if entry.uid == event.done]
            del self._in_flight[indices[0]]
            needed = next((index for index, entry in enumerate(self._in_flight) if entry.pod), len(self._in_flight))
            del self._in_flight[:needed]

    def _take(self, queue: QueueName, key: str) -> QueuedPod | None:
        if queue == "unschedulable":
            return self._unschedulable.pop(key, None)
        return self._heaps[queue].delete(key)

    def _put(self, queue: QueueName, entry: QueuedPod) -> None:
        if queue == "unschedulable":
            self._unschedulable[entry.pod] = entry
        else:
            self._heaps[queue].add(entry)


def _key(entry: QueuedPod) -> str:
    return entry.pod
