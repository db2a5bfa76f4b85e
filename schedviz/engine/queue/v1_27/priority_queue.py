"""The scheduling queue.

- `active_q`: pods that can be scheduled now, the highest priority first. `pop` takes from here.
- `backoff_q`: pods that failed, were moved by an event, and wait for their backoff to end.
- `unschedulable_pods`: pods that failed and wait for an event that may help, and pods that a PreEnqueue plugin gates.

A pod that is being scheduled is in none of them.

Upstream: internal/queue/scheduling_queue.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

import msgspec

from schedviz.engine.features import Features
from schedviz.engine.framework.object_table import ObjectTable, QueuedPodState
from schedviz.engine.framework.types import NANOS_PER_SECOND, ClusterEvent, PodInfo, QueuedPodInfo
from schedviz.engine.queue import unlabelled_causes
from schedviz.engine.queue.interface import Less, NamespaceLabels, PreEnqueueCheck, QueueProfiles
from schedviz.engine.queue.nominator import NominatesPods, Nominator, NominatorState, PodLister
from schedviz.engine.queue.queued_pod_view import queued_pod_view
from schedviz.engine.queue.unschedulable_pods import UnschedulablePods, full_name_of
from schedviz.engine.queue.v1_27 import events
from schedviz.engine.queue.v1_27.backoff import Backoff
from schedviz.engine.queue.v1_27.events import ClusterEventMap, merged_event_map
from schedviz.kube.core import Pod, PodStatus
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import QueueMove, QueueMoved, QueueName
from schedviz.trace.heap import Heap
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import QueuedPod, QueueView

#: Returns the PreEnqueue plugin that gates the pod; None: no plugin gates it.
FindGatingPlugin = Callable[[PodInfo], str | None]


class SchedulingQueueState(msgspec.Struct, frozen=True):
    """A queue in a checkpoint; the heaps as arrays."""

    active_q: list[QueuedPodState]
    backoff_q: list[QueuedPodState]
    unschedulable_pods: list[QueuedPodState]
    nominator: NominatorState
    scheduling_cycle: int
    move_request_cycle: int


class PriorityQueue(NominatesPods):
    """Pending pods and nominated pods. Every call that changes something records it.

    Where upstream's order is that of a map, pods are moved in order of their full name. Upstream: scheduling_queue.go PriorityQueue
    """

    popped_from_backoff_q = False

    def __init__(
        self,
        recorder: Recorder,
        *,
        now: Callable[[], int],
        less: Less,
        find_gating_plugin: FindGatingPlugin,
        cluster_event_map: Mapping[ClusterEvent, Iterable[str]],
        pod_lister: PodLister,
        namespace_labels: NamespaceLabels,
        pod_initial_backoff_seconds: float = 1,
        pod_max_backoff_seconds: float = 10,
        pod_max_in_unschedulable_pods_seconds: float = 300,
    ) -> None:
        self._recorder = recorder
        self.nominator = Nominator(recorder, pod_lister)
        self._now = now
        self._namespace_labels = namespace_labels
        self._find_gating_plugin = find_gating_plugin
        self._waiting_plugins = ClusterEventMap(cluster_event_map)
        self._backoff = Backoff(pod_initial_backoff_seconds, pod_max_backoff_seconds)
        self._pod_max_in_unschedulable_pods = round(pod_max_in_unschedulable_pods_seconds * NANOS_PER_SECOND)
        self.active_q: Heap[QueuedPodInfo] = Heap(_key, less)
        self.backoff_q: Heap[QueuedPodInfo] = Heap(_key, self._leaves_backoff_before)
        self.unschedulable_pods = UnschedulablePods()
        #: The number of popped pods.
        self.scheduling_cycle = 0
        #: The cycle of the last move request: a pod whose attempt was running then backs off instead of waiting for an event.
        self.move_request_cycle = -1
        self._recorded_move_request_cycle = -1

    def use_profiles(self, profiles: QueueProfiles, *, pod_initial_backoff_seconds: float, pod_max_backoff_seconds: float) -> None:
        """Use other plugins and other backoffs. Every pod stays in its queue; heaps are rebuilt if the order changed.

        Gated pods are checked again at their next event, as always. Upstream has no equivalent.
        """
        before = {queued.key: self._entry(queued) for queue in (self.active_q, self.backoff_q, self.unschedulable_pods) for queued in queue}
        self._find_gating_plugin = _find_gating_plugin(profiles)
        self._waiting_plugins = ClusterEventMap(merged_event_map(profiles))
        self._backoff = Backoff(pod_initial_backoff_seconds, pod_max_backoff_seconds)
        self.active_q.less = _less(profiles)
        moves: list[QueueMove] = []
        heaps: tuple[tuple[QueueName, Heap[QueuedPodInfo]], ...] = (("activeQ", self.active_q), ("backoffQ", self.backoff_q))
        for name, heap in heaps:
            changed = [queued for queued in heap if self._entry(queued) != before[queued.key]]
            if heap.is_in_order:
                moves += [self._changed_in_place(queued, name) for queued in changed]
                continue
            pods = list(heap)
            heap.load([])
            for queued in pods:
                heap.add(queued)
            moves += [QueueMove(pod=queued.key, source=name) for queued in pods]
            moves += [QueueMove(pod=queued.key, target=name, entry=self._entry(queued)) for queued in pods]
        moves += [
            self._changed_in_place(queued, "unschedulable")
            for queued in self.unschedulable_pods
            if self._entry(queued) != before[queued.key]
        ]
        self._record_moves(unlabelled_causes.CONFIGURE, moves)

    # Adding and removing pods

    @property
    def has_pods_to_pop(self) -> bool:
        """Whether activeQ has a pod."""
        return len(self.active_q) > 0

    def pop_specific_pod(self, key: str) -> QueuedPodInfo | None:  # noqa: ARG002
        """None: v1.27.1 has no pod groups."""
        return None

    def done(self, uid: str) -> None:
        """Nothing: v1.27.1 does not track pods in flight."""

    def add(self, pod: PodInfo) -> None:
        """Add a new pod. Upstream: scheduling_queue.go Add"""
        queued = QueuedPodInfo(pod, timestamp=self._now())
        moves: list[QueueMove] = []
        added = self._add_to_active_q(queued, moves, leaving=("unschedulable", "backoffQ"), is_changed=True)
        self._record_moves(events.POD_ADD, moves)
        if added:
            self.nominator.add_nominated_pod(pod, None)

    def pop(self) -> QueuedPodInfo | None:
        """Remove and return the first pod of activeQ; None: it is empty. Upstream: scheduling_queue.go Pop"""
        if not len(self.active_q):
            return None
        queued = self.active_q.pop()
        queued.attempts += 1
        self.scheduling_cycle += 1
        self._record_moves(unlabelled_causes.POP, [QueueMove(pod=queued.key, source="activeQ", popped=True)])
        return queued

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """Replace a pod by a newer version. A pod in unschedulablePods is retried if more than its status changed.

        Upstream: scheduling_queue.go Update
        """
        heaps: tuple[tuple[QueueName, Heap[QueuedPodInfo]], ...] = (("activeQ", self.active_q), ("backoffQ", self.backoff_q))
        for name, heap in heaps:
            queued = heap.get(old.key)
            if queued is not None:
                queued.pod_info = queued.pod_info.updated(new)
                self.nominator.update_nominated_pod(old, queued.pod_info)
                heap.add(queued)
                self._record_moves(events.POD_UPDATE, [self._changed_in_place(queued, name)])
                return
        moves: list[QueueMove] = []
        queued = self.unschedulable_pods.get(new.key)
        if queued is None:
            queued = QueuedPodInfo(new, timestamp=self._now())
            added = self._add_to_active_q(queued, moves, is_changed=True)
            self._record_moves(events.POD_UPDATE, moves)
            if added:
                self.nominator.add_nominated_pod(new, None)
            return
        queued.pod_info = queued.pod_info.updated(new)
        self.nominator.update_nominated_pod(old, queued.pod_info)
        if not is_pod_updated(old.pod, new.pod):
            self.unschedulable_pods.add_or_update(queued)
            moves.append(self._changed_in_place(queued, "unschedulable"))
        elif self.is_pod_backing_off(queued):
            self.backoff_q.add(queued)
            self.unschedulable_pods.delete(queued.key)
            moves.append(QueueMove(pod=queued.key, source="unschedulable", target="backoffQ", entry=self._entry(queued)))
        else:
            self._add_to_active_q(queued, moves, leaving=("unschedulable",), is_changed=True)
        self._record_moves(events.POD_UPDATE, moves)

    def delete(self, pod: PodInfo) -> None:
        """Remove a pod that was deleted or assigned. Upstream: scheduling_queue.go Delete"""
        self.nominator.delete_nominated_pod_if_exists(pod)
        if self.active_q.delete(pod.key) is not None:
            self._record_moves(unlabelled_causes.POD_DELETE, [QueueMove(pod=pod.key, source="activeQ")])
            return
        moves = []
        if self.backoff_q.delete(pod.key) is not None:
            moves.append(QueueMove(pod=pod.key, source="backoffQ"))
        if pod.key in self.unschedulable_pods:
            self.unschedulable_pods.delete(pod.key)
            moves.append(QueueMove(pod=pod.key, source="unschedulable"))
        self._record_moves(unlabelled_causes.POD_DELETE, moves)

    def add_unschedulable_if_not_present(self, queued: QueuedPodInfo, pod_scheduling_cycle: int) -> bool:
        """Add a pod again after a failed attempt. False: an update has already added it.

        If pods were moved during the attempt, the pod backs off; otherwise it waits for an event. Upstream: scheduling_queue.go
        AddUnschedulableIfNotPresent
        """
        key = queued.key
        if key in self.unschedulable_pods or key in self.active_q or key in self.backoff_q:
            return False
        queued.timestamp = self._now()
        target: QueueName
        if self.move_request_cycle >= pod_scheduling_cycle:
            self.backoff_q.add(queued)
            target = "backoffQ"
        else:
            self.unschedulable_pods.add_or_update(queued)
            target = "unschedulable"
        self._record_moves(events.SCHEDULE_ATTEMPT_FAILURE, [QueueMove(pod=key, target=target, entry=self._entry(queued))])
        self.nominator.add_nominated_pod(queued.pod_info, None)
        return True

    def activate(self, keys: Iterable[str]) -> None:
        """Move pending pods to activeQ at a plugin's request, in order of full name. Upstream: scheduling_queue.go Activate"""
        waiting = [
            queued
            for key in keys
            if key not in self.active_q and (queued := self.unschedulable_pods.get(key) or self.backoff_q.get(key)) is not None
        ]
        moves: list[QueueMove] = []
        activated = [
            queued
            for queued in sorted(waiting, key=full_name_of)
            if self._add_to_active_q(queued, moves, leaving=("unschedulable", "backoffQ"))
        ]
        self._record_moves(events.FORCE_ACTIVATE, moves)
        for queued in activated:
            self.nominator.add_nominated_pod(queued.pod_info, None)

    # Moving pods

    def assigned_pod_added(self, pod: PodInfo) -> None:
        """Move pods whose required affinity matches a pod that was assigned. Upstream: scheduling_queue.go AssignedPodAdded"""
        self._move_pods(self._with_matching_affinity_term(pod), events.ASSIGNED_POD_ADD)

    def assigned_pod_updated(self, pod: PodInfo) -> None:
        """Move pods whose required affinity matches an assigned pod that changed. Upstream: scheduling_queue.go AssignedPodUpdated"""
        self._move_pods(self._with_matching_affinity_term(pod), events.ASSIGNED_POD_UPDATE)

    def move_all_to_active_or_backoff_queue(
        self,
        event: ClusterEvent,
        pre_check: PreEnqueueCheck | None = None,
        *,
        old: KubeObject | None = None,  # noqa: ARG002 - without hints the objects decide nothing
        new: KubeObject | None = None,  # noqa: ARG002
    ) -> None:
        """Move the pods that may be schedulable after an event: their plugins wait for it, and `pre_check` accepts them.

        Upstream: scheduling_queue.go MoveAllToActiveOrBackoffQueue
        """
        self._move_pods(self.unschedulable_pods, event, pre_check)

    def flush_backoff_q_completed(self) -> None:
        """Move pods whose backoff has ended to activeQ. Upstream: scheduling_queue.go flushBackoffQCompleted"""
        moves: list[QueueMove] = []
        while (queued := self.backoff_q.peek()) is not None and not self.is_pod_backing_off(queued):
            self.backoff_q.pop()
            self._add_to_active_q(queued, moves, popped_from="backoffQ")
        self._record_moves(events.BACKOFF_COMPLETE, moves)

    def flush_unschedulable_pods_leftover(self) -> None:
        """Move pods that have been in unschedulablePods too long. Upstream: scheduling_queue.go flushUnschedulablePodsLeftover"""
        cutoff = self._now() - self._pod_max_in_unschedulable_pods
        leftover = [queued for queued in self.unschedulable_pods if queued.timestamp < cutoff]
        if leftover:
            self._move_pods(leftover, events.UNSCHEDULABLE_TIMEOUT)

    # Times

    def backoff_expiry(self, queued: QueuedPodInfo) -> int:
        """When a pod's backoff expires. Upstream: scheduling_queue.go getBackoffTime"""
        return self._backoff.expiry(queued)

    def backoff_end(self, queued: QueuedPodInfo) -> int:
        """The first time at which the pod no longer backs off; 0: it is gated. Upstream: scheduling_queue.go isPodBackingoff"""
        return 0 if queued.gated else self.backoff_expiry(queued)

    def is_pod_backing_off(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod's backoff is running; never for a gated pod. Upstream: scheduling_queue.go isPodBackingoff"""
        return self._now() < self.backoff_end(queued)

    def next_backoff_end(self) -> int | None:
        """The first time at which a flush moves a pod out of backoffQ; None: backoffQ is empty."""
        first = self.backoff_q.peek()
        return None if first is None else self.backoff_end(first)

    def next_unschedulable_timeout(self) -> int | None:
        """The time after which a flush moves a pod out of unschedulablePods; None: it moves none."""
        return min(map(self.unschedulable_timeout, self.unschedulable_pods), default=None)

    def unschedulable_timeout(self, queued: QueuedPodInfo) -> int:
        """The time after which a pod has been in unschedulablePods too long. Upstream: flushUnschedulablePodsLeftover"""
        return queued.timestamp + self._pod_max_in_unschedulable_pods

    # The moves of one pod

    def _move_pods(self, pods: Iterable[QueuedPodInfo], event: ClusterEvent, pre_check: PreEnqueueCheck | None = None) -> None:
        """Upstream: scheduling_queue.go movePodsToActiveOrBackoffQueue"""
        moves: list[QueueMove] = []
        # Any event may help a pod that no plugin rejected: it failed because of an error or an extender.
        concerned = [
            queued
            for queued in pods
            if (not queued.unschedulable_plugins or self._waiting_plugins.may_help(event, queued))
            and (pre_check is None or pre_check(queued.pod_info))
        ]
        for queued in sorted(concerned, key=full_name_of):
            if self.is_pod_backing_off(queued):
                self.backoff_q.add(queued)
                self.unschedulable_pods.delete(queued.key)
                moves.append(QueueMove(pod=queued.key, source="unschedulable", target="backoffQ"))
            else:
                self._add_to_active_q(queued, moves, leaving=("unschedulable",))
        self.move_request_cycle = self.scheduling_cycle
        self._record_moves(event.label, moves)

    def _add_to_active_q(
        self,
        queued: QueuedPodInfo,
        moves: list[QueueMove],
        *,
        leaving: Sequence[QueueName] = (),
        popped_from: QueueName | None = None,
        is_changed: bool = False,
    ) -> bool:
        """Add a pod to activeQ and remove it from its other queue. False: a plugin gated it, and it is in unschedulablePods.

        `is_changed`: no event has recorded the pod's present members yet. Upstream: scheduling_queue.go addToActiveQ
        """
        key = queued.key
        before = None if is_changed else self._entry(queued)
        gating_plugin = self._find_gating_plugin(queued.pod_info)
        queued.gated = gating_plugin is not None
        sources: list[QueueName] = [popped_from] if popped_from is not None else []
        target: QueueName
        if gating_plugin is not None:
            queued.unschedulable_plugins.add(gating_plugin)
            target = "unschedulable"
            if key in self.unschedulable_pods:
                sources.append(target)
            self.unschedulable_pods.add_or_update(queued)
        else:
            target = "activeQ"
            if key in self.active_q:
                sources.append(target)
            self.active_q.add(queued)
            sources += [name for name in leaving if self._leave(name, key)]
        entry = self._entry(queued)
        if not (target in sources and entry == before):
            moves += _moves(key, sources, target, None if entry == before and sources else entry, popped=popped_from is not None)
        return gating_plugin is None

    def _leave(self, name: QueueName, key: str) -> bool:
        """Remove the pod from a queue; whether it was there."""
        if name == "backoffQ":
            return self.backoff_q.delete(key) is not None
        was_there = key in self.unschedulable_pods
        self.unschedulable_pods.delete(key)
        return was_there

    def _with_matching_affinity_term(self, pod: PodInfo) -> list[QueuedPodInfo]:
        """Upstream: scheduling_queue.go getUnschedulablePodsWithMatchingAffinityTerm"""
        waiting = self.unschedulable_pods.with_required_affinity()
        if not waiting:
            return []
        labels = self._namespace_labels(pod.namespace)
        return [queued for queued in waiting if any(term.matches(pod.pod, labels) for term in queued.pod_info.required_affinity_terms)]

    def _leaves_backoff_before(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool:
        return self.backoff_expiry(first) < self.backoff_expiry(second)

    # Recording, views, checkpoints

    def pods_in_backoff_q(self) -> list[QueuedPodInfo]:
        """The pods of backoffQ, in the order of its array."""
        return list(self.backoff_q)

    def backoff_heaps(self) -> tuple[Heap[QueuedPodInfo], ...]:
        """backoffQ is one heap."""
        return (self.backoff_q,)

    def queued_pods(self) -> Iterable[QueuedPodInfo]:
        """All pods: those of activeQ, of backoffQ and of unschedulablePods."""
        return chain(self.active_q, self.backoff_q, self.unschedulable_pods)

    def find(self, key: str) -> QueuedPodInfo | None:
        """The pod, in whichever queue it is."""
        return self.active_q.get(key) or self.backoff_q.get(key) or self.unschedulable_pods.get(key)

    def _entry(self, queued: QueuedPodInfo) -> QueuedPod:
        return queued_pod_view(queued, backoff_expiry=self.backoff_expiry(queued))

    def _changed_in_place(self, queued: QueuedPodInfo, name: QueueName) -> QueueMove:
        return QueueMove(pod=queued.key, source=name, target=name, entry=self._entry(queued))

    def _record_moves(self, cause: str, moves: list[QueueMove]) -> None:
        if not moves and self.move_request_cycle == self._recorded_move_request_cycle:
            return
        self._recorded_move_request_cycle = self.move_request_cycle
        self._recorder.record(
            QueueMoved, cause=cause, moves=moves, scheduling_cycle=self.scheduling_cycle, move_request_cycle=self.move_request_cycle
        )

    def to_view(self) -> QueueView:
        """The queue as a view shows it."""
        return QueueView(
            active_q=[self._entry(queued) for queued in self.active_q],
            backoff_q=[self._entry(queued) for queued in self.backoff_q],
            unschedulable=[self._entry(queued) for queued in self.unschedulable_pods],
            nominated=self.nominator.to_view(),
            scheduling_cycle=self.scheduling_cycle,
            move_request_cycle=self.move_request_cycle,
        )

    @property
    def state_type(self) -> type[SchedulingQueueState]:
        """The type of `to_state`'s result."""
        return SchedulingQueueState

    def to_state(self, table: ObjectTable) -> SchedulingQueueState:
        """The state for a checkpoint."""
        save = table.queued_pod_state
        return SchedulingQueueState(
            active_q=[save(queued) for queued in self.active_q],
            backoff_q=[save(queued) for queued in self.backoff_q],
            unschedulable_pods=[save(queued) for queued in self.unschedulable_pods],
            nominator=self.nominator.to_state(table),
            scheduling_cycle=self.scheduling_cycle,
            move_request_cycle=self.move_request_cycle,
        )

    def load(self, state: SchedulingQueueState, table: ObjectTable) -> None:
        """Load the state of `to_state` into a new queue with the same arguments."""
        self.active_q.load(table.queued_pod(pod) for pod in state.active_q)
        self.backoff_q.load(table.queued_pod(pod) for pod in state.backoff_q)
        for pod in state.unschedulable_pods:
            self.unschedulable_pods.add_or_update(table.queued_pod(pod))
        self.nominator.load(state.nominator, table)
        self.scheduling_cycle = state.scheduling_cycle
        self.move_request_cycle = self._recorded_move_request_cycle = state.move_request_cycle


def is_pod_updated(old: Pod, new: Pod) -> bool:
    """Whether more than the status and the resource version changed. Upstream: scheduling_queue.go isPodUpdated"""
    return _without_status(old) != _without_status(new)


def _without_status(pod: Pod) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, resource_version="")
    return msgspec.structs.replace(pod, metadata=metadata, status=PodStatus(), unread_status="")


def _moves(key: str, sources: list[QueueName], target: QueueName, entry: QueuedPod | None, *, popped: bool) -> list[QueueMove]:
    """The moves of one pod to `target`, from the queues that had it; if it changed in place, `target` is one of them."""
    first = target if target in sources else sources[0] if sources else None
    moves = [QueueMove(pod=key, source=first, target=target, popped=popped and first != target, entry=entry)]
    return moves + [QueueMove(pod=key, source=source, popped=popped) for source in sources if source != first]


def _key(queued: QueuedPodInfo) -> str:
    return queued.key


def make_queue(
    recorder: Recorder,
    profiles: QueueProfiles,
    *,
    features: Features,  # noqa: ARG001 - v1.27.1 has no gates here
    now: Callable[[], int],
    pod_lister: PodLister,
    namespace_labels: NamespaceLabels,
    pod_initial_backoff_seconds: float,
    pod_max_backoff_seconds: float,
    pod_max_in_unschedulable_pods_seconds: float,
) -> PriorityQueue:
    """An empty queue with the plugins of these profiles."""
    return PriorityQueue(
        recorder,
        now=now,
        less=_less(profiles),
        find_gating_plugin=_find_gating_plugin(profiles),
        cluster_event_map=merged_event_map(profiles),
        pod_lister=pod_lister,
        namespace_labels=namespace_labels,
        pod_initial_backoff_seconds=pod_initial_backoff_seconds,
        pod_max_backoff_seconds=pod_max_backoff_seconds,
        pod_max_in_unschedulable_pods_seconds=pod_max_in_unschedulable_pods_seconds,
    )


def _less(profiles: QueueProfiles) -> Less:
    return next(iter(profiles.values())).less


def _find_gating_plugin(profiles: QueueProfiles) -> FindGatingPlugin:
    def find(pod: PodInfo) -> str | None:
        profile = profiles.get(pod.pod.spec.scheduler_name)
        if profile is None:
            return None
        run = profile.run_pre_enqueue_plugins(pod)
        return None if run.status.is_success else run.status.failed_plugin

    return find
