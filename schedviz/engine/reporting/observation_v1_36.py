"""What FORMAT-1.36 observes beyond `observation`: the queue's decisions, held preemptions, and the new members of cycles and bindings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from schedviz.engine.binding import BindingCycle
from schedviz.engine.cycle_results import CycleResults
from schedviz.engine.framework.runtime import PluginResult
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle
from schedviz.engine.reporting.observation import (
    cycle_record,
    nominated_node_record,
    post_filter_record,
    snapshot_update_record,
    status_record,
    status_records,
)
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.scheduler import Scheduler
from schedviz.trace.events import AnyEvent, PreEnqueueRan, QueueName, RequeueConsidered, RequeueDecision

#: Upstream's names of the queues in a decision.
_QUEUES: Final[dict[QueueName, str]] = {
    "activeQ": "Active",
    "backoffQ": "Backoff",
    "errorBackoffQ": "Backoff",
    "unschedulable": "Unschedulable",
}


def queue_decisions(events: Iterable[AnyEvent]) -> dict[str, list[Any]]:
    """`clusterEvents`, `requeue` and `preEnqueue` of a step, from its trace events."""
    moved: list[Any] = []
    requeued: list[Any] = []
    gates: list[Any] = []
    for event in events:
        match event:
            case RequeueConsidered():
                if event.moves_all:
                    moved.append({"event": event.event_label, "old": event.old or None, "new": event.new or None})
                # Equal decisions are one; the recordings have one for each pod, in order of full name.
                single = [(pod, decision) for decision in event.decisions for pod in decision.pods]
                requeued += [_decision(event.event_label, pod, decision) for pod, decision in sorted(single, key=_full_name)]
            case PreEnqueueRan():
                gates += [{"pod": event.pod, "plugin": name, "code": "Success", "reasons": []} for name in event.passed]
                if event.rejected is not None:
                    rejected = event.rejected
                    gates.append({"pod": event.pod, "plugin": rejected.plugin, "code": rejected.code, "reasons": rejected.reasons})
    return {"clusterEvents": moved, "requeue": requeued, "preEnqueue": gates}


def _full_name(decision: tuple[str, RequeueDecision]) -> str:
    """Upstream: scheduler/util/utils.go GetPodFullName"""
    namespace, _, name = decision[0].partition("/")
    return f"{name}_{namespace}"


def _decision(label: str, pod: str, decision: RequeueDecision) -> dict[str, Any]:
    record: dict[str, Any] = {
        "pod": pod,
        "event": label,
        "hints": [
            {"on": hint.on, "plugin": hint.plugin, "hint": hint.hint, **({"error": hint.error} if hint.error else {})}
            for hint in decision.hints
        ],
    }
    if decision.gated:
        return record | {"gated": True}
    if decision.strategy is not None:
        record["strategy"] = decision.strategy
    if decision.queue is not None:
        record["queue"] = _QUEUES[decision.queue]
    if decision.in_flight:
        record["inFlight"] = True
    return record


def pending_work(scheduler: Scheduler) -> dict[str, Any]:
    """`heldPreemptions`, `batch` and, if API calls go through the dispatcher, `pendingAPICalls`."""
    batches = {name: batch.to_view() for name, batch in scheduler.batches().items()}
    result = {
        "heldPreemptions": [task.preemptor.key for task in scheduler.preemptions.running],
        "batch": {name: batch for name, batch in batches.items() if batch is not None},
    }
    dispatcher = scheduler.state.api_dispatcher
    return result if dispatcher is None else result | {"pendingAPICalls": [list(call) for call in dispatcher.pending]}


def cycle_members(cycle: SchedulingCycle) -> dict[str, Any]:
    """The members of a cycle's record that v1.36 adds."""
    results = cycle.results
    status = results.pre_filter_status
    outcome = results.post_filter
    return {
        "poppedFrom": "backoffQ" if results.popped_from_backoff_q else "",
        "pendingPlugins": results.pending_plugins,
        "preFilterStatus": None if status is None else status_record(status.failed_plugin, status),
        "postFilters": [] if outcome is None else [status_record(each.plugin, each.status) for each in outcome.plugin_results],
        "postFilter": None if outcome is None else post_filter_record(outcome),
        "preFilterNodes": results.pre_filter_nodes,
        "signature": None if cycle.queued.signature is None else f"{_fnv_1a(cycle.queued.signature):08x}",
        "nodeHint": results.node_hint,
        "batch": _batch(results),
        "nominatedNodeEvaluation": _nominated_node(cycle),
    }


def pod_group_record(group: PodGroupCycle) -> dict[str, Any]:
    """The record of a pod group's cycle; those of its pods are in `podGroup`."""
    results = group.results
    update = results.snapshot_update
    return {
        **_EMPTY_CYCLE,
        "pod": results.first_pod,
        "profile": group.profile_name if results.outcome else "",
        "attempts": results.attempts,
        "outcome": "podGroup",
        "poppedFrom": "backoffQ" if results.popped_from_backoff_q else "",
        "startNodeIndex": results.start_node_index,
        "nextStartNodeIndex": results.next_start_node_index,
        "snapshotUpdate": None if update is None else snapshot_update_record(update),
        "reserve": status_records(results.reserve),
        "permit": status_records(results.permit),
        "unreserve": results.unreserve,
        "podGroup": {
            "name": group.group.key,
            "code": results.status.code.value,
            "message": results.status.message,
            "waitingOnPreemption": results.waiting_on_preemption,
            "pods": [_pod_of_group(pod) for pod in group.pods],
        },
    }


def _pod_of_group(pod: PodGroupPodCycle) -> dict[str, Any]:
    record = cycle_record(pod) | cycle_members(pod)
    if not pod.was_tried:
        return record
    result = pod.algorithm_result
    return record | {
        "algorithm": {
            "node": result.node,
            "code": result.status.code.value,
            "message": result.status.message,
            "permit": result.permit.code.value,
            "requiresPreemption": result.requires_preemption,
        }
    }


#: The members of a cycle's record that a group leaves to its pods.
_EMPTY_CYCLE: Final[dict[str, Any]] = {
    "node": "",
    "message": "",
    "conditionReason": "",
    "evaluatedNodes": 0,
    "feasibleNodes": 0,
    "numFeasibleNodesToFind": 0,
    "preFilter": [],
    "preFilterNodes": None,
    "skippedFilterPlugins": [],
    "nominatedNodeEvaluation": None,
    "filter": [],
    "extenderFilter": [],
    "feasible": [],
    "preScore": [],
    "skippedScorePlugins": [],
    "scores": None,
    "extenderScores": None,
    "totals": None,
    "tied": [],
    "postFilter": None,
    "postFilters": [],
    "unschedulablePlugins": [],
    "pendingPlugins": [],
    "nominating": None,
}


def _batch(results: CycleResults) -> dict[str, Any] | None:
    members = {
        "flush": results.batch_flush,
        "used": results.node_hint if results.is_hint_used else "",
        "stored": results.batch_stored,
    }
    return {name: value for name, value in members.items() if value} or None


def _nominated_node(cycle: SchedulingCycle) -> dict[str, Any] | None:
    """FORMAT-1.36 has a list of rejections, which has at most one."""
    record = nominated_node_record(cycle)
    return record if record is None or record["rejected"] is None else record | {"rejected": [record["rejected"]]}


def _fnv_1a(data: bytes) -> int:
    """The 32-bit FNV-1a hash, as which FORMAT-1.36 shows a signature."""
    digest = 0x811C9DC5
    for byte in data:
        digest = (digest ^ byte) * 0x01000193 & 0xFFFFFFFF
    return digest


def binding_members(binding: BindingCycle) -> dict[str, Any]:
    """The members of a binding cycle's record that v1.36 adds."""
    return {"preBindPreFlight": [_pre_flight(plugin_result) for plugin_result in binding.results.pre_bind_pre_flight]}


def _pre_flight(plugin_result: PluginResult) -> dict[str, Any]:
    # Both plugins that have this extension point allow other plugins to run with them.
    return {**status_record(plugin_result.plugin, plugin_result.status), "allowParallel": True}
