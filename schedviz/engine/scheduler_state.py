"""`SchedulerState`: the state that the cycles and the event handlers of one scheduler share.

Upstream: pkg/scheduler/scheduler.go Scheduler
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from schedviz.engine.api_dispatcher import ApiDispatcher
from schedviz.engine.cache import Cache, CacheError, Snapshot
from schedviz.engine.clock import Clock
from schedviz.engine.extenders.extender import Extender
from schedviz.engine.features import Features
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.informers import Informers
from schedviz.engine.instructions import Host, PatchPodStatus, RecordEvent
from schedviz.engine.legacy.priority_runner import PrioritiesV114
from schedviz.engine.queue import SchedulingQueue
from schedviz.kube.core import Pod, PodCondition
from schedviz.trace.recorder import Recorder
from schedviz.trace.simulation_settings import TieBreak


class SchedulerState:
    """Cache, queue, snapshot, informers and profiles of one scheduler, with its recorder and host."""

    def __init__(
        self,
        *,
        cache: Cache,
        snapshot: Snapshot,
        queue: SchedulingQueue,
        informers: Informers,
        profiles: Mapping[str, Framework],
        recorder: Recorder,
        clock: Clock,
        host: Host,
        extenders: Sequence[Extender],
        percentage_of_nodes_to_score: int,
        tie_break: TieBreak,
        random_source: random.Random,
        features: Features,
        pod_info: type[PodInfo],
        api_dispatcher: ApiDispatcher | None = None,
        dra_manager: DRAManager | None = None,
        priorities_v1_14: PrioritiesV114 | None = None,
    ) -> None:
        self.features = features
        #: The class of the release's PodInfos.
        self.pod_info = pod_info
        self.cache = cache
        self.snapshot = snapshot
        self.queue = queue
        self.informers = informers
        #: By scheduler name.
        self.profiles = profiles
        self.recorder = recorder
        self.clock = clock
        self.host = host
        #: v1.36, gate SchedulerAsyncAPICalls: makes status patches and bindings; None: the host gets them at once.
        self.api_dispatcher = api_dispatcher
        #: v1.36: claims and devices; None: the release has no dynamic resource allocation.
        self.dra_manager = dra_manager
        #: Ignorable extenders come last.
        self.extenders = extenders
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        #: Which of tied nodes is selected. v1.27.1 knows the first (FORMAT.md, "Frozen choices") and a random one.
        self.tie_break = tie_break
        #: Draws among tied nodes, if `tie_break` says so.
        self.random_source = random_source
        #: v1.14's priorities, if the session's policies name any.
        self.priorities_v1_14 = priorities_v1_14
        self.next_start_node_index = 0
        #: The number of scheduling cycles since the start of the session.
        self.cycle = 0

    def record_event(self, pod: Pod, profile: str, *, type_: str, reason: str, action: str, note: str) -> None:
        """Record a Kubernetes Event about a pod."""
        self.host.carry_out(RecordEvent(pod=pod, type=type_, reason=reason, action=action, note=note, component=profile))

    def patch_pod_status(self, pod: Pod, condition: PodCondition | None = None, nominated_node_name: str | None = None) -> None:
        """Patch a pod's status, now or later. None leaves the condition or the nomination. Upstream: schedule_one.go updatePod"""
        if self.api_dispatcher is not None:
            self.api_dispatcher.patch_pod_status(pod, condition, nominated_node_name)
        else:
            self.host.carry_out(PatchPodStatus(pod, condition, nominated_node_name))

    def known_pod_info(self, pod: Pod) -> PodInfo:
        """The pod's PodInfo, derived from the cache's if possible."""
        pod_state = self.cache.pod_states.get(pod.uid)
        if pod_state is None:
            return self.pod_info(pod)
        return pod_state.info if pod_state.info.pod is pod else pod_state.info.info_of(pod)

    def forget_pod(self, pod: PodInfo) -> str:
        """Forget an assumed pod. Returns the error, or ""."""
        try:
            self.cache.forget_pod(pod)
        except CacheError as error:
            return str(error)
        return ""
