"""The log lines of v1.36's scheduler up to verbosity 5, from trace events and the records of cycles.

Reproduced, with upstream's files, lines, messages and values: the handlers of nodes and pods, the queue, hints, the cycles, batching,
preemption and binding of pods. Not reproduced:

- errors, except those of a cycle as a whole, of PostFilter, of Bind plugins and of evictions;
- what filters log in preemption's dry run and in the batch's check of the last node, and the eviction of a pod that waits at Permit or in
  PreBind;
- PodTopologySpread's lines about the skew of nodes that it rejects; lines that follow from the plugins' arguments: NodeAffinity's
  `addedAffinity`, and hints of PodTopologySpread with hard default constraints;
- volumes, resource claims, declared features and the API dispatcher; of pod groups, what the plugin GangScheduling logs;
- permit: "Pod waiting on permit" and the rejection that ends it;
- the start of the process, and lines above verbosity 5.

In a run with `recordCycles: placement` there are no records: taints of rejected nodes, hints of batching and PreFilter's rejection are
missing. Upstream: eventhandlers.go, backend/cache/node_tree.go, and the files that the other modules of this package name
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from schedviz.engine import stages
from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.engine.clock import EPOCH_SECONDS, SECOND, nanoseconds
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.reporting.scheduler_log.cycle_lines import Cycle, CycleLines
from schedviz.engine.reporting.scheduler_log.group_lines import GroupLines
from schedviz.engine.reporting.scheduler_log.known_objects import KnownObjects
from schedviz.engine.reporting.scheduler_log.preemption_lines import PreemptionLines
from schedviz.engine.reporting.scheduler_log.queue_lines import QueueLines, came_back
from schedviz.engine.reporting.scheduler_log.writer import Writer, pod_ref
from schedviz.engine.simulation import Simulation
from schedviz.kube.core import Pod
from schedviz.trace.events import (
    AnyEvent,
    ApiWritten,
    BindingStageEnded,
    CacheNode,
    CachePod,
    CycleEnded,
    CycleStarted,
    EventRecorded,
    InFlightChanged,
    PodGroupEnded,
    PodGroupStageEnded,
    PodGroupStarted,
    PreEnqueueRan,
    QueueMoved,
    RequeueConsidered,
    Restarted,
    SnapshotUpdated,
    StageEnded,
    WatchDelivered,
)
from schedviz.trace.view import QueuedPod

_HANDLERS: Final = "scheduler/eventhandlers.go"
#: Events in the middle of a handler.
_HANDLER_EVENTS: Final = (CachePod, QueueMoved, InFlightChanged, PreEnqueueRan, RequeueConsidered)
#: Why plugins cannot sign a pod. Upstream: SignPod of each
_NOT_SIGNABLE: Final[Mapping[str, str]] = {
    "InterPodAffinity": "pods with InterPodAffinity are not signable",
    "DynamicResources": "pods with dra resource claims are not signable",
    "NodeResourcesFit": "signature disabled when dra extended resources are used in the cluster",
    "NodeResourcesBalancedAllocation": "signature disabled when dra extended resources are used in the cluster",
}


class SchedulerLogV136:
    """Derives the lines of one run. Remembers pods and cycles, because a binding may be held over many steps."""

    def __init__(self, simulation: Simulation, verbosity: int) -> None:
        self._simulation = simulation
        self._writer = Writer(verbosity)
        #: The events and records of the step, and the place of the present event.
        self._events: Sequence[AnyEvent] = ()
        self._records: Mapping[int, dict[str, Any]] = {}
        self._place = 0
        self._begin()

    def _begin(self) -> None:
        """Forget what a scheduler process remembers."""
        simulation, writer = self._simulation, self._writer
        state = simulation.scheduler.state
        objects = self._objects = KnownObjects(simulation.cluster.store.get)
        self._queue = QueueLines(writer, objects, state.pod_info)
        self._cycle_lines = CycleLines(writer, objects, simulation)
        self._preemption = PreemptionLines(writer, objects, simulation)
        self._groups = GroupLines(writer)
        self._cycles: dict[int, Cycle] = {}
        #: The nodes of the snapshot, in order.
        self._nodes: Sequence[str] = ()
        #: Pods that the informers know to be on a node, and pods that the cache assumes.
        self._assigned: set[str] = set()
        self._assumed: set[str] = set()
        #: Lines of a handler that follow the queue's lines.
        self._after_queue: list[LogLine] = []
        #: The failed cycle that is handled next, with the facts of that stage.
        self._failing: tuple[Cycle, Mapping[str, Any]] | None = None
        #: The pod whose binding failed and whose resources are being freed; "": none.
        self._frees = ""

    def lines(self, events: Sequence[AnyEvent], records: Mapping[int, dict[str, Any]]) -> Iterator[LogLine]:
        """The lines of a step's events, in the scheduler's order. `records` are those of its scheduling cycles, by number."""
        self._events, self._records = events, records
        for self._place, event in enumerate(events):
            self._writer.at = EPOCH_SECONDS * SECOND + nanoseconds(event.at)
            if self._after_queue and not isinstance(event, _HANDLER_EVENTS):
                yield from self._take_after_queue()
            yield from self._of_event(event)
        yield from self._take_after_queue()

    def _later(self) -> Iterator[AnyEvent]:
        """The events of the step after the present one."""
        return (self._events[index] for index in range(self._place + 1, len(self._events)))

    def _take_after_queue(self) -> list[LogLine]:
        taken, self._after_queue = self._after_queue, []
        return taken

    def _of_event(self, event: AnyEvent) -> Iterator[LogLine]:
        match event:
            case WatchDelivered():
                if not event.lost:
                    yield from self._delivered(event)
            case CacheNode():
                yield from self._tree(event)
            case SnapshotUpdated():
                self._nodes = self._nodes if event.node_info_list is None else event.node_info_list
            case CachePod():
                self._note_cache(event)
            case PreEnqueueRan():
                self._queue.ran_pre_enqueue(event)
            case RequeueConsidered():
                yield from self._considered(event)
            case QueueMoved():
                yield from self._queue.moved(event)
            case InFlightChanged():
                yield from self._queue.in_flight_changed(event, self._frees)
            case ApiWritten():
                yield from self._preemption.wrote(event)
            case EventRecorded():
                yield from self._recorded(event)
            case Restarted():
                self._begin()
            case PodGroupStarted() | PodGroupStageEnded() | PodGroupEnded():
                yield from self._groups.lines(event)
            case CycleStarted() | StageEnded() | CycleEnded() | BindingStageEnded():
                yield from self._cycle(event)

    # Handlers. Upstream: eventhandlers.go

    def _handler(self, line: int, message: str, value: tuple[str, ObjectRef], *, v: int) -> LogLine:
        return self._writer.line(f"{_HANDLERS}:{line}", message, value, v=v)

    def _delivered(self, event: WatchDelivered) -> Iterator[LogLine]:
        self._objects.delivered(event)
        if event.resource == "nodes":
            node = ("node", ObjectRef(event.key))
            match event.verb:
                case "ADDED":
                    yield self._handler(63, "Add event for node", node, v=3)
                case "MODIFIED":
                    yield self._handler(82, "Update event for node", node, v=4)
                case _:
                    self._after_queue.append(self._handler(122, "Delete event for node", node, v=3))
        elif event.resource == "pods":
            following = next(self._later(), None)
            operation = following.op if isinstance(following, CachePod) and following.pod == event.key else ""
            if event.verb == "DELETED":
                yield from self._pod_deleted(event, operation)
            elif operation == "update" or (event.key in self._assigned and operation != "add"):
                self._assigned.add(event.key)
                yield self._handler(407, "Update event for scheduled pod", pod_ref(event.key), v=4)
            elif operation == "add":
                yield from self._pod_assigned(event)
            else:
                yield from self._pod_unscheduled(event)

    def _pod_assigned(self, event: WatchDelivered) -> Iterator[LogLine]:
        was_pending = event.verb == "MODIFIED" and event.key not in self._assigned
        self._assigned.add(event.key)
        yield self._handler(374, "Add event for scheduled pod", pod_ref(event.key), v=3)
        if was_pending and self._is_responsible(self._objects.pod(event.key)):
            self._after_queue.append(self._handler(335, "Delete event for unscheduled pod", pod_ref(event.key), v=3))

    def _pod_unscheduled(self, event: WatchDelivered) -> Iterator[LogLine]:
        pod = self._objects.pod(event.key)
        if pod is None or not self._is_responsible(pod):
            return
        if event.verb == "ADDED":
            yield self._handler(214, "Add event for unscheduled pod", pod_ref(event.key), v=3)
            yield from self._sign(pod)
        elif event.key not in self._assumed:
            yield self._handler(316, "Update event for unscheduled pod", pod_ref(event.key), v=4)
            if not self._queue.is_in_flight(event.key):
                yield from self._sign(pod)

    def _pod_deleted(self, event: WatchDelivered, operation: str) -> Iterator[LogLine]:
        is_assigned = event.key in self._assigned or operation == "remove"
        self._assigned.discard(event.key)
        unscheduled = self._handler(335, "Delete event for unscheduled pod", pod_ref(event.key), v=3)
        is_responsible = self._is_responsible(self._objects.pod_before(event.key))
        if is_assigned or event.final_state_unknown:
            yield self._handler(443, "Delete event for scheduled pod", pod_ref(event.key), v=3)
            if event.final_state_unknown and is_responsible:
                self._after_queue.append(unscheduled)
        elif is_responsible:
            yield unscheduled

    def _is_responsible(self, pod: Pod | None) -> bool:
        return pod is not None and pod.spec.scheduler_name in self._simulation.scheduler.state.profiles

    def _sign(self, pod: Pod) -> Iterator[LogLine]:
        """Upstream: framework/runtime/framework.go SignPod"""
        state = self._simulation.scheduler.state
        framework = state.profiles[pod.spec.scheduler_name]
        plugin = framework.plugin_that_cannot_sign(state.pod_info(pod)) if isinstance(framework, FrameworkV136) else ""
        if not plugin:
            return
        kind = "topology" if pod.spec.topology_spread_constraints else "default topology"
        status = _NOT_SIGNABLE.get(plugin, f"pods with {kind} constraints are not signable")
        message = "SignPod can't sign pod due to plugin"
        yield self._writer.line("runtime/framework.go:898", message, ("plugin", plugin), ("status", status), v=5)

    # Cache

    def _tree(self, event: CacheNode) -> Iterator[LogLine]:
        """Upstream: backend/cache/node_tree.go"""
        if event.tree is None:
            return
        node = ("node", ObjectRef(event.node))
        if event.tree.left is not None:
            yield self._writer.line("cache/node_tree.go:79", "Removed node from NodeTree", node, ("zone", event.tree.left), v=2)
        if event.tree.joined is not None:
            yield self._writer.line("cache/node_tree.go:65", "Added node to NodeTree", node, ("zone", event.tree.joined), v=2)

    def _note_cache(self, event: CachePod) -> None:
        if event.op == "assume":
            self._assumed.add(event.pod)
        else:
            self._assumed.discard(event.pod)

    # Queue

    def _considered(self, event: RequeueConsidered) -> Iterator[LogLine]:
        pod = event.decisions[0].pods[0] if event.decisions else ""
        returns = any(came_back(event, decision) for decision in event.decisions)
        entry = _entry_of(pod, self._later()) if returns else None
        if returns:
            yield from self._begin_failure()
        yield from self._queue.considered(event, entry, pod if returns else self._frees)

    # Cycles

    def _cycle(self, event: CycleStarted | StageEnded | CycleEnded | BindingStageEnded) -> Iterator[LogLine]:
        lines, record = self._cycle_lines, self._records.get(event.cycle, {})
        if _is_handling(event):
            yield from self._begin_failure()
        if isinstance(event, CycleStarted):
            cycle = self._cycles[event.cycle] = Cycle(event, self._queue.scheduling_cycle)
            of_group = self._groups.begins_pod(event)
            yield from lines.started(cycle) if of_group is None else of_group
            return
        open_cycle = self._cycles.get(event.cycle)
        if open_cycle is None:
            return
        match event:
            case StageEnded():
                yield from lines.stage_ended(open_cycle, event, record)
            case CycleEnded():
                lines.ended(open_cycle, event)
                if event.outcome != "scheduled":
                    del self._cycles[event.cycle]
            case _:
                yield from lines.binding_stage_ended(open_cycle, event, self._queue.entries.get(event.pod))
                self._frees = event.pod if event.next_stage == stages.MOVE_ALL else ""
                if event.next_stage in (stages.CONFIRM, stages.ENDED):
                    del self._cycles[event.cycle]
        if isinstance(event, CycleEnded):
            return
        if event.next_stage == stages.POST_FILTER:
            ended = _stage(stages.POST_FILTER, event.cycle, self._later())
            if isinstance(ended, StageEnded):
                yield from self._preemption.begins(open_cycle.pod, ended, profile=open_cycle.profile, nodes=self._nodes, record=record)
        if event.next_stage == stages.HANDLE_SCHEDULING_FAILURE:
            handled = _stage(stages.HANDLE_SCHEDULING_FAILURE, event.cycle, self._later())
            self._failing = None if handled is None else (open_cycle, handled.facts)
            if handled is not None and isinstance(event, StageEnded):
                yield from lines.selected_nothing(open_cycle, event.stage, handled.facts)

    def _begin_failure(self) -> Iterator[LogLine]:
        """The first lines about a failed cycle, which come after those of steps that were made during it."""
        if self._failing is not None:
            cycle, facts = self._failing
            self._failing = None
            yield from self._cycle_lines.failed(cycle, facts)

    def _recorded(self, event: EventRecorded) -> Iterator[LogLine]:
        if event.reason == "Preempted":
            yield from self._preemption.recorded(event)
        elif event.reason == "FailedScheduling":
            yield from self._begin_failure()
            handled = next((event for event in self._later() if _is_handling(event)), None)
            if not isinstance(handled, StageEnded | BindingStageEnded):
                return
            clear = {"mode": "override", "nominatedNodeName": ""}
            record = self._records.get(handled.cycle, {}) if isinstance(handled, StageEnded) else {}
            nominating = record.get("nominating", clear)
            if not handled.facts.get("requeued"):
                yield from self._cycle_lines.not_nominated(event.pod, nominating)
            yield from self._cycle_lines.updates_status(event.pod, nominating, str(handled.facts.get("reason", "")))


def _is_handling(event: AnyEvent) -> bool:
    return isinstance(event, StageEnded | BindingStageEnded) and event.stage == stages.HANDLE_SCHEDULING_FAILURE


def _stage(stage: str, cycle: int, later: Iterable[AnyEvent]) -> StageEnded | BindingStageEnded | None:
    """The end of a stage of a cycle."""
    for event in later:
        if isinstance(event, StageEnded | BindingStageEnded) and event.cycle == cycle and event.stage == stage:
            return event
    return None


def _entry_of(pod: str, later: Iterable[AnyEvent]) -> QueuedPod | None:
    """The entry with which a pod came back to the queue."""
    for event in later:
        if isinstance(event, QueueMoved):
            entry = next((move.entry for move in event.moves if move.pod == pod and move.entry is not None), None)
            if entry is not None:
                return entry
    return None
