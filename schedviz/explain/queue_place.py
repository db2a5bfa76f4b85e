"""A pod's place in the scheduling queue, and the events that would requeue it."""

from __future__ import annotations

from typing import Final, Literal

from schedviz.engine import Simulation
from schedviz.engine.cache.debugger.dumper import NAME_ONLY_GATE
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.types import ActionType, ClusterEvent, QueuedPodInfo, nanos_to_seconds
from schedviz.engine.queue.v1_27.events import merged_event_map
from schedviz.explain.explanation import QueuePlace, Wake

#: The message that the API server gives to a pod with scheduling gates.
#: Upstream: pkg/registry/core/pod/strategy.go applySchedulingGatedCondition
GATED_MESSAGE: Final = "Scheduling is blocked due to non-empty scheduling gates"

QueueName = Literal["activeQ", "backoffQ", "unschedulablePods"]


def queue_place(simulation: Simulation, pod: str, *, count_ahead: bool = True) -> QueuePlace | None:
    """The place of a pod (`namespace/name`); None if it is in none of the three queues.

    Counting the pods ahead of it compares it with every pod of activeQ.
    """
    location = _find(simulation, pod)
    if location is None:
        return None
    name, queued = location
    queue = simulation.scheduler.state.queue
    backoff_end = queue.backoff_end(queued)
    gating_plugin = (queued.gating_plugin or names.SCHEDULING_GATES) if queued.gated else ""
    waits = name == "unschedulablePods"
    return QueuePlace(
        name,
        queued.attempts,
        nanos_to_seconds(queued.timestamp),
        ahead=_ahead(simulation, queued) if count_ahead and name == "activeQ" else None,
        backoff_ends_seconds=nanos_to_seconds(backoff_end) if backoff_end > simulation.clock.now and queued.attempts else None,
        flushed_after_seconds=nanos_to_seconds(queue.unschedulable_timeout(queued)) if waits and not queued.gated else None,
        gated_by=", ".join(gate.name for gate in queued.pod.spec.scheduling_gates) if queued.gated else "",
        gating_plugin=gating_plugin,
        gating_reason=_gating_reason(simulation, queued, gating_plugin) if gating_plugin else "",
        plugins=tuple(sorted(queued.rejector_plugins)),
        wakes=_wakes(simulation, queued.rejector_plugins) if waits else (),
    )


def _gating_reason(simulation: Simulation, queued: QueuedPodInfo, plugin: str) -> str:
    """What the PreEnqueue plugin says that gates the pod."""
    framework = simulation.scheduler.state.profiles.get(queued.pod.spec.scheduler_name)
    plugins = framework.pre_enqueue_plugins if framework is not None else ()
    return next(
        (pre_enqueue_plugin.pre_enqueue(queued.pod_info).message for pre_enqueue_plugin in plugins if pre_enqueue_plugin.name == plugin), ""
    )


def message_of_gated(place_in_queue: QueuePlace | None) -> str:
    """The message in the condition of a pod that a PreEnqueue plugin gates: the scheduler writes none."""
    if place_in_queue is None or place_in_queue.gating_plugin != names.SCHEDULING_GATES or is_name_only(place_in_queue):
        return ""
    return GATED_MESSAGE


def is_name_only(place_in_queue: QueuePlace | None) -> bool:
    """Whether only the pod's name is known, from a dump: it has no gates of its own."""
    return place_in_queue is not None and NAME_ONLY_GATE in place_in_queue.gated_by.split(", ")


def _find(simulation: Simulation, pod: str) -> tuple[QueueName, QueuedPodInfo] | None:
    queue = simulation.scheduler.state.queue
    queued = queue.find(pod)
    if queued is None:
        return None
    if queue.active_q.get(pod) is queued:
        return "activeQ", queued
    return ("unschedulablePods" if queue.unschedulable_pods.get(pod) is queued else "backoffQ"), queued


def _ahead(simulation: Simulation, queued: QueuedPodInfo) -> int:
    """The number of pods that are popped before it."""
    queue = simulation.scheduler.state.queue
    return sum(queue.active_q.less(other, queued) for other in queue.active_q if other is not queued)


def _wakes(simulation: Simulation, plugins: set[str]) -> tuple[Wake, ...]:
    """The cluster events for which these plugins, those that rejected a pod, are registered."""
    waiting = [
        Wake(plugin, word)
        for event, waits in merged_event_map(simulation.scheduler.state.profiles).items()
        for plugin in sorted(waits & plugins)
        for word in _words(event)
    ]
    return tuple(sorted(set(waiting), key=lambda wake: (wake.plugin, wake.event)))


_NODE_ACTIONS = (
    ActionType.ADD,
    ActionType.DELETE,
    ActionType.UPDATE_NODE_ALLOCATABLE,
    ActionType.UPDATE_NODE_LABEL,
    ActionType.UPDATE_NODE_TAINT,
    ActionType.UPDATE_NODE_CONDITION,
)
_NODE_WORDS = ("Add", "Delete", "UpdateNodeAllocatable", "UpdateNodeLabel", "UpdateNodeTaint", "UpdateNodeCondition")


def _words(event: ClusterEvent) -> list[str]:
    """`Node/Add`, `Pod/Delete`, in upstream's terms for resources and actions."""
    kind = event.resource.rpartition("/")[2]
    action = event.action_type
    if kind == "Node" and action & ActionType.UPDATE != ActionType.UPDATE:
        return [f"{kind}/{word}" for single, word in zip(_NODE_ACTIONS, _NODE_WORDS, strict=True) if action & single]
    groups = ((ActionType.ADD, "Add"), (ActionType.DELETE, "Delete"), (ActionType.UPDATE, "Update"))
    return [f"{kind}/{word}" for group, word in groups if action & group]
