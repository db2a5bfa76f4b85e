"""The lines of v1.36's scheduling queue: moves between queues, hints, gates and events of pods in flight.

Upstream: backend/queue/scheduling_queue.go, active_queue.go, backoff_queue.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from schedviz.engine.cache.debugger.log_line import JsonObject, LogLine, ObjectRef
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.queue.v1_36 import cluster_events
from schedviz.engine.reporting.scheduler_log.hint_lines import HintCall, hint_line
from schedviz.engine.reporting.scheduler_log.known_objects import KnownObjects
from schedviz.engine.reporting.scheduler_log.writer import Writer, pod_ref
from schedviz.kube.core import Node, Pod
from schedviz.trace.events import (
    HintAnswer,
    InFlightChanged,
    PreEnqueueRan,
    QueueMove,
    QueueMoved,
    QueueName,
    RequeueConsidered,
    RequeueDecision,
)
from schedviz.trace.view import InFlightEntry, QueuedPod, StatusView

_MOVED: Final = "Pod moved to an internal scheduling queue"
_MOVED_GATED: Final = "Pod moved to an internal scheduling queue, because the pod is gated"
_MOVED_UPDATED: Final = "Pod moved to an internal scheduling queue because the Pod is updated"
#: Queue -> where its line is, and upstream's name of the queue.
_QUEUES: Final[Mapping[QueueName, tuple[str, str]]] = {
    "activeQ": ("queue/active_queue.go:111", "Active"),
    "backoffQ": ("queue/backoff_queue.go:321", "Backoff"),
    "errorBackoffQ": ("queue/backoff_queue.go:310", "Backoff"),
    "unschedulable": ("queue/scheduling_queue.go:694", "Unschedulable"),
}
#: The causes of moves that no hint decided about.
_WITHOUT_HINTS: Final = frozenset(
    {
        cluster_events.UNSCHEDULABLE_POD_ADD.label,
        cluster_events.UNSCHEDULABLE_POD_UPDATE.label,
        cluster_events.BACKOFF_COMPLETE,
        cluster_events.FORCE_ACTIVATE.label,
    }
)
#: Events that move pods and are not calls of MoveAllToActiveOrBackoffQueue.
_FLUSHES: Final = frozenset({cluster_events.UNSCHEDULABLE_TIMEOUT.label})
_FAILURE: Final = cluster_events.SCHEDULE_ATTEMPT_FAILURE
_STRATEGIES: Final = ("skip", "afterBackoff", "immediately")


def plugin_set(plugins: Iterable[str]) -> JsonObject:
    """A set of names as Go encodes a sets.Set."""
    return JsonObject({name: {} for name in sorted(plugins)})


class QueueLines:
    """Derives the queue's lines. Give it every event of the queue."""

    def __init__(self, writer: Writer, objects: KnownObjects, pod_info: Callable[[Pod], PodInfo]) -> None:
        self._writer = writer
        self._objects = objects
        self._pod_info = pod_info
        self._in_flight: list[InFlightEntry] = []
        #: Pod -> what its PreEnqueue plugins rejected, until the line of the move.
        self._gated: dict[str, StatusView] = {}
        #: Pod -> its last entry in the queue that was recorded.
        self.entries: dict[str, QueuedPod] = {}
        #: The scheduling cycle of the last pop.
        self.scheduling_cycle = 0
        #: The event that is moving pods now; "": none.
        self._moving = ""
        #: The pod of which "Checking events" was written and that has not moved yet; "": none.
        self._checked = ""

    def is_in_flight(self, pod: str) -> bool:
        """Whether the pod was popped and has not come back."""
        return any(entry.pod == pod for entry in self._in_flight)

    def ran_pre_enqueue(self, event: PreEnqueueRan) -> None:
        """PreEnqueue plugins ran; a rejection is written with the pod's move."""
        if event.rejected is None:
            self._gated.pop(event.pod, None)
        else:
            self._gated[event.pod] = event.rejected

    def in_flight_changed(self, event: InFlightChanged, cycle_of: str) -> Iterator[LogLine]:
        """Follow the pods in flight. `cycle_of`: see `considered`."""
        self._in_flight += event.added
        if event.done:
            index = next((position for position, entry in enumerate(self._in_flight) if entry.uid == event.done), None)
            if index is not None:
                del self._in_flight[index]
            needed = next((index for index, entry in enumerate(self._in_flight) if entry.pod), len(self._in_flight))
            del self._in_flight[:needed]
        for entry in event.added:
            if entry.event and entry.event == self._moving:
                message = "Event received while pods are in flight"
                yield self._writer.line("queue/scheduling_queue.go:1343", message, ("event", entry.event), v=5, cycle_of=cycle_of)
        self._moving = ""

    def considered(self, event: RequeueConsidered, entry: QueuedPod | None, cycle_of: str) -> Iterator[LogLine]:
        """The queue evaluated hints.

        `entry` is that of a pod that comes back; `cycle_of` is the pod whose logger is used, "": the scheduler's own.
        """
        moves = event.moves_all or event.event_label in _FLUSHES
        self._moving = event.event_label if moves else ""
        for pod, decision in sorted(_single(event.decisions), key=_full_name):
            if moves:
                yield from self._moved_by_event(event, pod, decision, cycle_of)
            elif came_back(event, decision):
                yield from self._came_back(event, pod, decision, entry, cycle_of)
            elif decision.strategy is not None:
                yield from self._updated(event, pod, decision)

    def moved(self, event: QueueMoved) -> Iterator[LogLine]:
        """Pods entered queues."""
        self.scheduling_cycle = event.scheduling_cycle
        for move in event.moves:
            if move.entry is not None:
                self.entries[move.pod] = move.entry
            if event.cause in _WITHOUT_HINTS and move.target is not None and not _was_decided(event.cause, move):
                yield from self._entered(move.pod, event.cause, move.target)

    def _moved_by_event(self, event: RequeueConsidered, pod: str, decision: RequeueDecision, cycle_of: str) -> Iterator[LogLine]:
        """Upstream: movePodsToActiveOrBackoffQueue"""
        if decision.gated:
            return
        yield from self._hints(event, pod, decision.hints, cycle_of)
        if decision.strategy == "skip":
            values = (pod_ref(pod), ("event", event.event_label))
            yield self._writer.line(
                "queue/scheduling_queue.go:1325", "Event is not making pod schedulable", *values, v=5, cycle_of=cycle_of
            )
        elif decision.queue is not None:
            yield from self._entered(pod, event.event_label, decision.queue, cycle_of)

    def _updated(self, event: RequeueConsidered, pod: str, decision: RequeueDecision) -> Iterator[LogLine]:
        """Upstream: Update"""
        yield from self._hints(event, pod, decision.hints)
        if decision.strategy == "skip" or decision.queue is None:
            return
        if decision.queue == "unschedulable":
            yield from self._gate(pod)
            return
        yield from self._entered(pod, event.event_label, decision.queue)
        values = (pod_ref(pod), ("event", event.event_label), ("queue", _QUEUES[decision.queue][1]))
        yield self._writer.line("queue/scheduling_queue.go:1160", _MOVED_UPDATED, *values, v=5)

    def _came_back(
        self, event: RequeueConsidered, pod: str, decision: RequeueDecision, entry: QueuedPod | None, cycle_of: str
    ) -> Iterator[LogLine]:
        """Upstream: AddUnschedulableIfNotPresent, determineSchedulingHintForInFlightPod"""
        gate = self._gated.get(pod)
        new = {gate.plugin} if gate is not None else set()
        rejected = set() if entry is None else set(entry.unschedulable_plugins) - new
        pending = set() if entry is None else set(entry.pending_plugins)
        writer = self._writer
        if (rejected or pending) and self._checked != pod:
            self._checked = pod
            yield writer.line(
                "queue/active_queue.go:403",
                "Checking events for in-flight pod",
                pod_ref(pod),
                ("unschedulablePlugins", plugin_set(rejected)),
                ("inFlightEventsSize", len(self._in_flight)),
                ("inFlightPodsSize", sum(bool(entry.pod) for entry in self._in_flight)),
                v=5,
                cycle_of=cycle_of,
            )
        if event.event_label != _FAILURE:
            values = (pod_ref(pod), ("event", event.event_label))
            yield writer.line("queue/scheduling_queue.go:841", "Checking event for in-flight pod", *values, v=5, cycle_of=cycle_of)
            yield from self._hints(event, pod, decision.hints, cycle_of)
        if decision.queue is None or decision.strategy is None:
            return
        self._checked = ""
        if decision.strategy != "skip":
            yield from self._entered(pod, _FAILURE, decision.queue, cycle_of)
        yield writer.line(
            "queue/scheduling_queue.go:958",
            _MOVED,
            pod_ref(pod),
            ("event", _FAILURE),
            ("queue", _QUEUES[decision.queue][1]),
            ("schedulingCycle", self.scheduling_cycle),
            ("hint", _STRATEGIES.index(decision.strategy)),
            ("unschedulable plugins", plugin_set(rejected | pending)),
            v=3,
            cycle_of=cycle_of,
        )

    def _entered(self, pod: str, label: str, queue: QueueName, cycle_of: str = "") -> Iterator[LogLine]:
        yield from self._gate(pod)
        caller, name = _QUEUES[queue]
        message = _MOVED_GATED if queue == "unschedulable" else _MOVED
        yield self._writer.line(caller, message, pod_ref(pod), ("event", label), ("queue", name), v=5, cycle_of=cycle_of)

    def _gate(self, pod: str) -> Iterator[LogLine]:
        """Upstream: runPreEnqueuePlugin"""
        rejected = self._gated.pop(pod, None)
        if rejected is not None and rejected.code != "Error":
            values = (pod_ref(pod), ("plugin", rejected.plugin), ("status", ", ".join(rejected.reasons)))
            yield self._writer.line("queue/scheduling_queue.go:654", "Status after running PreEnqueue plugin", *values, v=4)

    def _hints(self, event: RequeueConsidered, pod: str, hints: Iterable[HintAnswer], cycle_of: str = "") -> Iterator[LogLine]:
        kind = (event.new or event.old).partition(" ")[0]
        for hint in hints:
            if hint.error or kind not in ("Node", "Pod") or _has_no_hint(hint):
                continue
            line = hint_line(self._hint_call(event, pod, hint, kind))
            if line is not None:
                yield self._writer.line(line.caller, line.message, *line.values, v=line.verbosity, cycle_of=cycle_of)

    def _hint_call(self, event: RequeueConsidered, pod: str, hint: HintAnswer, kind: str) -> HintCall:
        objects = self._objects
        old_key, new_key = event.old.partition(" ")[2], event.new.partition(" ")[2]
        old: Node | Pod | None
        new: Node | Pod | None
        if kind == "Node":
            old, new = objects.node_before(old_key) if old_key else None, objects.node(new_key) if new_key else None
        else:
            old, new = objects.pod_before(old_key) if old_key else None, objects.pod(new_key) if new_key else None
        is_queue = hint.hint == "Queue"
        return HintCall(hint.plugin, is_queue, pod, objects.pod(pod), kind, old_key, new_key, old, new, self._pod_info)


def came_back(event: RequeueConsidered, decision: RequeueDecision) -> bool:
    """Whether the decision is about a pod that comes back from a cycle, for an event that it missed or for none.

    A missed event that is not the last one is recorded without a queue, which an update of a pending pod always has.
    """
    if event.moves_all or decision.strategy is None:
        return False
    return decision.in_flight or event.event_label == _FAILURE or (decision.queue is None and event.event_label not in _FLUSHES)


def _has_no_hint(hint: HintAnswer) -> bool:
    """Whether the plugin registered for the event without a function, or the queue did for it."""
    return hint.on == "NodeUpdateNodeTaint" and hint.plugin not in ("TaintToleration", "PodTopologySpread")


def _was_decided(cause: str, move: QueueMove) -> bool:
    """Whether a decision of hints came before the move, or the pod stayed where it was."""
    return move.source == move.target or (cause == cluster_events.UNSCHEDULABLE_POD_UPDATE.label and move.source is not None)


def _single(decisions: Iterable[RequeueDecision]) -> list[tuple[str, RequeueDecision]]:
    return [(pod, decision) for decision in decisions for pod in decision.pods]


def _full_name(decision: tuple[str, RequeueDecision]) -> str:
    """The order in which the queue evaluates pods. Upstream: scheduler/util/utils.go GetPodFullName"""
    ref = ObjectRef.of(decision[0])
    return f"{ref.name}_{ref.namespace}"
