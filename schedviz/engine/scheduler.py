"""`Scheduler`: cache, queue, profiles and cycles. It takes watch events and time, and produces state changes and instructions.

It has no thread, clock or socket of its own; its `Host` makes all writes.

Upstream: pkg/scheduler/scheduler.go
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

from schedviz.engine import stages
from schedviz.engine.api_dispatcher import ApiDispatcher
from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import Cache, SchedulerExitError, Snapshot
from schedviz.engine.cache.podgroup_state import PodGroupState, pod_group_of
from schedviz.engine.clock import Clock
from schedviz.engine.cluster.watch import WatchEvent
from schedviz.engine.config import KubeSchedulerConfiguration
from schedviz.engine.extenders.extender import Extender
from schedviz.engine.features import Features
from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.installed import registry_for
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.runtime.batch import OpportunisticBatch
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.runtime.state_transfer import transfer_state
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.informers import Informers
from schedviz.engine.instructions import (
    ApplyPodCondition,
    BindPod,
    DeletePod,
    Host,
    PatchExtendedResourceClaimStatus,
    PatchPodStatus,
    RecordEvent,
    UpdateObject,
    WriteClaim,
)
from schedviz.engine.legacy.priority_runner import ClassicPriorities
from schedviz.engine.preemption_task import PreemptionTask, PreemptionTasks
from schedviz.engine.queue import Nominator
from schedviz.engine.release import Release
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Pod, PodCondition, PodExtendedResourceClaimStatus
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import PermitAnswered
from schedviz.trace.policies import Policies
from schedviz.trace.recorder import Recorder


class ApiClient:
    """The API server's write operations, for plugins."""

    def __init__(self, host: Host, dispatcher: ApiDispatcher | None = None) -> None:
        """`dispatcher`: makes bindings and clears nominations, in an order of its own (v1.36)."""
        self._host = host
        self._dispatcher = dispatcher

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:
        """Write the pod's Binding."""
        if self._dispatcher is not None:
            return self._dispatcher.bind(pod.pod, node_name)
        return self._host.carry_out(BindPod(pod.pod, node_name))

    def update(self, obj: StorageObject) -> StorageObject | StatusError:
        """Replace a volume or a claim. Returns the updated object or the error."""
        return self._host.update_object(UpdateObject(obj))

    def find_claim(self, key: str) -> ResourceClaim | None:
        """The API server's version of a claim."""
        claim = self._host.find("ResourceClaim", key)
        return claim if isinstance(claim, ResourceClaim) else None

    def create_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Create a claim under a generated name."""
        return self._host.write_claim(WriteClaim(claim, "create"))

    def update_claim(self, claim: ResourceClaim, *, status: bool = False) -> ResourceClaim | StatusError:
        """Replace a claim, or only its status."""
        return self._host.write_claim(WriteClaim(claim, "updateStatus" if status else "update"))

    def unreserve_claim(self, claim: ResourceClaim, pod: Pod) -> StatusError | None:
        """Remove a pod from the users of a claim."""
        return _error_of(self._host.write_claim(WriteClaim(claim, "unreserve", pod.uid)))

    def delete_claim(self, claim: ResourceClaim) -> StatusError | None:
        """Delete a claim."""
        return _error_of(self._host.write_claim(WriteClaim(claim, "delete")))

    def patch_extended_resource_claim_status(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> StatusError | None:
        """Show the claim for the pod's extended resources in its status."""
        return self._host.carry_out(PatchExtendedResourceClaimStatus(pod, status))

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:
        """Clear the nomination, if there is one. Upstream: scheduler/util/utils.go ClearNominatedNodeName"""
        if self._dispatcher is not None:
            self._dispatcher.patch_pod_status(pod, None, "")
            return None
        if not pod.status.nominated_node_name:
            return None
        return self._host.carry_out(PatchPodStatus(pod, nominated_node_name=""))

    def patch_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Patch one condition of the pod's status, if it differs."""
        return self._host.carry_out(PatchPodStatus(pod, condition))

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Set one condition of the pod's status."""
        return self._host.carry_out(ApplyPodCondition(pod, condition))

    def delete_pod(self, pod: Pod) -> StatusError | None:
        """Delete a victim of preemption."""
        return self._host.carry_out(DeletePod(pod))

    def record_event(self, pod: Pod, *, profile: str, type_: str, reason: str, action: str, note: str, related: str = "") -> None:
        """Record a Kubernetes Event about a pod."""
        self._host.carry_out(RecordEvent(pod, type_, reason, action, note, component=profile, related=related))


def _error_of(result: ResourceClaim | StatusError) -> StatusError | None:
    return result if isinstance(result, StatusError) else None


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
        random_source: random.Random | None,
        extenders: Sequence[Extender] = (),
        release: Release,
        features: Features = Features(),  # noqa: B008  (frozen)
        policies: Policies = Policies(),  # noqa: B008  (frozen)
        seed: int = 0,
    ) -> None:
        """`release` has the policies applied. `seed` is for plugins that draw."""
        self.configuration = configuration
        self._release = release
        self._seed = seed
        informers, snapshot = Informers(), Snapshot()
        dispatcher = ApiDispatcher(host, recorder) if features.scheduler_async_api_calls else None
        registry, client = registry_for(configuration, release.in_tree_registry()), ApiClient(host, dispatcher)
        nominator = Nominator(recorder, informers.pod)
        #: v1.36: asynchronous preemptions that have not ended.
        self.preemptions = PreemptionTasks(informers.pod, recorder)
        #: v1.36: claims and devices; None: the release has no dynamic resource allocation.
        self.dra_manager = DRAManager(informers, features) if features.dynamic_resource_allocation else None
        profiles = {
            profile.scheduler_name: release.framework(
                registry,
                profile,
                snapshot=snapshot,
                objects=informers,
                nominator=nominator,
                client=client,
                clock=clock,
                features=features,
                seed=seed,
            )
            for profile in configuration.profiles
        }
        for framework in profiles.values():
            framework.extenders = extenders
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
        for framework in profiles.values():
            framework.nominator = queue
            self._share(framework)
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
            random_source=random_source,
            features=features,
            pod_info=pod_info,
            api_dispatcher=dispatcher,
            dra_manager=self.dra_manager,
            classic_priorities=ClassicPriorities.of(policies, informers),
        )
        self._handlers = release.make_handlers(self.state)
        #: The running scheduling cycle, of a pod or of a pod group.
        self.cycle: SchedulingCycle | PodGroupCycle | None = None
        #: Binding cycles that have not ended, oldest first, with those that wait for their watch event.
        self.bindings: list[BindingCycle] = []

    def profiles_of(self, configuration: KubeSchedulerConfiguration) -> dict[str, Framework]:
        """A framework for each profile of another configuration. Raises `ConfigurationError`."""
        state = self.state
        registry = registry_for(configuration, self._release.in_tree_registry())
        profiles = {
            profile.scheduler_name: self._release.framework(
                registry,
                profile,
                snapshot=state.snapshot,
                objects=state.informers,
                nominator=state.queue,
                client=ApiClient(state.host, state.api_dispatcher),
                clock=state.clock,
                features=state.features,
                seed=self._seed,
            )
            for profile in configuration.profiles
        }
        for framework in profiles.values():
            self._share(framework)
        return profiles

    def _share(self, framework: Framework) -> None:
        """Give a framework what the profiles share."""
        framework.pod_groups = self
        framework.activate = self._activate
        framework.permit_allowed = self._permit_allowed
        framework.preemptions = self.preemptions
        framework.dra_manager = self.dra_manager
        framework.cancel_pre_bind = self._cancel_pre_bind

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
            framework.extenders = extenders
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
        self.handle(WatchEvent(0, "ADDED", kind, obj))  # type: ignore[arg-type]  # every kind is an AnyObject

    # Cycles.

    @property
    def has_active_pods(self) -> bool:
        """Whether the queue has a pod to schedule now."""
        return self.state.queue.has_pods_to_pop

    def begin_cycle(self) -> SchedulingCycle | PodGroupCycle | None:
        """Pop a pod and begin its scheduling cycle, or that of its group; None: activeQ is empty.

        A pod that no profile schedules leaves the queue without a cycle. Upstream: schedule_one.go ScheduleOne
        """
        state = self.state
        recorder = state.recorder
        recorder.cycle = state.cycle + 1
        while self.has_active_pods:
            queued = state.queue.pop()
            assert queued is not None
            framework = state.profiles.get(queued.pod.spec.scheduler_name)
            if framework is None:
                # It was recreated, during its cycle, for a scheduler that this process does not run.
                state.queue.done(queued.pod.uid)
                continue
            state.cycle += 1
            if state.features.generic_workload and pod_group_of(queued.pod):
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


__all__ = ["ApiClient", "Scheduler", "SchedulerExitError"]
