"""The interface of a scheduling queue, and what a queue needs of the profiles. Each release has its own queue.

The interface is that of v1.36; v1.27.1 ignores what it does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

from schedviz.engine.features import Features
from schedviz.engine.framework.interface import NominatingInfo, PreEnqueuePlugin
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.runtime.outcomes import PluginRun
from schedviz.engine.framework.types import ClusterEvent, ClusterEventWithHint, PodInfo, QueuedPodInfo
from schedviz.engine.queue.nominator import Nominator, PodLister
from schedviz.engine.queue.unschedulable_pods import UnschedulablePods
from schedviz.kube.meta import KubeObject
from schedviz.trace.heap import Heap
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import QueueView

#: Whether an event may help the pod, which is asked before the pod is requeued. Upstream's name; it has nothing to do with the extension
#: point PreEnqueue. Upstream: PreEnqueueCheck
PreEnqueueCheck = Callable[[PodInfo], bool]
#: Whether the first pod leaves activeQ before the second. Upstream: LessFunc
Less = Callable[[QueuedPodInfo, QueuedPodInfo], bool]
#: The labels of a namespace; empty if it does not exist.
NamespaceLabels = Callable[[str], Mapping[str, str]]


class QueueProfile(Protocol):
    """What a queue reads of a profile."""

    @property
    def pre_enqueue_plugins(self) -> Iterable[PreEnqueuePlugin]: ...

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        """Whether the first pod leaves activeQ before the second."""
        ...

    def run_pre_enqueue_plugins(self, pod: PodInfo) -> PluginRun: ...

    def cluster_event_map(self) -> Mapping[ClusterEvent, set[str]]:
        """Which plugins have registered for which events."""
        ...

    def sign_pod(self, pod: PodInfo) -> bytes | None:
        """v1.36: equal for pods that the plugins cannot tell apart; None: the pod cannot be signed."""
        ...

    def registered_events(self) -> Mapping[str, Iterable[ClusterEventWithHint]]:
        """What each plugin has registered for, with its hints."""
        ...


#: By scheduler name. The first one orders activeQ.
QueueProfiles = Mapping[str, QueueProfile]


class SchedulingQueue(Protocol):
    """Pending pods and nominated pods. Upstream: backend/queue/scheduling_queue.go SchedulingQueue"""

    @property
    def active_q(self) -> Heap[QueuedPodInfo]: ...

    @property
    def nominator(self) -> Nominator: ...

    @property
    def unschedulable_pods(self) -> UnschedulablePods: ...

    @property
    def scheduling_cycle(self) -> int:
        """The number of popped pods."""
        ...

    @property
    def move_request_cycle(self) -> int:
        """The cycle of the last move request."""
        ...

    @property
    def has_pods_to_pop(self) -> bool: ...

    #: v1.36: whether the pod that was popped last was still backing off.
    popped_from_backoff_q: bool

    def pop(self) -> QueuedPodInfo | None: ...

    def pop_specific_pod(self, key: str) -> QueuedPodInfo | None:
        """v1.36: pop this pod, activating it if need be; None: it cannot be popped."""
        ...

    def done(self, uid: str) -> None:
        """A popped pod is no longer in flight: it has passed Permit, or its attempt ended without a return to a queue."""
        ...

    def add(self, pod: PodInfo) -> None: ...

    def update(self, old: PodInfo, new: PodInfo) -> None: ...

    def delete(self, pod: PodInfo) -> None: ...

    def add_unschedulable_if_not_present(self, queued: QueuedPodInfo, pod_scheduling_cycle: int) -> bool: ...

    def activate(self, keys: Iterable[str]) -> None: ...

    def assigned_pod_added(self, pod: PodInfo) -> None: ...

    def assigned_pod_updated(self, pod: PodInfo) -> None: ...

    def move_all_to_active_or_backoff_queue(
        self,
        event: ClusterEvent,
        pre_check: PreEnqueueCheck | None = None,
        *,
        old: KubeObject | None = None,
        new: KubeObject | None = None,
    ) -> None:
        """Move the pods that may be schedulable after an event about these objects."""
        ...

    def flush_backoff_q_completed(self) -> None: ...

    def flush_unschedulable_pods_leftover(self) -> None: ...

    def add_nominated_pod(self, pod: PodInfo, nominating_info: NominatingInfo | None) -> None: ...

    def delete_nominated_pod_if_exists(self, pod: PodInfo) -> None: ...

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]: ...

    def nominated_node_names(self) -> Collection[str]: ...

    # Times are in nanoseconds of the virtual clock.

    def backoff_expiry(self, queued: QueuedPodInfo) -> int:
        """What orders backoffQ, and what views show; 0 in v1.36: the pod has no backoff. Upstream: getBackoffTime

        v1.36 rounds it down to a whole second, and the pod backs off until that second is over (`backoff_end`).
        """
        ...

    def backoff_end(self, queued: QueuedPodInfo) -> int:
        """The first time at which the pod no longer backs off; 0: it has no backoff. Upstream: isPodBackingoff"""
        ...

    def is_pod_backing_off(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod's backoff is running, in whichever queue it is; in v1.27.1 never for a gated pod. Upstream: isPodBackingoff"""
        ...

    def next_backoff_end(self) -> int | None:
        """The earliest `backoff_end` of the pods in backoffQ, from which on a flush moves one of them, in the past if none has come; None:
        backoffQ is empty.
        """
        ...

    def next_unschedulable_timeout(self) -> int | None:
        """The time after which a flush may move a pod out of unschedulablePods; None: it moves none. It moves no gated pods in v1.36."""
        ...

    def unschedulable_timeout(self, queued: QueuedPodInfo) -> int:
        """The time after which a pod has been in unschedulablePods too long."""
        ...

    def pods_in_backoff_q(self) -> list[QueuedPodInfo]:
        """The pods of backoffQ, whatever heaps it is made of; also those whose backoff has ended, until a flush moves them."""
        ...

    def backoff_heaps(self) -> tuple[Heap[QueuedPodInfo], ...]:
        """The heaps of backoffQ, in the order in which PendingPods lists them."""
        ...

    def queued_pods(self) -> Iterable[QueuedPodInfo]:
        """All pods: those of activeQ, of backoffQ and of unschedulablePods."""
        ...

    def find(self, key: str) -> QueuedPodInfo | None:
        """The pod, in whichever queue it is."""
        ...

    def use_profiles(self, profiles: QueueProfiles, *, pod_initial_backoff_seconds: float, pod_max_backoff_seconds: float) -> None:
        """Use other plugins and other backoffs. Every pod stays in its queue."""
        ...

    def to_view(self) -> QueueView: ...

    @property
    def state_type(self) -> type[Any]:
        """The type of `to_state`'s result."""
        ...

    def to_state(self, table: ObjectTable) -> Any:
        """The state for a checkpoint, as a struct of this queue."""
        ...

    def load(self, state: Any, table: ObjectTable) -> None: ...


class MakeQueue(Protocol):
    """Creates an empty queue."""

    def __call__(
        self,
        recorder: Recorder,
        profiles: QueueProfiles,
        *,
        features: Features,
        now: Callable[[], int],
        pod_lister: PodLister,
        namespace_labels: NamespaceLabels,
        pod_initial_backoff_seconds: float,
        pod_max_backoff_seconds: float,
        pod_max_in_unschedulable_pods_seconds: float,
    ) -> SchedulingQueue: ...
