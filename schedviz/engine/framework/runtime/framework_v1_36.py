"""`FrameworkV136`: the plugins of one profile, run as v1.36 runs them.

Upstream: framework/runtime/framework.go frameworkImpl
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import FitError, NodeToStatusMap
from schedviz.engine.framework.fit_error_v1_36 import EXTENDER_NAME, FitErrorV136
from schedviz.engine.framework.interface import (
    ALL_NODES,
    MAX_NODE_SCORE,
    PlacementScoreExtensions,
    PlacementScorePlugin,
    PodGroupDryRun,
    PodGroupPostFilterPlugin,
    PreBindPreFlightPlugin,
    SignPlugin,
)
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.pod_groups import Placement, PodGroupAssignments, PodGroupInfo
from schedviz.engine.framework.runtime.batch import OpportunisticBatch
from schedviz.engine.framework.runtime.framework import Framework, rejected_or_failed
from schedviz.engine.framework.runtime.outcomes import PluginResult, PluginRun, PostFilterOutcome, PreFilterOutcome
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, as_status, unresolvable, unschedulable, wrapped
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo
from schedviz.kube.workloads import PodGroup

#: The events of a plugin that registers for none. Upstream: framework/types.go UnrollWildCardResource
ALL_CLUSTER_EVENTS = tuple(
    ClusterEvent(resource, ActionType.ALL)
    for resource in (
        GVK.POD,
        GVK.NODE,
        GVK.PERSISTENT_VOLUME,
        GVK.PERSISTENT_VOLUME_CLAIM,
        GVK.CSI_NODE,
        GVK.CSI_DRIVER,
        GVK.CSI_STORAGE_CAPACITY,
        GVK.STORAGE_CLASS,
        GVK.RESOURCE_CLAIM,
        GVK.DEVICE_CLASS,
    )
)


class FrameworkV136(Framework):
    """The plugins of one profile, and the parts of the scheduler that they may use."""

    default_events: ClassVar[Sequence[ClusterEvent]] = ALL_CLUSTER_EVENTS
    fit_error_type: ClassVar[type[FitError]] = FitErrorV136
    needs_named_nodes: ClassVar[bool] = False

    def registered_events(self) -> dict[str, list[ClusterEventWithHint]]:
        """What each plugin that can reject a pod has registered for; extenders, which cannot register, get all events.

        Upstream: fillEnqueueExtensions, shouldHaveEnqueueExtensions
        """
        can_reject = {
            plugin.name for point in ("pre_enqueue", "pre_filter", "filter", "reserve", "permit") for plugin in self.plugins.at(point)
        }
        registered = {name: events for name, events in super().registered_events().items() if name in can_reject}
        if self.extenders:
            registered[EXTENDER_NAME] = [ClusterEventWithHint(event) for event in self._all_events]
        return registered

    @property
    def _all_events(self) -> Sequence[ClusterEvent]:
        groups = (ClusterEvent(GVK.POD_GROUP, ActionType.ALL),) if self.features.generic_workload else ()
        return (*self.default_events, *groups)

    @cached_property
    def batch(self) -> OpportunisticBatch | None:
        """The nodes that the last cycle left over; None: opportunistic batching is off."""
        return OpportunisticBatch(self) if self.features.opportunistic_batching else None

    @cached_property
    def _signers(self) -> list[SignPlugin] | None:
        """The plugins that sign pods; None: one that should cannot, or there are extenders. Upstream: computeBatchablePlugins"""
        if self.extenders or self.batch is None:
            return None
        points = ("pre_filter", "filter", "pre_score", "score")
        plugins = {plugin.name: plugin for point in points for plugin in self.plugins.at(point)}
        # Plugins at the end of the list are those that refuse most pods.
        signers = [plugin for plugin in reversed(plugins.values()) if isinstance(plugin, SignPlugin)]
        return signers if len(signers) == len(plugins) else None

    def sign_pod(self, pod: PodInfo) -> bytes | None:
        """Upstream: SignPod"""
        if self._signers is None:
            return None
        fragments: dict[str, object] = {signers.SCHEDULER_NAME: pod.pod.spec.scheduler_name}
        for plugin in self._signers:
            signed = plugin.sign_pod(pod)
            if signed is None:
                return None
            fragments.update(signed)
        return signers.signature(fragments)

    def plugin_that_cannot_sign(self, pod: PodInfo) -> str:
        """The first plugin, in upstream's order, that cannot sign the pod; "": each can, or pods are not signed."""
        return next((plugin.name for plugin in reversed(self._signers or ()) if plugin.sign_pod(pod) is None), "")

    def run_post_filter_plugins(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> PostFilterOutcome:
        """See `Framework.run_post_filter_plugins`; a dry run of workload-aware preemption skips them all."""
        if state.skip_all_post_filter_plugins:
            return PostFilterOutcome(unschedulable("All PostFilter plugins are skipped"))
        return super().run_post_filter_plugins(state, pod, node_to_status)

    def _wait_status(self, pod: PodInfo, plugin_results: Sequence[PluginResult]) -> Status:  # noqa: ARG002
        """What the last plugin returned, with one more reason."""
        last = next(plugin_result.status for plugin_result in reversed(plugin_results) if plugin_result.status.is_wait)
        return last.with_reason("one or more plugins asked to wait and no plugin rejected pod")

    def reject_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """Reject a pod that waits at Permit. False: it does not wait, or a decision was made before. Upstream: RejectWaitingPod"""
        waiting = self.waiting_pods.get(uid)
        return waiting is not None and waiting.reject(plugin, message)

    # Pod groups

    def run_pod_group_post_filter(self, group: PodGroup, pods: Sequence[PodInfo], dry_run: PodGroupDryRun) -> tuple[Status, list[PodInfo]]:
        """Let DefaultPreemption evict pods for a group. Returns its status, and the pods that it evicts."""
        plugin = self.plugins.by_name.get(names.DEFAULT_PREEMPTION)
        if not isinstance(plugin, PodGroupPostFilterPlugin):
            return unschedulable("default preemption plugin is not registered, workload aware preemption is disabled"), []
        return plugin.pod_group_post_filter(group, pods, dry_run)

    def run_placement_generate_plugins(self, group: PodGroupInfo, parent: Placement) -> Sequence[Placement] | Status:
        """The placements in which the group is tried: those of the only plugin, or the parent. Upstream: RunPlacementGeneratePlugins"""
        plugins = self.plugins.at("placement_generate")
        if not plugins:
            return [parent]
        placements: Sequence[Placement] | Status = plugins[0].generate_placements(group, parent)
        if isinstance(placements, Status):
            return placements
        return placements or unschedulable("no feasible placements found").with_failed_plugin(plugins[0].name)

    def run_placement_score_plugins(self, group: PodGroupInfo, assignments: Sequence[PodGroupAssignments]) -> Sequence[int] | Status:
        """The total score of each placement. Upstream: RunPlacementScorePlugins"""
        totals = [0] * len(assignments)
        for plugin in self.plugins.at("placement_score"):
            scores = _placement_scores(plugin, group, assignments)
            if isinstance(scores, Status):
                return scores
            weight = self.plugins.placement_weights[plugin.name]
            for index, score in enumerate(scores):
                if not 0 <= score <= MAX_NODE_SCORE:
                    error = f'plugin "{plugin.name}" returns an invalid score {score}, it should in the range of [0, 100] after normalizing'
                    return as_status(f"applying score defaultWeights on PlacementScore plugins: {error}")
                totals[index] += score * weight
        return totals

    def run_pre_filter_plugins(self, state: CycleState, pod: PodInfo) -> PreFilterOutcome:
        """Run each plugin once. UnschedulableAndUnresolvable ends the run; after Unschedulable the others run, for preemption.

        Upstream: RunPreFilterPlugins
        """
        plugin_results: list[PluginResult] = []
        skipped: set[str] = set()
        with_nodes: set[str] = set()
        result, returned = ALL_NODES, SUCCESS
        state.skip_filter_plugins = frozenset()
        for plugin in self._pre_filter:
            own, status = plugin.pre_filter(state, pod, self.snapshot)
            names = own.node_names if own is not None else None
            plugin_results.append(PluginResult(plugin.name, status, None if names is None else tuple(sorted(names))))
            if status.is_skip:
                skipped.add(plugin.name)
                state.skip_filter_plugins = frozenset(skipped)
                continue
            if not status.is_success:
                if status.code is Code.UNSCHEDULABLE:
                    returned = status.with_failed_plugin(plugin.name)
                    continue
                if status.code is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    status = wrapped(f'running PreFilter plugin "{plugin.name}"', status)
                return PreFilterOutcome(status.with_failed_plugin(plugin.name), tuple(plugin_results))
            if names is not None:
                with_nodes.add(plugin.name)
            result = result.merge(own)
            if result.node_names is not None and not result.node_names:
                return PreFilterOutcome(_no_node_left(with_nodes), tuple(plugin_results), result.node_names, frozenset(with_nodes))
        return PreFilterOutcome(returned, tuple(plugin_results), result.node_names, frozenset(with_nodes))

    @cached_property
    def _pre_flights(self) -> dict[str, PreBindPreFlightPlugin]:
        # Computed once: isinstance of a protocol is slow.
        return {plugin.name: plugin for plugin in self.plugins.at("pre_bind") if isinstance(plugin, PreBindPreFlightPlugin)}

    def run_pre_bind_pre_flights(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Run PreBindPreFlight of each plugin. Success: some PreBind will do something; Skip: none will. Upstream: RunPreBindPreFlights"""
        plugin_results: list[PluginResult] = []
        skipped: set[str] = set()
        returned = SKIP
        for plugin in self._pre_bind:
            ahead = self._pre_flights.get(plugin.name)
            # A plugin of a user, written for an older release, always does something.
            status = SUCCESS if ahead is None else ahead.pre_bind_pre_flight(state, pod, node_name)
            plugin_results.append(PluginResult(plugin.name, status))
            if status.code is Code.ERROR:
                return PluginRun(wrapped(f'running PreBindPreFlight "{plugin.name}"', status), tuple(plugin_results))
            if status.is_success:
                returned = SUCCESS
            elif status.is_skip:
                skipped.add(plugin.name)
            else:
                message = f'PreBindPreFlight {plugin.name} returned "{status.code}", which is unsupported. '
                message += "It is supposed to return Success, Skip, or Error status"
                return PluginRun(as_status(message), tuple(plugin_results))
        state.skip_pre_bind_plugins = frozenset(skipped)
        return PluginRun(returned, tuple(plugin_results))

    def next_pre_bind_plugin(self, state: CycleState, done: Sequence[PluginResult]) -> str:
        """The PreBind plugin that follows those which are `done`; it waits if the run has not ended."""
        plugin: str = self._pre_bind_plugins_to_run(state)[len(done)].name
        return plugin

    def _pre_bind_plugins_to_run(self, state: CycleState) -> list[Any]:
        """Without those that have nothing to do."""
        return [plugin for plugin in self._pre_bind if plugin.name not in state.skip_pre_bind_plugins]

    def status_of_absent_nodes(self, plugins: Iterable[str]) -> Status:
        """Upstream: schedule_one.go findNodesThatFitPod"""
        return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]")

    def run_reserve_plugins_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Run each plugin for the selected node; a rejection keeps its code. Upstream: RunReservePluginsReserve"""
        plugin_results: list[PluginResult] = []
        for plugin in self._reserve:
            status = plugin.reserve(state, pod, node_name)
            plugin_results.append(PluginResult(plugin.name, status))
            if not status.is_success:
                return PluginRun(rejected_or_failed("Reserve", plugin.name, status), tuple(plugin_results))
        return PluginRun(SUCCESS, tuple(plugin_results))


def _placement_scores(
    plugin: PlacementScorePlugin, group: PodGroupInfo, assignments: Sequence[PodGroupAssignments]
) -> Sequence[int] | Status:
    """One plugin's scores of all placements, normalized."""
    scores: list[int] = []
    for assignment in assignments:
        score = plugin.score_placement(group, assignment)
        if isinstance(score, Status):
            error = wrapped(f'plugin "{plugin.name}" failed with', score)
            return wrapped("running PlacementScore plugins", error)
        scores.append(score)
    if not isinstance(plugin, PlacementScoreExtensions):
        return scores
    normalized = plugin.normalize_placement_score(group, scores)
    if isinstance(normalized, Status):
        error = wrapped(f'plugin "{plugin.name}" failed with', normalized)
        return wrapped("running NormalizePlacementScore on PlacementScore plugins", error)
    return normalized


def _no_node_left(plugins: Iterable[str]) -> Status:
    names = sorted(plugins)
    if len(names) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {names[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously")
