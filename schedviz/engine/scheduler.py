"""`Scheduler`: cache, queue, profiles and cycles. It takes watch events and time, and produces state changes and instructions.

It has no thread, clock or socket of its own; its `Host` makes all writes.

Upstream: pkg/scheduler/scheduler.go
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from schedviz.engine import stages
from schedviz.engine.api_client import ApiClient
from schedviz.engine.api_dispatcher import ApiDispatcher
from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.cache.podgroup_state import PodGroupState
from schedviz.engine.clock import Clock
from schedviz.engine.cluster.watch import WatchEvent
from schedviz.engine.config import KubeSchedulerConfiguration
from schedviz.engine.extenders.extender import Extender
from schedviz.engine.features import Features
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.installed import registry_for
from schedviz.engine.framework.pod_groups import group_of
from schedviz.engine.framework.runtime import Framework, HandleParts
from schedviz.engine.framework.runtime.batch import OpportunisticBatch
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.runtime.state_transfer import transfer_state
from schedviz.engine.informers import Informers
from schedviz.engine.instructions import Host
from schedviz.engine.legacy.priority_runner import PrioritiesV114
from schedviz.engine.preemption_task import PreemptionTask, PreemptionTasks
from schedviz.engine.queue import Nominator
from schedviz.engine.release import Release
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Pod
from schedviz.kube.kinds import any_object
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import PermitAnswered
from schedviz.trace.policies import Policies
from schedviz.trace.recorder import Recorder
from schedviz.trace.simulation_settings import TieBreak


class Scheduler:
    """One scheduler process. A restart replaces it, and its state is lost."""

    def __init__(
        self,
        configuration: KubeSchedulerConfiguration,
        *,
        recorder: Recorder,
        clock: Clock,
        host: Host,
        assumed_pod_ttl_seconds: float,
        pod_max_in_unschedulable_seconds: float,
        tie_break: TieBreak,
        random_source: random.Random,
        extenders: Sequence[Extender],
        release: Release,
        features: Features,
        policies: Policies,
        seed: int,
    ) -> None:
        """`release` has the policies applied. `seed` is for plugins that draw."""
        self.configuration = configuration
        self._release = release
        informers, snapshot = Informers(), Snapshot()
        dispatcher = ApiDispatcher(host, recorder) if features.scheduler_async_api_calls else None
        #: v1.36: asynchronous preemptions that have not ended.
        self.preemptions = PreemptionTasks(informers.pod, recorder)
        #: v1.36: claims and devices; None: the release has no dynamic resource allocation.
        self.dra_manager = DRAManager(informers, features) if features.dynamic_resource_allocation else None
        self._parts = HandleParts(
            snapshot=snapshot,
            objects=informers,
            nominator=Nominator(recorder, informers.pod),
            client=ApiClient(host, dispatcher),
            clock=clock,
            features=features,
            seed=seed,
            extenders=extenders,
            pod_groups=self,
            activate=self._activate,
            permit_allowed=self._permit_allowed,
            preemptions=self.preemptions,
            dra_manager=self.dra_manager,
            cancel_pre_bind=self._cancel_pre_bind,
        )
        profiles = self._frameworks(configuration, self._parts)
        queue = release.make_queue(
            recorder,
            profiles,
            features=features,
            now=clock,
            pod_lister=informers.pod,
            namespace_labels=informers.namespace_labels,
            pod_initial_backoff_seconds=configuration.pod_initial_backoff_seconds,
            pod_max_backoff_seconds=configuration.pod_max_backoff_seconds,
            pod_max_in_unschedulable_pods_seconds=pod_max_in_unschedulable_seconds,
        )
        # The queue is the nominator. Plugins and queue need each other at construction (upstream: SetPodNominator).
        self._parts = msgspec.structs.replace(self._parts, nominator=queue)
        for framework in profiles.values():
            framework.nominator = queue
        pod_info = release.pod_info(features)
        cache = release.make_cache(recorder, pod_info, ttl_seconds=assumed_pod_ttl_seconds, features=features)
        self.state = SchedulerState(
            cache=cache,
            snapshot=snapshot,
            queue=queue,
            informers=informers,
            profiles=profiles,
            recorder=recorder,
            clock=clock,
            host=host,
            extenders=extenders,
            percentage_of_nodes_to_score=configuration.percentage_of_nodes_to_score,
            tie_break=tie_break,
            random_source=random_source,
            features=features,
            pod_info=pod_info,
            api_dispatcher=dispatcher,
            dra_manager=self.dra_manager,
            priorities_v1_14=PrioritiesV114.of(policies, informers),
        )
        self._handlers = release.make_handlers(self.state)
        #: The running scheduling cycle, of a pod or of a pod group.
        self.cycle: SchedulingCycle | PodGroupCycle | None = None
        #: Binding cycles that have not ended, oldest first, with those that wait for their watch event.
        self.bindings: list[BindingCycle] = []

    def profiles_of(self, configuration: KubeSchedulerConfiguration, extenders: Sequence[Extender]) -> dict[str, Framework]:
        """A framework for each profile of another configuration, by scheduler name. Raises `ConfigurationError`."""
        return self._frameworks(configuration, msgspec.structs.replace(self._parts, snapshot=self.state.snapshot, extenders=extenders))

    def _frameworks(self, configuration: KubeSchedulerConfiguration, parts: HandleParts) -> dict[str, Framework]:
        registry = registry_for(configuration, self._release.in_tree_registry())
        return {profile.scheduler_name: self._release.framework(registry, profile, parts) for profile in configuration.profiles}

    def pod_group(self, group: str) -> PodGroupState:
        """v1.36: the state of a pod group in the cache, for plugins. Raises LookupError."""
        return self.state.cache.pod_group(group)

    def _activate(self, keys: Iterable[str]) -> None:
        self.state.queue.activate(keys)

    def _permit_allowed(self, uid: str, plugin: str) -> None:
        """Record that a plugin allowed a pod whose binding cycle waits at Permit."""
        for binding in self.bindings:
            if binding.assumed.uid == uid:
                self.state.recorder.record_in_cycle(
                    binding.number, PermitAnswered, pod=binding.pod, action="allow", plugins=[plugin], waiting_for=binding.waiting_for
                )

    def reconfigure(
        self, configuration: KubeSchedulerConfiguration, profiles: Mapping[str, Framework], extenders: Sequence[Extender]
    ) -> None:
        """Switch to another configuration and its `profiles_of`. Cache and queue keep their pods, except for profiles that were added or
        removed.

        Only between cycles. Upstream has no equivalent: it reads its configuration when the process starts.
        """
        state = self.state
        before = state.profiles
        for name, framework in profiles.items():
            transfer_state(before.get(name), framework)
        self.configuration = configuration
        state.profiles, state.extenders = profiles, extenders
        state.percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score
        self._handlers = self._release.make_handlers(state)
        for binding in self.bindings:
            # These pods are bound and wait for their watch event, which involves no plugin.
            binding.framework = profiles.get(binding.framework.profile_name, profiles[configuration.profiles[0].scheduler_name])
        self._reconfigure_queue(before)

    def _reconfigure_queue(self, before: Mapping[str, Framework]) -> None:
        state, configuration = self.state, self.configuration
        pods = [pod for pod in state.informers.objects()["Pod"].values() if isinstance(pod, Pod) and not pod.spec.node_name]
        for pod in pods:
            name = pod.spec.scheduler_name
            if name in before and name not in state.profiles:
                state.queue.delete(state.pod_info(pod))
        state.queue.use_profiles(
            state.profiles,
            pod_initial_backoff_seconds=configuration.pod_initial_backoff_seconds,
            pod_max_backoff_seconds=configuration.pod_max_backoff_seconds,
        )
        for pod in pods:
            name = pod.spec.scheduler_name
            if name in state.profiles and name not in before and not state.cache.is_assumed_pod(pod):
                state.queue.add(state.pod_info(pod))

    def replace_cache(self, cache: Cache, snapshot: Snapshot) -> None:
        """Use the cache and the snapshot of a checkpoint."""
        self.state.cache = cache
        self.use_snapshot(snapshot)
        self._handlers = self._release.make_handlers(self.state)

    def use_snapshot(self, snapshot: Snapshot) -> None:
        """Make cycles and plugins read this snapshot."""
        self.state.snapshot = snapshot
        for framework in self.state.profiles.values():
            framework.snapshot = snapshot

    # Watch events.

    def handle(self, event: WatchEvent) -> None:
        """Deliver a watch event to the informers and handlers. Raises `SchedulerExitError` where upstream's process would end."""
        before = self.state.informers.apply(event)
        if event.lost != "handlers":
            # Plugins register their handlers before the scheduler does.
            for framework in self.state.profiles.values():
                framework.object_changed(event.kind, event.verb, event.object)
            self._handlers.handle(event, before)

    def list_one(self, kind: str, obj: KubeObject) -> None:
        """Deliver an object from an informer's first list."""
        self.handle(WatchEvent(0, "ADDED", kind, any_object(obj)))

    # Cycles.

    @property
    def has_pods_to_pop(self) -> bool:
        """Whether the queue has a pod to schedule now."""
        return self.state.queue.has_pods_to_pop

    def begin_cycle(self) -> SchedulingCycle | PodGroupCycle | None:
        """Pop a pod and begin its scheduling cycle, or that of its group; None: there is no pod to pop.

        A pod that no profile schedules leaves the queue without a cycle. Upstream: schedule_one.go ScheduleOne
        """
        state = self.state
        recorder = state.recorder
        recorder.cycle = state.cycle + 1
        while self.has_pods_to_pop:
            queued = state.queue.pop()
            assert queued is not None
            framework = state.profiles.get(queued.pod.spec.scheduler_name)
            if framework is None:
                # It was recreated, during its cycle, for a scheduler that this process does not run.
                state.queue.done(queued.uid)
                continue
            state.cycle += 1
            if state.features.generic_workload and group_of(queued.pod) is not None:
                self.cycle = PodGroupCycle(state, queued, state.cycle)
            else:
                self.cycle = self._release.scheduling_cycle(state, queued, framework, state.cycle)
            self.cycle.begin()
            return self.cycle
        recorder.cycle = 0
        return None

    def begin_binding(self, cycle: SchedulingCycle, *, held: bool) -> BindingCycle:
        """Begin the binding cycle of a scheduled pod; `held`: it waits for a `bind` command."""
        binding = self._release.binding_cycle.after(cycle, held=held)
        self.bindings.append(binding)
        return binding

    @property
    def held_bindings(self) -> list[BindingCycle]:
        """Binding cycles that wait for a `bind` command, oldest first."""
        return [binding for binding in self.bindings if binding.held]

    def waiting_deadline(self) -> int | None:
        """The earliest deadline of a pod that waits at Permit or in PreBind."""
        waiting = [pod for framework in self.state.profiles.values() for pod in framework.waiting_pods.all()]
        deadlines = [pod.deadline for pod in waiting if pod.pending]
        deadlines += [binding.pre_bind_deadline for binding in self.bindings if binding.pre_bind_deadline is not None]
        return min(deadlines, default=None)

    def batches(self) -> dict[str, OpportunisticBatch]:
        """v1.36: what each profile keeps for equal pods, by its name; empty if opportunistic batching is off."""
        frameworks = self.state.profiles.items()
        batches = {name: framework.batch for name, framework in frameworks if isinstance(framework, FrameworkV136)}
        return {name: batch for name, batch in batches.items() if batch is not None}

    def dispatch(self) -> None:
        """Make the pending API calls, if the gate SchedulerAsyncAPICalls is on."""
        if self.state.api_dispatcher is not None:
            self.state.api_dispatcher.dispatch()

    # Asynchronous preemption.

    def run_preemption(self, task: PreemptionTask) -> None:
        """Carry out an asynchronous preemption to its end."""
        profiles = self.state.profiles
        # A profile that was removed meanwhile cannot do it; any other one can.
        framework = profiles.get(task.profile) or profiles[self.configuration.profiles[0].scheduler_name]
        self.preemptions.run(task, framework, self.state.queue.activate)

    def _cancel_pre_bind(self, uid: str, message: str) -> bool:
        """Make the PreBind of an assumed pod fail. False: it is not in PreBind. Upstream: runtime/pods_in_prebind_map.go CancelPod"""
        for binding in self.bindings:
            if binding.assumed.uid == uid and binding.waited and binding.stage == stages.PRE_BIND:
                binding.canceled = message
                return True
        return False

    # Time.

    def flush(self) -> None:
        """Run each of upstream's periodic goroutines once: FORMAT.md, `advance`."""
        now = self.state.clock.now
        self.state.queue.flush_backoff_q_completed()
        self.state.queue.flush_unschedulable_pods_leftover()
        self.state.cache.cleanup_assumed_pods(now)
