"""`Framework`: runs the plugins of one profile at each extension point, in upstream's order and with its messages.

Upstream: framework/runtime/framework.go frameworkImpl
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final

from schedviz.engine.config.types import KubeSchedulerProfile, Plugins
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import FitError, NodeToStatusMap
from schedviz.engine.framework.interface import (
    ALL_NODES,
    BindPlugin,
    DeclaresFilterReads,
    EnqueueExtensions,
    FilterReads,
    HasSumsKey,
    NominatingMode,
    ObjectVerb,
    ObjectWatcher,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    StatefulPlugin,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.filtering import NominatedPods, run_filter_plugins, search
from schedviz.engine.framework.runtime.handle_parts import HandleParts
from schedviz.engine.framework.runtime.outcomes import (
    FilterOutcome,
    PluginResult,
    PluginRun,
    PostFilterOutcome,
    PreFilterOutcome,
    ScoreOutcome,
)
from schedviz.engine.framework.runtime.per_node_adapter import filter_of
from schedviz.engine.framework.runtime.plugin_lists import PluginLists, Registry
from schedviz.engine.framework.runtime.scoring import Scorer, run_score_plugins
from schedviz.engine.framework.runtime.stopwatch import Stopwatch, TimedPlugin
from schedviz.engine.framework.runtime.waiting_pods import WaitingPod, WaitingPods
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, as_status, unresolvable, unschedulable, wrapped
from schedviz.engine.framework.types import (
    GVK,
    NANOS_PER_SECOND,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    NodeInfo,
    PodInfo,
    QueuedPodInfo,
)
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.meta import KubeObject

#: The reason for nodes that a PreFilterResult excludes, in releases that give such nodes no status.
LEFT_OUT_REASON: Final = "node(s) were left out by PreFilter"
#: The longest timeout of a Permit plugin, in nanoseconds. Upstream: maxTimeout
MAX_PERMIT_TIMEOUT: Final = 15 * 60 * NANOS_PER_SECOND

#: The events of a plugin that registers for none.
ALL_CLUSTER_EVENTS: Final = tuple(
    ClusterEvent(resource, ActionType.ALL)
    for resource in (GVK.POD, GVK.NODE, GVK.CSI_NODE, GVK.PERSISTENT_VOLUME, GVK.PERSISTENT_VOLUME_CLAIM, GVK.STORAGE_CLASS)
)


class Framework:
    """The plugins of one profile, and the parts of the scheduler that they may use (it is their `Handle`)."""

    #: What a plugin gets that registers for nothing.
    default_events: ClassVar[Sequence[ClusterEvent]] = ALL_CLUSTER_EVENTS
    #: Formats why no node fits.
    fit_error_type: ClassVar[type[FitError]] = FitError
    #: Whether an attempt ends with an error if PreFilter names a node that does not exist. Upstream: schedule_one.go findNodesThatFitPod
    needs_named_nodes: ClassVar[bool] = True

    def __init__(self, registry: Registry, profile: KubeSchedulerProfile, parts: HandleParts) -> None:
        """Create the profile's plugins. Raises `PluginListsError`."""
        self.profile_name = profile.scheduler_name
        #: None: the value of the configuration.
        self.percentage_of_nodes_to_score = profile.percentage_of_nodes_to_score
        # Attributes of its own, because a dry run replaces some of them in one framework.
        self.snapshot = parts.snapshot
        self.objects = parts.objects
        self.nominator = parts.nominator
        self.client = parts.client
        self.clock = parts.clock
        self.features = parts.features
        self.seed = parts.seed
        self.extenders = parts.extenders
        self.pod_groups = parts.pod_groups
        self.activate = parts.activate
        self.permit_allowed = parts.permit_allowed
        self.preemptions = parts.preemptions
        self.dra_manager = parts.dra_manager
        self.cancel_pre_bind = parts.cancel_pre_bind
        self.waiting_pods = WaitingPods()
        #: Plugins keep details that only full records show.
        self.keeps_details = False
        #: The timer of `sample_plugins`; None: sampling was never on.
        self._sample: Stopwatch | None = None
        self.plugins = PluginLists(registry, profile, self)
        self.pre_enqueue_plugins: list[PreEnqueuePlugin] = self.plugins.at("pre_enqueue")
        self._queue_sort: QueueSortPlugin = self.plugins.at("queue_sort")[0]
        self._pre_filter: list[PreFilterPlugin] = self.plugins.at("pre_filter")
        self._pre_filter_extensions = [plugin for plugin in self._pre_filter if isinstance(plugin, PreFilterExtensions)]
        self._filter = [(plugin.name, filter_of(plugin)) for plugin in self.plugins.at("filter")]
        self._filter_reads = [
            (plugin.name, plugin.filter_reads if isinstance(plugin, DeclaresFilterReads) else _reads_pods)
            for plugin in self.plugins.at("filter")
        ]
        self._sums_keys = {plugin.name: plugin.sums_key for plugin in self.plugins.at("filter") if isinstance(plugin, HasSumsKey)}
        self._post_filter: list[PostFilterPlugin] = self.plugins.at("post_filter")
        self._pre_score: list[PreScorePlugin] = self.plugins.at("pre_score")
        self._score = [Scorer(plugin, self.plugins.weights[plugin.name]) for plugin in self.plugins.at("score")]
        self._reserve: list[ReservePlugin] = self.plugins.at("reserve")
        self._permit: list[PermitPlugin] = self.plugins.at("permit")
        self._pre_bind: list[PreBindPlugin] = self.plugins.at("pre_bind")
        self._bind: list[BindPlugin] = self.plugins.at("bind")
        self._post_bind: list[PostBindPlugin] = self.plugins.at("post_bind")
        # Computed once: isinstance of a protocol is slow.
        self._watchers = [plugin for plugin in self.plugins.by_name.values() if isinstance(plugin, ObjectWatcher)]
        #: Plugins that keep state between pods.
        self.stateful_plugins = [plugin for plugin in self.plugins.by_name.values() if isinstance(plugin, StatefulPlugin)]

    def time_plugins(self, watch: Stopwatch) -> None:
        """Time the plugins of scheduling cycles from now on, and make them keep details."""
        self.keeps_details = True
        self._time_scheduling(watch)

    def sample_plugins(self, clock: Callable[[], float], *, on: bool) -> None:
        """Time plugins until `take_sample`, or stop. Upstream: CycleState.SetRecordPluginMetrics"""
        if self._sample is None:
            if not on:
                return
            self._sample = Stopwatch(clock)
            self._time_scheduling(self._sample)
            self._time_binding(self._sample)
        self._sample.is_on = on

    def take_sample(self) -> dict[str, dict[str, float]]:
        """The times since `sample_plugins`, by extension point and plugin, in the order of the first calls."""
        if self._sample is None or not self._sample.is_on:
            return {}
        self._sample.is_on = False
        return self._sample.drain()

    def _time_scheduling(self, watch: Stopwatch) -> None:
        self._pre_filter = _timed(watch, self._pre_filter, "PreFilter", "pre_filter")
        self._filter = [(name, watch.timed("Filter", name, run_filter)) for name, run_filter in self._filter]
        self._post_filter = _timed(watch, self._post_filter, "PostFilter", "post_filter")
        self._pre_score = _timed(watch, self._pre_score, "PreScore", "pre_score")
        for scorer in self._score:
            scorer.score = watch.timed("Score", scorer.name, scorer.score)
            if scorer.extensions is not None:
                scorer.extensions = _timed(watch, [scorer.extensions], "NormalizeScore", "normalize_score")[0]
        self._reserve = _timed(watch, self._reserve, "Reserve", "reserve")
        self._permit = _timed(watch, self._permit, "Permit", "permit")

    def _time_binding(self, watch: Stopwatch) -> None:
        self._reserve = _timed(watch, self._reserve, "Unreserve", "unreserve")
        self._pre_bind = _timed(watch, self._pre_bind, "PreBind", "pre_bind")
        self._bind = _timed(watch, self._bind, "Bind", "bind")
        self._post_bind = _timed(watch, self._post_bind, "PostBind", "post_bind")

    # --- the profile

    @property
    def has_post_filter_plugins(self) -> bool:
        return bool(self._post_filter)

    @property
    def has_score_plugins(self) -> bool:
        return bool(self._score)

    def list_plugins(self) -> Plugins:
        """The plugins of each extension point."""
        return self.plugins.listed()

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        """Whether the first pod leaves activeQ before the second. Upstream: QueueSortFunc"""
        return self._queue_sort.less(first, second)

    def cluster_event_map(self) -> dict[ClusterEvent, set[str]]:
        """Which plugins have registered for which events. Upstream: fillEventToPluginMap"""
        events: dict[ClusterEvent, set[str]] = {}
        for name, registered in self.registered_events().items():
            for registration in registered:
                events.setdefault(registration.event, set()).add(name)
        return events

    def registered_events(self) -> dict[str, list[ClusterEventWithHint]]:
        """What each plugin has registered for, with its hints."""
        return {
            name: [
                event if isinstance(event, ClusterEventWithHint) else ClusterEventWithHint(event)
                for event in (plugin.events_to_register() if isinstance(plugin, EnqueueExtensions) else self.default_events)
            ]
            for name, plugin in self.plugins.by_name.items()
        }

    def sign_pod(self, pod: PodInfo) -> bytes | None:  # noqa: ARG002 - v1.36 signs pods
        """Equal for pods that the plugins cannot tell apart; None: the pod cannot be signed."""
        return None

    def object_changed(self, kind: str, verb: ObjectVerb, obj: KubeObject) -> None:
        """Pass a change to the plugins that watch objects of this kind."""
        for plugin in self._watchers:
            if kind in plugin.watched_kinds:
                plugin.object_changed(verb, obj)

    # --- the scheduling cycle

    def run_pre_enqueue_plugins(self, pod: PodInfo) -> PluginRun:
        """Run plugins until one rejects the pod. Upstream: internal/queue/scheduling_queue.go runPreEnqueuePlugins"""
        plugin_results = []
        for plugin in self.pre_enqueue_plugins:
            status = plugin.pre_enqueue(pod)
            plugin_results.append(PluginResult(plugin.name, status))
            if not status.is_success:
                return PluginRun(status.with_failed_plugin(plugin.name), tuple(plugin_results))
        return PluginRun(SUCCESS, tuple(plugin_results))

    def run_pre_filter_plugins(self, state: CycleState, pod: PodInfo) -> PreFilterOutcome:
        """Run each plugin once; stop at the first failure, or when no node is left. Upstream: RunPreFilterPlugins"""
        plugin_results: list[PluginResult] = []
        skipped: set[str] = set()
        with_nodes: list[str] = []
        result = ALL_NODES
        for plugin in self._pre_filter:
            own, status = plugin.pre_filter(state, pod, self.snapshot)
            names = own.node_names if own is not None else None
            plugin_results.append(PluginResult(plugin.name, status, None if names is None else tuple(sorted(names))))
            if status.is_skip:
                skipped.add(plugin.name)
                continue
            if not status.is_success:
                if not status.is_unschedulable:
                    status = wrapped(f'running PreFilter plugin "{plugin.name}"', status)
                return PreFilterOutcome(status.with_failed_plugin(plugin.name), tuple(plugin_results))
            if names is not None:
                with_nodes.append(plugin.name)
            result = result.merge(own)
            if result.node_names is not None and not result.node_names:
                return PreFilterOutcome(_no_node_left(with_nodes), tuple(plugin_results))
        state.skip_filter_plugins = frozenset(skipped)
        return PreFilterOutcome(SUCCESS, tuple(plugin_results), result.node_names)

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo
    ) -> Status:
        """Add a pod to PreFilter's data, for a dry run on a node. Upstream: RunPreFilterExtensionAddPod"""
        for plugin in self._pre_filter_extensions:
            if plugin.name not in state.skip_filter_plugins:
                status = plugin.add_pod(state, pod_to_schedule, pod_to_add, node_info)
                if not status.is_success:
                    return wrapped(f'running AddPod on PreFilter plugin "{plugin.name}"', status)
        return SUCCESS

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo
    ) -> Status:
        """Remove a pod from PreFilter's data, for a dry run on a node. Upstream: RunPreFilterExtensionRemovePod"""
        for plugin in self._pre_filter_extensions:
            if plugin.name not in state.skip_filter_plugins:
                status = plugin.remove_pod(state, pod_to_schedule, pod_to_remove, node_info)
                if not status.is_success:
                    return wrapped(f'running RemovePod on PreFilter plugin "{plugin.name}"', status)
        return SUCCESS

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: Rows, want: int) -> FilterOutcome:
        """The first `want` feasible rows, and why earlier rows were rejected; nominated pods are counted.

        `rows` are in the order of the search. A profile without Filter plugins takes the first rows.
        """
        # The key "" has pods whose preemption failed; they are not nominated to a node.
        nodes = {name for name in self.nominator.nominated_node_names() if name} if self._filter else ()
        nominated = None
        if nodes:
            by_sums = self.filter_reads(state, pod) is not FilterReads.PODS
            nominated = NominatedPods(nodes, self.relevant_nominated_pods, self.run_filter_plugins_with_nominated_pods, by_sums)
        return search(self._filter, state, pod, rows, want, nominated)

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, rows: Rows, *, reading: FilterReads = FilterReads.NODE) -> Verdicts:
        """Filter's verdict for each row, without nominated pods, from the plugins that read at least this part of a NodeInfo.

        Upstream: RunFilterPlugins
        """
        plugins = self._filter
        if reading is not FilterReads.NODE:
            affected = {name for name, reads in self._filter_reads if reads(state, pod) >= reading}
            plugins = [plugin for plugin in plugins if plugin[0] in affected]
        return run_filter_plugins(plugins, state, pod, rows)

    def run_each_filter_plugin(self, state: CycleState, pod: PodInfo, rows: Rows) -> Iterator[tuple[str, Verdicts | None]]:
        """The verdicts of each Filter plugin for all rows, evaluated independently; None if it rejects none. Upstream stops at the first
        plugin that rejects.
        """
        for name, run_filter in self._filter:
            yield name, None if name in state.skip_filter_plugins else run_filter(state, pod, rows)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        """The part of a NodeInfo that the Filter plugins together read, for this pod."""
        skipped = state.skip_filter_plugins
        return max((reads(state, pod) for name, reads in self._filter_reads if name not in skipped), default=FilterReads.NODE)

    def filter_sums_key(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """What the Filter plugins that read sums compare with them; None: one of them has no key."""
        keys: list[Hashable] = []
        for name, reads in self._filter_reads:
            if name in state.skip_filter_plugins or reads(state, pod) is FilterReads.NODE:
                continue
            key = self._sums_keys[name](state, pod) if name in self._sums_keys else None
            if key is None:
                return None
            keys.append((name, key))
        return tuple(keys)

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status:
        """Filter's verdict for a node with its nominated pods of the same or a higher priority, and then without.

        The pod must fit both times, because those pods may not arrive. Upstream: RunFilterPluginsWithNominatedPods
        """
        expected = self.relevant_nominated_pods(pod, node_info)
        if expected:
            tried, tried_state = node_info.clone(), state.clone()
            for other in expected:
                tried.add_pod(other)
                status = self.run_pre_filter_extension_add_pod(tried_state, pod, other, tried)
                if not status.is_success:
                    return as_status(status.as_error())
            status = self._filter_node(tried_state, pod, tried)
            if not status.is_success:
                return status
        return self._filter_node(state, pod, node_info)

    def relevant_nominated_pods(self, pod: PodInfo, node_info: NodeInfo) -> list[PodInfo]:
        """Other pods of the same or a higher priority that are nominated to the node. Upstream: addNominatedPods"""
        if node_info.node is None:
            return []
        nominated = self.nominator.nominated_pods_for_node(node_info.name)
        return [other for other in nominated if other.priority >= pod.priority and other.uid != pod.uid]

    def _filter_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status:
        return run_filter_plugins(self._filter, state, pod, Rows.of([node_info]))[0]

    def run_post_filter_plugins(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> PostFilterOutcome:
        """Run plugins until one succeeds, fails, or returns UnschedulableAndUnresolvable. Upstream: RunPostFilterPlugins"""
        plugin_results: list[PluginResult] = []
        results: list[PostFilterResult | None] = []
        # The last result that is not a no-op.
        result: PostFilterResult | None = None
        reasons: list[str] = []
        for plugin in self._post_filter:
            own, status = plugin.post_filter(state, pod, node_to_status)
            plugin_results.append(PluginResult(plugin.name, status))
            results.append(own)
            if status.is_success:
                return PostFilterOutcome(status, tuple(plugin_results), own, tuple(results))
            status = status.with_failed_plugin(plugin.name)
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return PostFilterOutcome(status, tuple(plugin_results), own, tuple(results))
            if not status.is_rejected:
                # Deviation: for Wait and Skip upstream creates a nil Status, and its process panics at the next line.
                error = status.as_error() or f'plugin "{plugin.name}" answered {status.code}, which means nothing at PostFilter'
                failed = as_status(error).with_failed_plugin(plugin.name)
                return PostFilterOutcome(failed, tuple(plugin_results), None, tuple(results))
            if own is not None and own.mode is not NominatingMode.NOOP:
                result = own
            reasons.extend(status.reasons)
        first = plugin_results[0].plugin if plugin_results else ""
        return PostFilterOutcome(unschedulable(*reasons).with_failed_plugin(first), tuple(plugin_results), result, tuple(results))

    def run_pre_score_plugins(self, state: CycleState, pod: PodInfo, rows: Rows) -> PluginRun:
        """Run each plugin with the feasible rows. Upstream: RunPreScorePlugins"""
        plugin_results: list[PluginResult] = []
        skipped: set[str] = set()
        for plugin in self._pre_score:
            status = plugin.pre_score(state, pod, rows)
            plugin_results.append(PluginResult(plugin.name, status))
            if status.is_skip:
                skipped.add(plugin.name)
            elif not status.is_success:
                return PluginRun(wrapped(f'running PreScore plugin "{plugin.name}"', status), tuple(plugin_results))
        state.skip_score_plugins = frozenset(skipped)
        return PluginRun(SUCCESS, tuple(plugin_results))

    def run_score_plugins(self, state: CycleState, pod: PodInfo, rows: Rows) -> ScoreOutcome:
        """Score the rows. Upstream: RunScorePlugins"""
        return run_score_plugins(self._score, state, pod, rows)

    def status_of_absent_nodes(self, plugins: Iterable[str]) -> Status:  # noqa: ARG002 - v1.36 names them
        """The status of nodes that these plugins' PreFilterResults exclude. Upstream v1.27.1 has none, and does not count such nodes."""
        return unresolvable(LEFT_OUT_REASON)

    def run_reserve_plugins_reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Run each plugin for the selected node; after a failure the caller runs Unreserve. Upstream: RunReservePluginsReserve"""
        plugin_results: list[PluginResult] = []
        for plugin in self._reserve:
            status = plugin.reserve(state, pod, node_name)
            plugin_results.append(PluginResult(plugin.name, status))
            if not status.is_success:
                return PluginRun(wrapped(f'running Reserve plugin "{plugin.name}"', status), tuple(plugin_results))
        return PluginRun(SUCCESS, tuple(plugin_results))

    def run_reserve_plugins_unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> list[str]:
        """Run the plugins in reverse order. Returns their names. Upstream: RunReservePluginsUnreserve"""
        for plugin in reversed(self._reserve):
            plugin.unreserve(state, pod, node_name)
        return [plugin.name for plugin in reversed(self._reserve)]

    def run_permit_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Run each plugin; a pod that has to wait is in `waiting_pods` afterwards. Upstream: RunPermitPlugins, AddWaitingPod"""
        outcome, timeouts = self.run_permit_plugins_without_waiting(state, pod, node_name)
        if outcome.status.is_wait:
            self.waiting_pods.add(WaitingPod(pod, timeouts, self.clock()))
        return outcome

    def run_permit_plugins_without_waiting(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[PluginRun, dict[str, int]]:
        """Run each plugin. Returns also how long the pod may have to wait, by plugin, in nanoseconds."""
        plugin_results: list[PluginResult] = []
        timeouts: dict[str, int] = {}
        for plugin in self._permit:
            status, timeout = plugin.permit(state, pod, node_name)
            plugin_results.append(PluginResult(plugin.name, status))
            if status.is_rejected:
                return PluginRun(status.with_failed_plugin(plugin.name), tuple(plugin_results)), {}
            if status.is_wait:
                timeouts[plugin.name] = min(timeout, MAX_PERMIT_TIMEOUT)
                plugin_results[-1] = PluginResult(plugin.name, status, timeout=timeouts[plugin.name])
            elif not status.is_success:
                failed = wrapped(f'running Permit plugin "{plugin.name}"', status).with_failed_plugin(plugin.name)
                return PluginRun(failed, tuple(plugin_results)), {}
        if not timeouts:
            return PluginRun(SUCCESS, tuple(plugin_results)), {}
        return PluginRun(self._wait_status(pod, plugin_results), tuple(plugin_results)), timeouts

    def _wait_status(self, pod: PodInfo, plugin_results: Sequence[PluginResult]) -> Status:  # noqa: ARG002 - v1.36 shows the last plugin_result
        return Status(Code.WAIT, (f'one or more plugins asked to wait and no plugin rejected pod "{pod.name}"',))

    # --- the binding cycle

    def reject_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """Reject a pod that waits at Permit. False: it does not wait. Upstream: RejectWaitingPod"""
        waiting = self.waiting_pods.get(uid)
        if waiting is None:
            return False
        waiting.reject(plugin, message)
        return True

    def allow_waiting_pod(self, uid: str, plugin: str) -> None:
        """v1.36: allow a pod for a plugin, if it waits at Permit for it."""
        waiting = self.waiting_pods.get(uid)
        if waiting is not None and plugin in waiting.pending:
            waiting.allow(plugin)
            self.permit_allowed(uid, plugin)

    def preempt_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """v1.36: make the binding of a pod that waits at Permit fail; it is tried again. False: the pod does not wait.

        Upstream: framework/runtime/waiting_pods_map.go waitingPod.Preempt
        """
        waiting = self.waiting_pods.get(uid)
        return waiting is not None and waiting.preempt(plugin, message)

    def wait_on_permit(self, pod: PodInfo) -> Status | None:
        """The result of waiting; None: the pod still waits. Upstream: WaitOnPermit"""
        waiting = self.waiting_pods.get(pod.uid)
        if waiting is None:
            return SUCCESS
        waiting.expire(self.clock())
        signal = waiting.signal
        if signal is None:
            return None
        self.waiting_pods.remove(pod.uid)
        if signal.is_success or signal.is_unschedulable:
            return signal
        return wrapped("waiting on permit for pod", signal).with_failed_plugin(signal.failed_plugin)

    def run_pre_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str, done: Sequence[PluginResult] = ()) -> PluginRun:
        """Run each plugin. Wait: a plugin has to wait; call again with the results that are `done`.

        Upstream: RunPreBindPlugins
        """
        plugin_results = list(done)
        for plugin in self._pre_bind_plugins_to_run(state)[len(done) :]:
            status = plugin.pre_bind(state, pod, node_name)
            if status is None:
                return PluginRun(Status(Code.WAIT), tuple(plugin_results))
            plugin_results.append(PluginResult(plugin.name, status))
            if not status.is_success:
                return PluginRun(rejected_or_failed("PreBind", plugin.name, status), tuple(plugin_results))
        return PluginRun(SUCCESS, tuple(plugin_results))

    def _pre_bind_plugins_to_run(self, state: CycleState) -> list[Any]:  # noqa: ARG002 - v1.27.1 runs them all
        return self._pre_bind

    def run_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> PluginRun:
        """Run plugins until one does not skip the pod; if all do, the last one's status counts. Upstream: RunBindPlugins"""
        plugin_results: list[PluginResult] = []
        status = SKIP
        for plugin in self._bind:
            status = plugin.bind(state, pod, node_name)
            plugin_results.append(PluginResult(plugin.name, status))
            if status.is_skip:
                continue
            if not status.is_success:
                status = rejected_or_failed("Bind", plugin.name, status)
            return PluginRun(status, tuple(plugin_results))
        return PluginRun(status, tuple(plugin_results))

    def run_post_bind_plugins(self, state: CycleState, pod: PodInfo, node_name: str) -> list[str]:
        """Run each plugin. Returns their names. Upstream: RunPostBindPlugins"""
        for plugin in self._post_bind:
            plugin.post_bind(state, pod, node_name)
        return [plugin.name for plugin in self._post_bind]


def _timed(watch: Stopwatch, plugins: Iterable[Any], point: str, method: str) -> list[Any]:
    return [TimedPlugin(watch, point, plugin, method) for plugin in plugins]


def _reads_pods(state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG001 - the extension point's shape
    """What a Filter plugin reads that does not declare it."""
    return FilterReads.PODS


def rejected_or_failed(point: str, plugin: str, status: Status) -> Status:
    if status.is_rejected:
        return status.with_failed_plugin(plugin)
    return wrapped(f'running {point} plugin "{plugin}"', status)


def _no_node_left(plugins: list[str]) -> Status:
    if len(plugins) == 1:
        return unschedulable(f"node(s) didn't satisfy plugin {plugins[0]}")
    return unschedulable(f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously")
