"""`FrameworkV136`: the plugins of one profile, run as v1.36 runs them.

Upstream: framework/runtime/framework.go frameworkImpl
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error_v1_36 import EXTENDER_NAME
from schedviz.engine.framework.interface import ALL_NODES, PreBindPreFlightPlugin, SignPlugin
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.runtime.batch import OpportunisticBatch
from schedviz.engine.framework.runtime.framework import Framework, rejected_or_failed
from schedviz.engine.framework.runtime.outcomes import PluginAnswer, PluginRun, PreFilterOutcome
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, as_status, unresolvable, wrapped
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo

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

    def registered_events(self) -> dict[str, list[ClusterEventWithHint]]:
        """What each plugin that can reject a pod has registered for; extenders, which cannot register, get all events.

        Upstream: fillEnqueueExtensions, shouldHaveEnqueueExtensions
        """
        can_reject = {
            plugin.name for point in ("pre_enqueue", "pre_filter", "filter", "reserve", "permit") for plugin in self.plugins.at(point)
        }
        registered = {name: events for name, events in super().registered_events().items() if name in can_reject}
        if self.extenders:
            registered[EXTENDER_NAME] = [ClusterEventWithHint(event) for event in self.default_events]
        return registered

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

    def run_pre_filter_plugins(self, state: CycleState, pod: PodInfo) -> PreFilterOutcome:
        """Run each plugin once. UnschedulableAndUnresolvable ends the run; after Unschedulable the others run, for preemption.

        Upstream: RunPreFilterPlugins
        """
        answers: list[PluginAnswer] = []
        skipped: set[str] = set()
        with_nodes: set[str] = set()
        result, returned = ALL_NODES, SUCCESS
        state.skip_filter_plugins = frozenset()
        for plugin in self._pre_filter:
            own, status = plugin.pre_filter(state, pod, self.snapshot)
            names = own.node_names if own is not None else None
            answers.append(PluginAnswer(plugin.name, status, None if names is None else tuple(sorted(names))))
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
                return PreFilterOutcome(status.with_failed_plugin(plugin.name), tuple(answers))
            if names is not None:
                with_nodes.add(plugin.name)
            result = result.merge(own)
            if result.node_names is not None and not result.node_names:
                return PreFilterOutcome(_no_node_left(with_nodes), tuple(answers), result.node_names, frozenset(with_nodes))
        return PreFilterOutcome(returned, tuple(answers), result.node_names, frozenset(with_nodes))

    @cached_property
    def _pre_flights(self) -> dict[str, PreBindPreFlightPlugin]:
        # Computed once: isinstance of a protocol is slow.
        return {plugin.name: plugin for plugin in self.plugins.at("pre_bind") if isinstance(plugin, PreBindPreFlightPlugin)}

    def run_pre_bind_pre_flights(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Ask each PreBind plugin whether it will do something. Success: one will; Skip: none will. Upstream: RunPreBindPreFlights"""
        answers: list[PluginAnswer] = []
        skipped: set[str] = set()
        returned = SKIP
        for plugin in self._pre_bind:
            ahead = self._pre_flights.get(plugin.name)
            # A plugin of a user, written for an older release, always does something.
            status = SUCCESS if ahead is None else ahead.pre_bind_pre_flight(state, pod, node_name)
            answers.append(PluginAnswer(plugin.name, status))
            if status.code is Code.ERROR:
                return PluginRun(wrapped(f'running PreBindPreFlight "{plugin.name}"', status), tuple(answers))
            if status.is_success:
                returned = SUCCESS
            elif status.is_skip:
                skipped.add(plugin.name)
            else:
                message = f'PreBindPreFlight {plugin.name} returned "{status.code}", which is unsupported. '
                message += "It is supposed to return Success, Skip, or Error status"
                return PluginRun(as_status(message), tuple(answers))
        state.skip_pre_bind_plugins = frozenset(skipped)
        return PluginRun(returned, tuple(answers))

    def next_pre_bind_plugin(self, state: CycleState, done: Sequence[PluginAnswer]) -> str:
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
        answers: list[PluginAnswer] = []
        for plugin in self._reserve:
            status = plugin.reserve(state, pod, node_name)
            answers.append(PluginAnswer(plugin.name, status))
            if not status.is_success:
                return PluginRun(rejected_or_failed("Reserve", plugin.name, status), tuple(answers))
        return PluginRun(SUCCESS, tuple(answers))


def _no_node_left(plugins: Iterable[str]) -> Status:
    names = sorted(plugins)
    if len(names) == 1:
        return unresolvable(f"node(s) didn't satisfy plugin {names[0]}")
    return unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously")
