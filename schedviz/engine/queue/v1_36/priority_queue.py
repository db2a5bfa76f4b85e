"""The scheduling queue of v1.36.

- `active_q`: pods that can be scheduled now, the highest priority first.
- `backoff_q`, `error_backoff_q`: pods that failed, may be schedulable, and wait for their backoff to end. With SchedulerPopFromBackoffQ,
  `pop` takes from `backoff_q` when `active_q` is empty.
- `unschedulable_pods`: pods that failed and wait for an event that a queueing hint takes for helpful, and pods that a PreEnqueue plugin
  gates.
- `in_flight`: popped pods until they are done, with the events since the oldest of them was popped.

Upstream: backend/queue/scheduling_queue.go, active_queue.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import msgspec

from schedviz.engine.features import Features
from schedviz.engine.framework.object_table import ObjectTable, QueuedPodState
from schedviz.engine.framework.pod_groups import group_of
from schedviz.engine.framework.types import NANOS_PER_SECOND, ActionType, ClusterEvent, PodInfo, QueuedPodInfo
from schedviz.engine.queue import unlabelled_causes
from schedviz.engine.queue.interface import NamespaceLabels, PreEnqueueCheck, QueueProfiles
from schedviz.engine.queue.nominator import NominatesPods, NominatorState, PodLister
from schedviz.engine.queue.queued_pod_view import queued_pod_view
from schedviz.engine.queue.unschedulable_pods import UnschedulablePods, full_name_of
from schedviz.engine.queue.v1_36 import cluster_events
from schedviz.engine.queue.v1_36.backoff_queue import BackoffQueue, HeapName
from schedviz.engine.queue.v1_36.hints import SKIP, QueueingHints, RequeueAdvice
from schedviz.engine.queue.v1_36.in_flight import InFlightEvent, InFlightList, InFlightState
from schedviz.engine.queue.v1_36.moves import Moves
from schedviz.engine.queue.v1_36.nominator import Nominator
from schedviz.engine.queue.v1_36.pre_enqueue import PreEnqueuePlugins
from schedviz.engine.queue.v1_36.requeue_decisions import decision, record_considered, record_considered_in_flight
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import QueueMoved, QueueName, RequeueDecision, RequeueStrategy
from schedviz.trace.heap import Heap
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import QueuedPod, QueueView


class SchedulingQueueState(msgspec.Struct, frozen=True):
    """A queue in a checkpoint; the heaps as arrays."""

    active_q: list[QueuedPodState]
    backoff_q: list[QueuedPodState]
    error_backoff_q: list[QueuedPodState]
    unschedulable_pods: list[QueuedPodState]
    in_flight: InFlightState
    nominator: NominatorState
    scheduling_cycle: int
    move_request_cycle: int


class PriorityQueue(NominatesPods):
    """Pending pods, pods in flight and nominated pods. Every call that changes something records it.

    Where upstream's order is that of a map, pods are taken in order of their full name, plugins in order of their name.
    Upstream: scheduling_queue.go PriorityQueue
    """

    def __init__(
        self,
        recorder: Recorder,
        profiles: QueueProfiles,
        *,
        features: Features,
        now: Callable[[], int],
        pod_lister: PodLister,
        namespace_labels: NamespaceLabels,  # noqa: ARG002 - hints read objects, not the queue's affinity terms
        pod_initial_backoff_seconds: float = 1,
        pod_max_backoff_seconds: float = 10,
        pod_max_in_unschedulable_pods_seconds: float = 300,
    ) -> None:
        self._recorder = recorder
        self._features = features
        self._now = now
        self._pops_from_backoff_q = features.scheduler_pop_from_backoff_q
        self._pod_max_in_unschedulable_pods = round(pod_max_in_unschedulable_pods_seconds * NANOS_PER_SECOND)
        self._set_plugins(profiles)
        less = next(iter(profiles.values())).less
        self.active_q: Heap[QueuedPodInfo] = Heap(_key, less)
        self._backoff = BackoffQueue(
            now,
            less,
            initial_seconds=pod_initial_backoff_seconds,
            max_seconds=pod_max_backoff_seconds,
            pop_from_backoff_q=self._pops_from_backoff_q,
        )
        self.unschedulable_pods = UnschedulablePods()
        self.in_flight = InFlightList(recorder)
        self.nominator = Nominator(recorder, pod_lister, self._pod_info)
        self.popped_from_backoff_q = False
        self.scheduling_cycle = 0
        #: Set by events and recorded; with hints it decides nothing.
        self.move_request_cycle = -1
        self._recorded_move_request_cycle = -1

    def _set_plugins(self, profiles: QueueProfiles) -> None:
        self._profiles = profiles
        self._hints = QueueingHints(profiles)
        self._pre_enqueue = PreEnqueuePlugins(self._recorder, profiles)

    def use_profiles(self, profiles: QueueProfiles, *, pod_initial_backoff_seconds: float, pod_max_backoff_seconds: float) -> None:
        """Use other plugins and other backoffs. Every pod stays in its queue; heaps are rebuilt if the order changed.

        Upstream has no equivalent.
        """
        moves = self._moves()
        before = {queued.key: self.entry(queued) for queued in self.queued_pods()}
        self._set_plugins(profiles)
        less = next(iter(profiles.values())).less
        self.active_q.less = self._backoff.active_q_less = less
        self._backoff.set_durations(pod_initial_backoff_seconds, pod_max_backoff_seconds)
        for queued in self.queued_pods():
            queued.backoff_expiration = None
        heaps: list[tuple[QueueName, Heap[QueuedPodInfo]]] = [
            ("activeQ", self.active_q),
            ("backoffQ", self._backoff.pod_backoff_q),
            ("errorBackoffQ", self._backoff.pod_error_backoff_q),
        ]
        for name, heap in heaps:
            if heap.is_in_order:
                for queued in heap:
                    moves.changed(queued, name, before[queued.key])
                continue
            pods = list(heap)
            for queued in pods:
                heap.delete(queued.key)
                moves.left(queued, name)
            for queued in pods:
                heap.add(queued)
                moves.entered(queued, name)
        for queued in self.unschedulable_pods:
            moves.changed(queued, "unschedulable", before[queued.key])
        self._record(unlabelled_causes.CONFIGURE, moves)

    # Adding and removing pods

    @property
    def backoff_q(self) -> Heap[QueuedPodInfo]:
        """podBackoffQ alone, which views call backoffQ; upstream's backoffQ (`pods_in_backoff_q`, `backoff_heaps`) is both heaps."""
        return self._backoff.pod_backoff_q

    @property
    def error_backoff_q(self) -> Heap[QueuedPodInfo]:
        """podErrorBackoffQ, which views call errorBackoffQ."""
        return self._backoff.pod_error_backoff_q

    @property
    def has_pods_to_pop(self) -> bool:
        """Whether `pop` has a pod."""
        return len(self.active_q) > 0 or (self._pops_from_backoff_q and len(self._backoff.pod_backoff_q) > 0)

    def add(self, pod: PodInfo) -> None:
        """Add a new pod. Upstream: Add"""
        moves = self._moves()
        self._move_to_active_q(self._new(pod), cluster_events.UNSCHEDULABLE_POD_ADD.label, moves)
        self._record(cluster_events.UNSCHEDULABLE_POD_ADD.label, moves)

    def pop(self) -> QueuedPodInfo | None:
        """Remove and return the first pod of activeQ, or of backoffQ without waiting for the end of its backoff; it is in flight
        afterwards. None: there is none. Upstream: active_queue.go pop
        """
        while self.has_pods_to_pop:
            moves = self._moves()
            source: QueueName = "activeQ" if len(self.active_q) else "backoffQ"
            heap = self.active_q if source == "activeQ" else self._backoff.pod_backoff_q
            queued = heap.pop()
            moves.left(queued, source, popped=True)
            queued.attempts += 1
            if queued.uid in self.in_flight:
                # Upstream discards a pod that is in flight already, which a lost event causes.
                self._record(unlabelled_causes.POP, moves)
                continue
            self.popped_from_backoff_q = source == "backoffQ"
            self._put_in_flight(queued, moves, unlabelled_causes.POP if source == "activeQ" else cluster_events.POP_FROM_BACKOFF_Q)
            return queued
        return None

    def pop_specific_pod(self, key: str) -> QueuedPodInfo | None:
        """Remove and return this pod; it is in flight afterwards. A pod that is not in activeQ is activated before.

        None: it is in no queue, or a plugin gates it. Upstream: PopSpecificPod
        """
        self._activate(key)
        queued = self.active_q.delete(key)
        if queued is None:
            return None
        moves = self._moves()
        moves.left(queued, "activeQ")
        queued.attempts += 1
        if queued.uid in self.in_flight:
            self._record(unlabelled_causes.POP, moves)
            return None
        self._put_in_flight(queued, moves, unlabelled_causes.POP)
        return queued

    def _put_in_flight(self, queued: QueuedPodInfo, moves: Moves, cause: str) -> None:
        """Upstream: active_queue.go movePodToInFlight"""
        self.scheduling_cycle += 1
        self._record(cause, moves)
        self.in_flight.add_pod(queued.uid, queued.key)

    def done(self, uid: str) -> None:
        """A pod is no longer in flight. Upstream: active_queue.go done"""
        self.in_flight.done(uid)

    def update(self, old: PodInfo, new: PodInfo) -> None:
        """Replace a pod by a newer version. Upstream: Update"""
        changes = cluster_events.pod_scheduling_properties_change(new, old, self._features)
        if new.uid in self.in_flight:
            # It comes back with the informer's version, and its hints evaluate these events then.
            self.in_flight.add_events([InFlightEvent(event, old.pod, new.pod) for event in changes])
            return
        if self._update_in_heap(old, new):
            return
        queued = self.unschedulable_pods.get(new.key)
        if queued is None:
            moves = self._moves()
            self._move_to_active_q(self._new(new), cluster_events.UNSCHEDULABLE_POD_UPDATE.label, moves)
            self._record(cluster_events.UNSCHEDULABLE_POD_UPDATE.label, moves)
            return
        before = self.entry(queued)
        queued.pod_info = queued.pod_info.updated(new)
        self.nominator.update_nominated_pod(old, queued.pod_info)
        self._sign(queued)
        for event in changes:
            moves = self._moves()
            advice = self._hints.evaluate(queued, event, old.pod, new.pod)
            moves.left(queued, "unschedulable", before=before, may_leave=True)
            queue = self._requeue(queued, advice, event.label, moves)
            record_considered(self._recorder, event, old.pod, new.pod, [decision(queued, advice, queue)])
            self._record(event.label, moves)
            if queue == "activeQ" or (queue != "unschedulable" and self._pops_from_backoff_q):
                break
            before = self.entry(queued)

    def _update_in_heap(self, old: PodInfo, new: PodInfo) -> bool:
        """Update a pod that is in activeQ or backoffQ, in place."""
        queued = self.active_q.get(old.key)
        located: tuple[QueueName, QueuedPodInfo] | None = ("activeQ", queued) if queued is not None else self._backoff.find(old.key)
        if located is None:
            return False
        name, queued = located
        moves, before = self._moves(), self.entry(queued)
        queued.pod_info = queued.pod_info.updated(new)
        self._sign(queued)
        self._heap(name).add(queued)
        moves.changed(queued, name, before)
        self._record(cluster_events.UNSCHEDULABLE_POD_UPDATE.label, moves)
        self.nominator.update_nominated_pod(old, queued.pod_info)
        return True

    def delete(self, pod: PodInfo) -> None:
        """Remove a pod that was deleted or assigned. Upstream: Delete"""
        self.nominator.delete_nominated_pod_if_exists(pod)
        moves = self._moves()
        for name in self._queue_names():
            queued = self._leave(name, pod.key)
            if queued is not None:
                moves.left(queued, name)
                break
        self._record(unlabelled_causes.POD_DELETE, moves)

    def add_unschedulable_if_not_present(self, queued: QueuedPodInfo, pod_scheduling_cycle: int) -> bool:  # noqa: ARG002
        """Add a pod again after a failed attempt, as the hints for the events since it was popped say. False: it is queued already.

        Upstream: AddUnschedulableIfNotPresent
        """
        if self.find(queued.key) is not None:
            self.done(queued.uid)
            return False
        if queued.rejector_plugins:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.timestamp = self._now()
        queued.backoff_expiration = None
        queued.was_flushed_from_unschedulable = False
        moves = self._moves()
        advice, latest = self._advice_for_in_flight_events(queued)
        queue = self._requeue(queued, advice, cluster_events.SCHEDULE_ATTEMPT_FAILURE, moves)
        if latest is None:
            failed = ClusterEvent("", ActionType(0), cluster_events.SCHEDULE_ATTEMPT_FAILURE)
            record_considered(self._recorder, failed, None, None, [decision(queued, advice, queue)])
        else:
            record_considered_in_flight(self._recorder, latest, decision(queued, advice, queue, in_flight=True))
        self._record(cluster_events.SCHEDULE_ATTEMPT_FAILURE, moves)
        self.done(queued.uid)
        return True

    def _advice_for_in_flight_events(self, queued: QueuedPodInfo) -> tuple[RequeueAdvice, InFlightEvent | None]:
        """What to do with a pod that comes back, and the last event that was evaluated. Upstream: determineSchedulingHintForInFlightPod"""
        if not queued.rejector_plugins:
            return RequeueAdvice("afterBackoff"), None
        if self._features.generic_workload and group_of(queued.pod) is not None:
            return RequeueAdvice("afterBackoff"), None
        events_since = self.in_flight.events_since(queued.uid)
        if events_since is None:
            return RequeueAdvice("afterBackoff"), None
        strategy: RequeueStrategy = "skip"
        advice, last = RequeueAdvice("skip"), None
        for event in events_since:
            if last is not None:
                record_considered_in_flight(self._recorder, last, decision(queued, advice, None))
            advice, last = self._hints.evaluate(queued, event.event, event.old, event.new), event
            if advice.strategy == "immediately" or (advice.strategy == "afterBackoff" and not queued.pending_plugins):
                return advice, last
            if advice.strategy == "afterBackoff":
                strategy = "afterBackoff"
        # The hints of the last event are shown with the strategy that all of them led to.
        return RequeueAdvice(strategy, advice.hints), last

    def activate(self, keys: Iterable[str]) -> None:
        """Move pending pods to activeQ at a plugin's request. Upstream: Activate"""
        for key in sorted(keys):
            record_considered(self._recorder, cluster_events.FORCE_ACTIVATE, None, None, [RequeueDecision(pods=[key])])
            if self._activate(key):
                continue
            namespace, _, name = key.partition("/")
            pod = self.nominator.pod_lister(namespace, name)
            if pod is not None and pod.uid in self.in_flight:
                self.in_flight.add_events([InFlightEvent(cluster_events.FORCE_ACTIVATE, None, pod)])
            self.move_request_cycle = self.scheduling_cycle
            self._record(cluster_events.FORCE_ACTIVATE.label, self._moves())

    def _activate(self, key: str) -> bool:
        queued, name = self.unschedulable_pods.get(key), "unschedulable"
        moves = self._moves()
        comes_from_backoff_q = False
        if queued is None:
            located = self._backoff.find(key)
            if located is None:
                return False
            name, queued = located
            self._backoff.heap(name).delete(key)
            moves.left(queued, name)
            comes_from_backoff_q = True
        is_added = self._move_to_active_q(queued, cluster_events.FORCE_ACTIVATE.label, moves, comes_from_backoff_q=comes_from_backoff_q)
        self._record(cluster_events.FORCE_ACTIVATE.label, moves)
        return is_added

    # Moving pods

    def assigned_pod_added(self, pod: PodInfo) -> None:
        """Move pods as for any other event: the hints find those whose affinity matches."""
        self.move_all_to_active_or_backoff_queue(cluster_events.ASSIGNED_POD_ADD, new=pod.pod)

    def assigned_pod_updated(self, pod: PodInfo) -> None:
        """Move pods as for any other event."""
        event = cluster_events.cluster_event(cluster_events.ASSIGNED_POD, ActionType.UPDATE)
        self.move_all_to_active_or_backoff_queue(event, old=pod.pod, new=pod.pod)

    def move_all_to_active_or_backoff_queue(
        self,
        event: ClusterEvent,
        pre_check: PreEnqueueCheck | None = None,
        *,
        old: KubeObject | None = None,
        new: KubeObject | None = None,
    ) -> None:
        """Move the pods that the event may help, according to a hint. Upstream: MoveAllToActiveOrBackoffQueue"""
        if not self._hints.is_of_interest(event):
            record_considered(self._recorder, event, old, new, [], moves_all=True)
            return
        pods = self.unschedulable_pods.by_full_name()
        self._move_pods([queued for queued in pods if pre_check is None or pre_check(queued.pod_info)], event, old, new)

    def _move_pods(
        self, pods: Iterable[QueuedPodInfo], event: ClusterEvent, old: KubeObject | None, new: KubeObject | None, *, moves_all: bool = True
    ) -> None:
        """Move those of the pods that the event may help.

        `pods`: in the order of their full names. `moves_all`: this is part of a call of MoveAllToActiveOrBackoffQueue, not of a flush.
        Upstream: movePodsToActiveOrBackoffQueue
        """
        moves = self._moves()
        decisions: list[RequeueDecision] = []
        # Most pods wait for other events. One decision names them all.
        uninterested: RequeueDecision | None = None
        for queued in pods:
            if queued.gated and not self._hints.may_ungate(queued, event):
                decisions.append(RequeueDecision(pods=[queued.key], gated=True))
                continue
            advice = self._hints.evaluate(queued, event, old, new)
            if advice is SKIP:
                if uninterested is None:
                    uninterested = decision(queued, advice, None)
                    decisions.append(uninterested)
                else:
                    uninterested.pods.append(queued.key)
                continue
            if advice.strategy == "skip":
                decisions.append(decision(queued, advice, None))
                continue
            decisions.append(decision(queued, advice, self._requeue(queued, advice, event.label, moves)))
        self.move_request_cycle = self.scheduling_cycle
        record_considered(self._recorder, event, old, new, decisions, moves_all=moves_all)
        self._record(event.label, moves)
        if len(self.in_flight):
            self.in_flight.add_events([InFlightEvent(event, old, new)])

    def _requeue(self, queued: QueuedPodInfo, advice: RequeueAdvice, label: str, moves: Moves) -> QueueName:
        """Put a pod into the queue that its hints lead to. Returns the queue. Upstream: requeuePodWithQueueingStrategy"""
        if advice.strategy == "skip":
            self.unschedulable_pods.add_or_update(queued)
            moves.entered(queued, "unschedulable")
            return "unschedulable"
        if advice.strategy == "afterBackoff" and self._backoff.is_backing_off(queued):
            return self._move_to_backoff_q(queued, moves)
        if self._move_to_active_q(queued, label, moves):
            return "activeQ"
        return "unschedulable"

    def flush_backoff_q_completed(self) -> None:
        """Move pods whose backoff has ended to activeQ. Upstream: flushBackoffQCompleted"""
        moves = self._moves()
        completed: list[QueuedPodInfo] = []
        names: tuple[HeapName, ...] = ("backoffQ", "errorBackoffQ")
        for name in names:
            heap = self._backoff.heap(name)
            while (queued := heap.peek()) is not None and not self._backoff.is_backing_off(queued):
                heap.pop()
                moves.left(queued, name, popped=True)
                completed.append(queued)
        for queued in completed:
            self._move_to_active_q(queued, cluster_events.BACKOFF_COMPLETE, moves, comes_from_backoff_q=True)
        self._record(cluster_events.BACKOFF_COMPLETE, moves)

    def flush_unschedulable_pods_leftover(self) -> None:
        """Move pods that have been in unschedulablePods too long. Upstream: flushUnschedulablePodsLeftover"""
        cutoff = self._now() - self._pod_max_in_unschedulable_pods
        leftover = [queued for queued in self.unschedulable_pods if queued.timestamp < cutoff]
        moves = self._moves()
        for queued in leftover:
            before = self.entry(queued)
            queued.was_flushed_from_unschedulable = True
            moves.changed(queued, "unschedulable", before)
        self._record(cluster_events.UNSCHEDULABLE_TIMEOUT.label, moves)
        if leftover:
            self._move_pods(sorted(leftover, key=full_name_of), cluster_events.UNSCHEDULABLE_TIMEOUT, None, None, moves_all=False)

    # The moves of one pod

    def _move_to_active_q(self, queued: QueuedPodInfo, label: str, moves: Moves, *, comes_from_backoff_q: bool = False) -> bool:
        """Add a pod to activeQ and remove it from its other queue. False: a plugin gates it. Upstream: moveToActiveQ"""
        before = self.entry(queued)
        if not (self._pops_from_backoff_q and comes_from_backoff_q):
            self._pre_enqueue.run(queued)
        if queued.gated:
            if queued.key in self.active_q or self._backoff.find(queued.key) is not None:
                return False
            self._keep_gated(queued, before, moves)
            return False
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = self._now()
        for name in ("unschedulable", "backoffQ", "errorBackoffQ"):
            other = self._leave(name, queued.key)
            if other is not None:
                moves.left(other, name, before=before)
        self.active_q.add(queued)
        moves.entered(queued, "activeQ")
        if label in (cluster_events.UNSCHEDULABLE_POD_ADD.label, cluster_events.UNSCHEDULABLE_POD_UPDATE.label):
            moves.defer(lambda: self.nominator.add_nominated_pod(queued.pod_info, None))
        return True

    def _move_to_backoff_q(self, queued: QueuedPodInfo, moves: Moves) -> QueueName:
        """Add a pod to backoffQ, or to unschedulablePods if a plugin gates it. Upstream: moveToBackoffQ"""
        before = self.entry(queued)
        if self._pops_from_backoff_q:
            self._pre_enqueue.run(queued)
            if queued.gated:
                self._keep_gated(queued, before, moves)
                return "unschedulable"
        if queued.key in self.unschedulable_pods:
            moves.left(queued, "unschedulable", before=before)
            self.unschedulable_pods.delete(queued.key)
        name = self._backoff.heap_for(queued)
        self._backoff.heap(name).add(queued)
        moves.entered(queued, name)
        return name

    def _keep_gated(self, queued: QueuedPodInfo, before: QueuedPod, moves: Moves) -> None:
        if queued.key in self.unschedulable_pods:
            self.unschedulable_pods.add_or_update(queued)
            moves.changed(queued, "unschedulable", before)
        else:
            self.unschedulable_pods.add_or_update(queued)
            moves.entered(queued, "unschedulable")

    def _new(self, pod: PodInfo) -> QueuedPodInfo:
        queued = QueuedPodInfo(pod, timestamp=self._now())
        queued.initial_attempt_timestamp = None
        self._sign(queued)
        return queued

    def _sign(self, queued: QueuedPodInfo) -> None:
        """Upstream: signPod"""
        profile = self._profiles.get(queued.pod.spec.scheduler_name)
        queued.signature = None if profile is None else profile.sign_pod(queued.pod_info)

    def _queue_names(self) -> tuple[QueueName, ...]:
        return ("activeQ", "backoffQ", "errorBackoffQ", "unschedulable")

    def _heap(self, name: QueueName) -> Heap[QueuedPodInfo]:
        return self.active_q if name == "activeQ" else self._backoff.heap("backoffQ" if name == "backoffQ" else "errorBackoffQ")

    def _leave(self, name: QueueName, key: str) -> QueuedPodInfo | None:
        """Remove a pod from a queue. Returns it, or None: it was not there."""
        if name != "unschedulable":
            return self._heap(name).delete(key)
        queued = self.unschedulable_pods.get(key)
        self.unschedulable_pods.delete(key)
        return queued

    # Times and look-ups

    def backoff_expiry(self, queued: QueuedPodInfo) -> int:
        """When a pod's backoff expires; 0: it has none. Upstream: backoff_queue.go getBackoffTime"""
        return self._backoff.expiry(queued)

    def backoff_end(self, queued: QueuedPodInfo) -> int:
        """The first time at which the pod no longer backs off; 0: it has no backoff."""
        return self._backoff.end(queued)

    def is_pod_backing_off(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod's backoff is running."""
        return self._backoff.is_backing_off(queued)

    def next_backoff_end(self) -> int | None:
        """The first time at which a flush moves a pod out of one of the heaps of backoffQ; None: both are empty."""
        firsts = [heap.peek() for heap in (self._backoff.pod_backoff_q, self._backoff.pod_error_backoff_q)]
        return min((self._backoff.end(queued) for queued in firsts if queued is not None), default=None)

    def next_unschedulable_timeout(self) -> int | None:
        """The time after which a flush may move a pod out of unschedulablePods; None: it moves none. It leaves gated pods there."""
        return min((self.unschedulable_timeout(queued) for queued in self.unschedulable_pods if not queued.gated), default=None)

    def unschedulable_timeout(self, queued: QueuedPodInfo) -> int:
        """The time after which a pod has been in unschedulablePods too long. Upstream: flushUnschedulablePodsLeftover"""
        return queued.timestamp + self._pod_max_in_unschedulable_pods

    def pods_in_backoff_q(self) -> list[QueuedPodInfo]:
        """The pods of both heaps of backoffQ, in the order of their arrays."""
        return list(self._backoff)

    def backoff_heaps(self) -> tuple[Heap[QueuedPodInfo], ...]:
        """podBackoffQ and podErrorBackoffQ. Upstream: backoff_queue.go list"""
        return (self._backoff.pod_backoff_q, self._backoff.pod_error_backoff_q)

    def queued_pods(self) -> Iterable[QueuedPodInfo]:
        """All pods: those of activeQ, of backoffQ and of unschedulablePods."""
        return chain(self.active_q, self._backoff, self.unschedulable_pods)

    def find(self, key: str) -> QueuedPodInfo | None:
        """The pod, in whichever queue it is."""
        queued = self.active_q.get(key) or self.unschedulable_pods.get(key)
        if queued is not None:
            return queued
        located = self._backoff.find(key)
        return None if located is None else located[1]

    def _pod_info(self, key: str) -> PodInfo | None:
        queued = self.find(key)
        return None if queued is None else queued.pod_info

    # Recording, views, checkpoints

    def entry(self, queued: QueuedPodInfo) -> QueuedPod:
        """A pod as a view shows it."""
        return queued_pod_view(queued, backoff_expiry=self._backoff.expiry(queued))

    def _moves(self) -> Moves:
        return Moves(self.entry)

    def _record(self, cause: str, moves: Moves) -> None:
        """Record the moves, and then run what was deferred."""
        made = moves.made()
        if made or self.move_request_cycle != self._recorded_move_request_cycle:
            self._recorded_move_request_cycle = self.move_request_cycle
            self._recorder.record(
                QueueMoved, cause=cause, moves=made, scheduling_cycle=self.scheduling_cycle, move_request_cycle=self.move_request_cycle
            )
        moves.run_deferred()

    def to_view(self) -> QueueView:
        """The queue as a view shows it."""
        return QueueView(
            active_q=[self.entry(queued) for queued in self.active_q],
            backoff_q=[self.entry(queued) for queued in self._backoff.pod_backoff_q],
            unschedulable=[self.entry(queued) for queued in self.unschedulable_pods],
            nominated=self.nominator.to_view(),
            scheduling_cycle=self.scheduling_cycle,
            move_request_cycle=self.move_request_cycle,
            error_backoff_q=[self.entry(queued) for queued in self._backoff.pod_error_backoff_q],
            in_flight=self.in_flight.to_view(),
            pops_from_backoff_q=self._pops_from_backoff_q,
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
            backoff_q=[save(queued) for queued in self._backoff.pod_backoff_q],
            error_backoff_q=[save(queued) for queued in self._backoff.pod_error_backoff_q],
            unschedulable_pods=[save(queued) for queued in self.unschedulable_pods],
            in_flight=self.in_flight.to_state(table),
            nominator=self.nominator.to_state(table),
            scheduling_cycle=self.scheduling_cycle,
            move_request_cycle=self.move_request_cycle,
        )

    def load(self, state: SchedulingQueueState, table: ObjectTable) -> None:
        """Load the state of `to_state` into a new queue with the same arguments."""
        self.active_q.load(table.queued_pod(pod) for pod in state.active_q)
        self._backoff.pod_backoff_q.load(table.queued_pod(pod) for pod in state.backoff_q)
        self._backoff.pod_error_backoff_q.load(table.queued_pod(pod) for pod in state.error_backoff_q)
        for pod in state.unschedulable_pods:
            self.unschedulable_pods.add_or_update(table.queued_pod(pod))
        self.in_flight.load(state.in_flight, table)
        self.nominator.load(state.nominator, table)
        self.scheduling_cycle = state.scheduling_cycle
        self.move_request_cycle = self._recorded_move_request_cycle = state.move_request_cycle


def _key(queued: QueuedPodInfo) -> str:
    return queued.key
