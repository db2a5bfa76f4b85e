"""The lines of v1.36's scheduling and binding cycles.

Upstream: schedule_one.go, framework/runtime/framework.go, batch.go, and the plugins that are named at each line
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from schedviz.engine import stages
from schedviz.engine.cache.debugger.log_line import JsonList, JsonObject, LogLine, ObjectRef
from schedviz.engine.failure import NO_NODES_AVAILABLE
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS
from schedviz.engine.framework.plugins.helper.taint_comparison import tolerations_tolerate_taint_v1_36
from schedviz.engine.framework.runtime.batch import MAX_AGE
from schedviz.engine.reporting.scheduler_log.known_objects import KnownObjects
from schedviz.engine.reporting.scheduler_log.queue_lines import plugin_set
from schedviz.engine.reporting.scheduler_log.writer import Writer, pod_ref
from schedviz.engine.simulation import Simulation
from schedviz.kube.core import Node, Pod, Taint
from schedviz.trace.events import BindingStageEnded, CycleEnded, CycleStarted, StageEnded
from schedviz.trace.view import QueuedPod, StatusView

_REJECTION_CODES: Final = frozenset({"Unschedulable", "UnschedulableAndUnresolvable", "Pending"})
#: Stages whose error is logged as "Error selecting node for pod".
_SELECTING_STAGES: Final = frozenset(
    {
        stages.PRE_FILTER,
        stages.NOMINATED_NODE,
        stages.FILTER,
        stages.EXTENDER_FILTER,
        stages.PRE_SCORE,
        stages.SCORE,
        stages.NORMALIZE_SCORE,
        stages.EXTENDER_PRIORITIZE,
        stages.SELECT_HOST,
    }
)
#: PodTopologySpread's reason for a node without a topology key.
_NO_LABEL: Final = "node(s) didn't match pod topology spread constraints (missing required label)"


Record = Mapping[str, Any]


class Cycle:
    """What is known of a cycle until its binding ends."""

    def __init__(self, event: CycleStarted, number: int) -> None:
        self.pod = event.pod
        self.uid = event.uid
        self.profile = event.profile
        #: The queue's number of the cycle.
        self.number = number
        self.node = ""
        self.evaluated_nodes = 0
        self.feasible_nodes = 0


class _Batch:
    """What a profile's opportunistic batching remembers. Upstream: framework/runtime/batch.go OpportunisticBatch"""

    def __init__(self) -> None:
        #: The nodes that are left of the last list.
        self.nodes = 0
        self.signature: str | None = None
        self.created = 0
        self.last_cycle = 0
        self.last_node = ""


class CycleLines:
    """Derives the lines of cycles."""

    def __init__(self, writer: Writer, objects: KnownObjects, simulation: Simulation) -> None:
        self._writer = writer
        self._objects = objects
        self._simulation = simulation
        self._batches: dict[str, _Batch] = {}

    def started(self, cycle: Cycle) -> Iterator[LogLine]:
        """A pod was popped."""
        message = "About to try and schedule pod"
        yield self._writer.line("scheduler/schedule_one.go:107", message, pod_ref(cycle.pod), v=4, cycle_of=cycle.pod)

    def stage_ended(self, cycle: Cycle, event: StageEnded, record: Record) -> Iterator[LogLine]:
        """A stage of the scheduling cycle ended. `record` is empty if the cycle has no full record."""
        match event.stage:
            case stages.SKIP_POD_SCHEDULE if event.next_stage == stages.UPDATE_SNAPSHOT:
                message = "Attempting to schedule pod"
                yield self._writer.line("scheduler/schedule_one.go:123", message, pod_ref(cycle.pod), v=3, cycle_of=cycle.pod)
            case stages.SKIP_POD_SCHEDULE if event.facts.get("skipped") == "deleting":
                message = "Skip schedule deleting pod"
                yield self._writer.line("scheduler/schedule_one.go:552", message, pod_ref(cycle.pod), v=3, cycle_of=cycle.pod)
            case stages.PRE_FILTER:
                yield from self._pre_filter(cycle, event, record)
            case stages.NOMINATED_NODE:
                evaluation = record.get("nominatedNodeEvaluation") or {}
                yield from self._rejections(cycle, evaluation.get("rejected") or ())
            case stages.FILTER:
                yield from self._rejections(cycle, record.get("filter") or ())
            case stages.EXTENDER_FILTER:
                yield from self._ignored_extenders(cycle, record)
            case stages.PRE_SCORE if _ran(event, "InterPodAffinity"):
                yield from self._namespace(cycle, "PreScore.InterPodAffinity")
            case stages.SELECT_HOST:
                cycle.node = str(event.facts.get("node", ""))
                yield from self._store(cycle, event, record)
            case stages.POST_FILTER:
                yield from self._post_filter(cycle, event)
            case stages.RESERVE | stages.PERMIT:
                yield from self._rejected_by_plugin(cycle, event)

    def ended(self, cycle: Cycle, event: CycleEnded) -> None:
        """Keep what the binding cycle's lines need."""
        cycle.node, cycle.evaluated_nodes, cycle.feasible_nodes = event.node, event.evaluated_nodes, event.feasible_nodes

    # Which nodes can run the pod.

    def _pre_filter(self, cycle: Cycle, event: StageEnded, record: Record) -> Iterator[LogLine]:
        for status in event.statuses:
            if status.plugin == "InterPodAffinity":
                yield from self._namespace(cycle, "PreFilter.InterPodAffinity")
            elif status.plugin == "DynamicResources":
                yield from self._claims(cycle)
        if event.next_stage in (stages.FILTER, stages.NOMINATED_NODE):
            yield from self._hint(cycle, record)
            return
        rejected = record.get("preFilterStatus")
        if rejected is not None and rejected["code"] in _REJECTION_CODES:
            values = (pod_ref(cycle.pod), ("status", ", ".join(rejected["reasons"])))
            message = "Status after running PreFilter plugins for pod"
            yield self._writer.line("scheduler/schedule_one.go:651", message, *values, v=5, cycle_of=cycle.pod)

    def _namespace(self, cycle: Cycle, logger: str) -> Iterator[LogLine]:
        """Upstream: interpodaffinity/plugin.go GetNamespaceLabelsSnapshot"""
        name = ObjectRef.of(cycle.pod).namespace
        if self._objects.has_namespace(name):
            return
        values = (("namespace", name), ("err", f'namespace "{name}" not found'))
        message = "getting namespace, assuming empty set of namespace labels"
        yield self._writer.line("interpodaffinity/plugin.go:167", message, *values, v=3, cycle_of=cycle.pod, logger=logger)

    def _claims(self, cycle: Cycle) -> Iterator[LogLine]:
        """Upstream: dynamicresources/dynamicresources.go PreFilter"""
        pod = self._objects.pod(cycle.pod)
        if pod is not None and pod.spec.resource_claims:
            return
        values = (pod_ref(cycle.pod), ("resourceclaims", JsonList()))
        caller, logger = "dynamicresources/dynamicresources.go:481", "PreFilter.DynamicResources"
        yield self._writer.line(caller, "pod resource claims", *values, v=5, cycle_of=cycle.pod, logger=logger)

    def _rejections(self, cycle: Cycle, rejections: Any) -> Iterator[LogLine]:
        """What plugins log of nodes that they reject."""
        pod = self._objects.pod(cycle.pod)
        for rejection in rejections:
            node = self._objects.node(rejection["node"])
            if pod is None or node is None:
                continue
            if rejection["plugin"] == "TaintToleration":
                yield from self._taint(cycle, pod, node)
            elif rejection["plugin"] == "PodTopologySpread" and _NO_LABEL in rejection["reasons"]:
                yield from self._missing_label(cycle, pod, node)

    def _taint(self, cycle: Cycle, pod: Pod, node: Node) -> Iterator[LogLine]:
        """Upstream: tainttoleration/taint_toleration.go Filter"""
        taint = self._untolerated(pod, node)
        if taint is None:
            return
        taint_members = {"key": taint.key, "value": taint.value, "effect": taint.effect, "timeAdded": taint.time_added}
        members = JsonObject({name: value for name, value in taint_members.items() if value or name in ("key", "effect")})
        values = (("node", ObjectRef(node.name)), pod_ref(cycle.pod), ("untoleratedTaint", members))
        caller, logger = "tainttoleration/taint_toleration.go:130", "FilterWithNominatedPods.Filter.TaintToleration"
        yield self._writer.line(caller, "node had untolerated taints", *values, v=4, cycle_of=cycle.pod, logger=logger)

    def _missing_label(self, cycle: Cycle, pod: Pod, node: Node) -> Iterator[LogLine]:
        """Upstream: podtopologyspread/filtering.go Filter"""
        own = pod.spec.topology_spread_constraints
        keys = [constraint.topology_key for constraint in own if constraint.when_unsatisfiable == "DoNotSchedule"]
        missing = next((key for key in keys if key not in node.metadata.labels), "")
        if missing:
            values = (("node", ObjectRef(node.name)), ("topologyKey", missing))
            caller, logger = "podtopologyspread/filtering.go:333", "FilterWithNominatedPods.Filter.PodTopologySpread"
            message = "Node doesn't have required topology label for spread constraint"
            yield self._writer.line(caller, message, *values, v=5, cycle_of=cycle.pod, logger=logger)

    def _untolerated(self, pod: Pod, node: Node) -> Taint | None:
        compares = self._simulation.scheduler.state.features.taint_toleration_comparison_operators
        return first_untolerated(pod, node, compares=compares)

    def _ignored_extenders(self, cycle: Cycle, record: Record) -> Iterator[LogLine]:
        """Upstream: findNodesThatPassExtenders"""
        for filtered in record.get("extenderFilter") or ():
            if filtered.get("ignored") and filtered.get("error"):
                message = "Skipping extender as it returned error and has ignorable flag set"
                values = (("extender", JsonObject()), ("err", filtered["error"]))
                yield self._writer.line("scheduler/schedule_one.go:914", message, *values, v=0, cycle_of=cycle.pod)

    # Opportunistic batching. Upstream: framework/runtime/batch.go

    def _batch(self, cycle: Cycle) -> _Batch | None:
        if not self._simulation.scheduler.state.features.opportunistic_batching:
            return None
        return self._batches.setdefault(cycle.profile, _Batch())

    def _batch_line(self, cycle: Cycle, line: int, message: str, *values: tuple[str, Any]) -> LogLine:
        head = (("profile", cycle.profile), ("cycleCount", cycle.number))
        return self._writer.line(f"runtime/batch.go:{line}", f"OpportunisticBatch {message}", *head, *values, v=4, cycle_of=cycle.pod)

    def _hint(self, cycle: Cycle, record: Record) -> Iterator[LogLine]:
        """Upstream: GetNodeHint"""
        batch = self._batch(cycle)
        if batch is None:
            return
        hint = record.get("nodeHint") or ""
        head = (("profile", cycle.profile), pod_ref(cycle.pod), ("cycleCount", cycle.number))
        if hint:
            batch.nodes -= 1
            values = (("hint", hint), ("remainingNodes", batch.nodes))
            message = "OpportunisticBatch provided node hint"
            yield self._writer.line("runtime/batch.go:89", message, *head, *values, v=3, cycle_of=cycle.pod)
            return
        if batch.nodes:
            yield self._batch_line(cycle, 157, "found unusable state", ("reason", self._why_unusable(cycle, batch, record)))
        yield self._writer.line("runtime/batch.go:81", "OpportunisticBatch no node hint available for pod", *head, v=4, cycle_of=cycle.pod)

    def _why_unusable(self, cycle: Cycle, batch: _Batch, record: Record) -> str:
        """Upstream: batchStateCompatible"""
        if cycle.number != batch.last_cycle + 1:
            return "pod_skipped"
        if record.get("signature") is None or record.get("signature") != batch.signature:
            return "pod_incompatible"
        if self._writer.at > batch.created + MAX_AGE:
            return "expired"
        return "node_missing" if self._objects.node(batch.last_node) is None else "node_not_full"

    def _store(self, cycle: Cycle, event: StageEnded, record: Record) -> Iterator[LogLine]:
        """Upstream: StoreScheduleResults"""
        batch = self._batch(cycle)
        if batch is None:
            return
        hint, chosen = record.get("nodeHint") or "", str(event.facts.get("node", ""))
        batch.last_cycle, batch.last_node = cycle.number, chosen
        yield self._batch_line(cycle, 107, "set cycle state", ("hintedNode", hint), ("chosenNode", chosen))
        if hint == chosen:
            yield self._batch_line(cycle, 111, "skipping set state because hint was provided", ("chosenNode", chosen))
            return
        if hint:
            yield self._batch_line(cycle, 122, "hint not used", ("hint", hint), ("chosen", chosen))
        stored = (record.get("batch") or {}).get("stored", 0)
        if stored:
            batch.nodes, batch.signature, batch.created = stored, record.get("signature"), self._writer.at
            head = (("profile", cycle.profile), ("nodes", stored), ("cycleCount", cycle.number))
            yield self._writer.line("runtime/batch.go:139", "OpportunisticBatch set batch information", *head, v=4, cycle_of=cycle.pod)
            return
        batch.nodes = 0
        reason = "empty_list" if event.facts.get("reason") == "only one" else "pod_not_batchable"
        yield self._batch_line(cycle, 157, "found unusable state", ("reason", reason))

    # No node fits.

    def _post_filter(self, cycle: Cycle, event: StageEnded) -> Iterator[LogLine]:
        """Upstream: schedulingAlgorithm, RunPostFilterPlugins"""
        if not event.statuses:
            message = "No PostFilter plugins are registered, so no preemption will be performed"
            yield self._writer.line("scheduler/schedule_one.go:289", message, v=3, cycle_of=cycle.pod)
            return
        values = (pod_ref(cycle.pod), ("status", _post_filter_message(event.statuses)))
        message = "Status after running PostFilter plugins for pod"
        if event.statuses[-1].code == "Error":
            yield self._writer.unhandled("scheduler/schedule_one.go:298", message, "", *values, cycle_of=cycle.pod)
            return
        yield self._writer.line("scheduler/schedule_one.go:300", message, *values, v=5, cycle_of=cycle.pod)

    def selected_nothing(self, cycle: Cycle, stage: str, facts: Mapping[str, Any]) -> Iterator[LogLine]:
        """A stage failed; `facts` of the stage that handles that. Upstream: schedulingAlgorithm"""
        if stage in _SELECTING_STAGES and facts.get("reason") == "SchedulerError":
            error, message = str(facts.get("message", "")), "Error selecting node for pod"
            yield self._writer.error("scheduler/schedule_one.go:279", message, error, pod_ref(cycle.pod), cycle_of=cycle.pod)

    def failed(self, cycle: Cycle, facts: Mapping[str, Any]) -> Iterator[LogLine]:
        """The first lines about a failed cycle; `facts` of the stage that handles it. Upstream: handleSchedulingFailure"""
        writer, pod, message = self._writer, cycle.pod, facts.get("message", "")
        if facts.get("reason") == "Unschedulable":
            if message == NO_NODES_AVAILABLE:
                text = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
                yield writer.line("scheduler/schedule_one.go:1235", text, pod_ref(pod), v=2, cycle_of=pod)
            else:
                values = (pod_ref(pod), ("err", message))
                yield writer.line("scheduler/schedule_one.go:1239", "Unable to schedule pod; no fit; waiting", *values, v=2, cycle_of=pod)
        else:
            text = "Error scheduling pod; retrying"
            yield writer.unhandled("scheduler/schedule_one.go:1243", text, message, pod_ref(pod), cycle_of=pod)
        if facts.get("requeued"):
            return
        obj = self._objects.pod(pod)
        if obj is None:
            values = (pod_ref(pod), ("err", f'pod "{ObjectRef.of(pod).name}" not found'))
            yield writer.line("scheduler/schedule_one.go:1250", "Pod doesn't exist in informer cache", *values, v=0, cycle_of=pod)
        elif obj.spec.node_name:
            values = (pod_ref(pod), ("node", obj.spec.node_name))
            text = "Pod has been assigned to node. Abort adding it back to queue."
            yield writer.line("scheduler/schedule_one.go:1256", text, *values, v=0, cycle_of=pod)
        elif obj.uid != cycle.uid:
            uids = (pod_ref(pod), ("oldUID", cycle.uid), ("newUID", obj.uid))
            text = "Pod was recreated while handling scheduling failure. Skip requeueing and status updates."
            yield writer.line("scheduler/schedule_one.go:1260", text, *uids, v=2, cycle_of=pod)

    def not_nominated(self, pod: str, nominating: Mapping[str, Any] | None) -> Iterator[LogLine]:
        """The pod is gone or on a node, so it is not nominated. Upstream: backend/queue/nominator.go addNominatedPodUnlocked"""
        if nominating is None or nominating["mode"] != "override":
            return
        obj = self._objects.pod(pod)
        if obj is None:
            text = "Pod doesn't exist in podLister, aborted adding it to the nominator"
            yield self._writer.line("queue/nominator.go:92", text, pod_ref(pod), v=4, cycle_of=pod)
        elif obj.spec.node_name:
            text = "Pod is already scheduled to a node, aborted adding it to the nominator"
            yield self._writer.line("queue/nominator.go:96", text, pod_ref(pod), ("node", obj.spec.node_name), v=4, cycle_of=pod)

    def updates_status(self, pod: str, nominating: Mapping[str, Any] | None, reason: str) -> Iterator[LogLine]:
        """The scheduler patches the pod's status; `reason` is that of the condition, "": only the nomination. Upstream: updatePod"""
        state = self._simulation.scheduler.state
        if state.api_dispatcher is not None:
            return
        values: tuple[tuple[str, Any], ...] = (pod_ref(pod),)
        if reason:
            values = (*values, ("conditionType", "PodScheduled"), ("conditionStatus", "False"), ("conditionReason", reason))
        if nominating is not None:
            mode = 1 if nominating["mode"] == "override" else 0
            values = (*values, ("nominatedNodeName", nominating["nominatedNodeName"]), ("nominatingMode", mode))
        message = "Updating pod condition and nominated node name"
        yield self._writer.line("scheduler/schedule_one.go:1325", message, *values, v=3, cycle_of=pod)

    def _rejected_by_plugin(self, cycle: Cycle, event: StageEnded) -> Iterator[LogLine]:
        """Upstream: RunReservePluginsReserve, RunPermitPlugins"""
        line = 1879 if event.stage == stages.RESERVE else 1964
        for status in event.statuses:
            if status.code in _REJECTION_CODES:
                values = (pod_ref(cycle.pod), ("plugin", status.plugin), ("status", ", ".join(status.reasons)))
                yield self._writer.line_on_node(
                    f"runtime/framework.go:{line}",
                    "Pod rejected by plugin",
                    *values,
                    v=4,
                    cycle_of=cycle.pod,
                    logger=event.stage,
                    node=cycle.node,
                )
        if event.stage == stages.PERMIT and any(status.code == "Wait" for status in event.statuses):
            message = "One or more plugins asked to wait and no plugin rejected pod"
            yield self._writer.line_on_node(
                "runtime/framework.go:1982", message, pod_ref(cycle.pod), v=4, cycle_of=cycle.pod, logger="Permit", node=cycle.node
            )

    # The binding cycle.

    def binding_stage_ended(self, cycle: Cycle, event: BindingStageEnded, entry: QueuedPod | None) -> Iterator[LogLine]:
        """A stage of the binding cycle ended. `entry`: the pod's last in the queue."""
        writer, pod = self._writer, event.pod
        match event.stage:
            case stages.PRE_BIND_PRE_FLIGHT if "nominatedNode" in event.facts:
                yield from self.updates_status(pod, {"mode": "override", "nominatedNodeName": event.facts["nominatedNode"]}, "")
            case stages.BIND:
                yield from self._bind(cycle, event)
                if event.next_stage == stages.POST_BIND:
                    yield from self._bound(cycle, entry)
            case stages.PRE_BIND:
                for status in event.statuses:
                    if status.code in _REJECTION_CODES:
                        values = (pod_ref(pod), ("node", cycle.node), ("plugin", status.plugin), ("status", ", ".join(status.reasons)))
                        yield writer.line_on_node(
                            "runtime/framework.go:1639",
                            "Pod rejected by PreBind plugin",
                            *values,
                            v=4,
                            cycle_of=pod,
                            logger="PreBind",
                            node=cycle.node,
                        )

    def _bind(self, cycle: Cycle, event: BindingStageEnded) -> Iterator[LogLine]:
        pod = event.pod
        for status in event.statuses:
            if status.plugin == "DefaultBinder":
                values = (pod_ref(pod), ("node", ObjectRef(cycle.node)))
                caller, message = "defaultbinder/default_binder.go:69", "Attempting to bind pod to node"
                yield self._writer.line(caller, message, *values, v=3, cycle_of=pod, logger="Bind.DefaultBinder")
            if status.code == "Error":
                failed = (("plugin", status.plugin), pod_ref(pod), ("node", cycle.node))
                error = ", ".join(status.reasons)
                yield self._writer.error("runtime/framework.go:1805", "Plugin Failed", error, *failed, cycle_of=pod, logger="Bind")
            if status.code in _REJECTION_CODES:
                why = (pod_ref(pod), ("node", cycle.node), ("plugin", status.plugin), ("status", ", ".join(status.reasons)))
                message = "Pod rejected by Bind plugin"
                yield self._writer.line("runtime/framework.go:1800", message, *why, v=4, cycle_of=pod, logger="Bind")
        if event.next_stage != stages.POST_BIND:
            yield self._writer.line("scheduler/schedule_one.go:1182", "Failed to bind pod", pod_ref(pod), v=1, cycle_of=pod)

    def _bound(self, cycle: Cycle, entry: QueuedPod | None) -> Iterator[LogLine]:
        values = (
            pod_ref(cycle.pod),
            ("node", cycle.node),
            ("evaluatedNodes", cycle.evaluated_nodes),
            ("feasibleNodes", cycle.feasible_nodes),
        )
        yield self._writer.line("scheduler/schedule_one.go:481", "Successfully bound pod to node", *values, v=2, cycle_of=cycle.pod)
        if entry is not None and entry.was_flushed_from_unschedulable:
            plugins = (
                ("unschedulablePlugins", plugin_set(entry.unschedulable_plugins)),
                ("pendingPlugins", plugin_set(entry.pending_plugins)),
            )
            message = "Pod scheduled after flush from unschedulablePods"
            yield self._writer.line("scheduler/schedule_one.go:489", message, pod_ref(cycle.pod), *plugins, v=4, cycle_of=cycle.pod)


def _ran(event: StageEnded, plugin: str) -> bool:
    return any(status.plugin == plugin for status in event.statuses)


def _post_filter_message(statuses: list[StatusView]) -> str:
    """Upstream: RunPostFilterPlugins"""
    last = statuses[-1]
    if last.code == "Success":
        return ""
    logged = [last] if last.code in ("UnschedulableAndUnresolvable", "Error") else statuses
    return ", ".join(reason for status in logged for reason in status.reasons)


def first_untolerated(pod: Pod, node: Node, *, compares: bool) -> Taint | None:
    """The first taint that keeps the pod off the node. Upstream: component-helpers FindMatchingUntoleratedTaint"""
    for taint in node.spec.taints:
        if taint.effect in HARD_TAINT_EFFECTS and not tolerations_tolerate_taint_v1_36(pod.spec.tolerations, taint, compares=compares):
            return taint
    return None
