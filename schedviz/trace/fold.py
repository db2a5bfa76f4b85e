"""`Fold`: applies trace events to a view, without the engine.

The front end's TypeScript model does the same, and is tested against this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from schedviz.trace.cache_fold import CacheFold
from schedviz.trace.events import (
    AnyEvent,
    ApiCallChanged,
    ApiWritten,
    BindingEnded,
    BindingReleased,
    BindingStageEnded,
    BindingStarted,
    CacheNode,
    CachePod,
    Configured,
    CycleEnded,
    CycleStarted,
    HelperSet,
    InFlightChanged,
    LatencySet,
    PermitAnswered,
    PodGroupChanged,
    PodGroupEnded,
    PodGroupPodTried,
    PodGroupStageEnded,
    PodGroupStarted,
    PodNominated,
    PreemptionStageEnded,
    PreemptionStarted,
    QueueMoved,
    Restarted,
    SchedulerExited,
    SnapshotPod,
    SnapshotUpdated,
    StageEnded,
    TraceEvent,
    WatchChanged,
    WatchDelivered,
    WatchSent,
    cycle_results,
)
from schedviz.trace.past_events import PastCycleEnded, PastEvent
from schedviz.trace.pod_group_fold import PodGroupFold
from schedviz.trace.queue_fold import QueueFold
from schedviz.trace.view import (
    ApiView,
    BindingView,
    CacheView,
    CycleView,
    PreemptionView,
    QueueView,
    SnapshotView,
    StageView,
    View,
    WatchInFlight,
    WatchView,
)

#: The stage of a binding cycle in which the pod waits for Permit plugins.
_WAIT_ON_PERMIT: Final = "WaitOnPermit"


class Fold:
    """Applies events to a view; `to_view` returns the result.

    The given view and returned views are not changed.
    """

    def __init__(self, view: View) -> None:
        #: The number of the last event.
        self.event = view.event
        self.clock_seconds = view.clock_seconds
        self.next_start_node_index = view.next_start_node_index
        self._cache = CacheFold(view.cache, view.snapshot)
        self._queue = QueueFold(view.queue)
        self._cycle: CycleView | None = view.cycle
        self._pod_group = PodGroupFold(view.pod_group)
        self._bindings = list(view.bindings)
        self._preemptions = list(view.preemptions)
        #: By the uid of the pod.
        self._api_calls = {call.uid: call for call in view.api_calls}
        self._objects = dict(view.api.objects)
        self._latencies = dict(view.api.latencies)
        self._in_flight = {watch.id: watch for watch in view.api.in_flight}
        self._watches = dict(view.api.watches)
        self._helpers = dict(view.api.helpers)
        self._exited = view.exited
        self._config = view.config

    def to_view(self) -> View:
        """The present view."""
        return View(
            event=self.event,
            clock_seconds=self.clock_seconds,
            cache=self._cache.cache_view(),
            snapshot=self._cache.snapshot_view(),
            queue=self._queue.view(),
            cycle=self._cycle,
            pod_group=self._pod_group.view,
            bindings=list(self._bindings),
            preemptions=list(self._preemptions),
            api_calls=list(self._api_calls.values()),
            api=ApiView(
                objects=dict(self._objects),
                in_flight=sorted(self._in_flight.values(), key=_arrival),
                latencies=dict(self._latencies),
                watches=dict(self._watches),
                helpers=dict(self._helpers),
            ),
            next_start_node_index=self.next_start_node_index,
            exited=self._exited,
            config=self._config,
        )

    def apply(self, event: AnyEvent | PastEvent) -> None:
        """Apply the next event."""
        self.event = event.event
        self.clock_seconds = event.at
        change = self._CHANGES.get(type(event))
        if change is not None:
            change(self, event)

    def apply_all(self, events: Iterable[AnyEvent | PastEvent]) -> None:
        """Apply events in order. Faster than one by one: about half of the events change only number and time, of which the last ones
        count.
        """
        find = self._CHANGES.get
        event = None
        for event in events:
            change = find(type(event))
            if change is not None:
                change(self, event)
        if event is not None:
            self.event = event.event
            self.clock_seconds = event.at

    def _cache_pod(self, event: CachePod) -> None:
        self._cache.cache_pod(event)

    def _cache_node(self, event: CacheNode) -> None:
        self._cache.cache_node(event)

    def _snapshot_updated(self, event: SnapshotUpdated) -> None:
        self._cache.snapshot_updated(event)

    def _queue_moved(self, event: QueueMoved) -> None:
        self._queue.queue_moved(event)

    def _in_flight_changed(self, event: InFlightChanged) -> None:
        self._queue.in_flight_changed(event)

    def _pod_nominated(self, event: PodNominated) -> None:
        self._queue.pod_nominated(event)

    def _pod_group_changed(self, event: PodGroupChanged) -> None:
        self._cache.pod_group_changed(event)

    def _snapshot_pod(self, event: SnapshotPod) -> None:
        self._cache.snapshot_pod(event)

    def _pod_group_started(self, event: PodGroupStarted) -> None:
        self._cycle = None
        self._pod_group.started(event)

    def _pod_group_stage_ended(self, event: PodGroupStageEnded) -> None:
        self._pod_group.stage_ended(event)

    def _pod_group_pod_tried(self, event: PodGroupPodTried) -> None:
        self._pod_group.pod_tried(event)

    def _pod_group_ended(self, event: PodGroupEnded) -> None:
        self._pod_group.ended(event)

    def _cycle_started(self, event: CycleStarted) -> None:
        cycle = CycleView(
            cycle=event.cycle,
            pod=event.pod,
            pod_group=event.pod_group,
            profile=event.profile,
            attempts=event.attempts,
            at_seconds=event.at,
            all_nodes=event.all_nodes,
        )
        if not event.pod_group:
            self._pod_group.clear()
        self._cycle = cycle
        self._pod_group.cycle_started(cycle)

    def _stage_ended(self, event: StageEnded) -> None:
        cycle = self._cycle_of(event)
        if cycle is not None:
            stage = StageView(stage=event.stage, statuses=event.statuses, rejections=event.rejections, facts=event.facts)
            self._show(replace(cycle, stages=[*cycle.stages, stage], next_stage=event.next_stage))

    def _cycle_ended(self, event: CycleEnded) -> None:
        self.next_start_node_index = event.next_start_node_index
        cycle = self._cycle_of(event)
        if cycle is not None:
            self._show(replace(cycle, next_stage="", **cycle_results(event)))

    def _cycle_of(self, event: StageEnded | CycleEnded) -> CycleView | None:
        """The cycle that an event belongs to. The pods of a group are tried one after the other, and then their cycles end in turn."""
        return self._cycle if not self._pod_group.is_running else self._pod_group.cycle(event.cycle)

    def _show(self, cycle: CycleView) -> None:
        self._cycle = cycle
        self._pod_group.cycle_changed(cycle)

    def _past_cycle_ended(self, event: PastCycleEnded) -> None:
        self.next_start_node_index = event.next_start_node_index

    def _binding_started(self, event: BindingStarted) -> None:
        binding = BindingView(
            pod=event.pod,
            node=event.node,
            cycle=event.cycle,
            next_stage=event.next_stage,
            held=event.held,
            waiting_for=event.waiting_for,
        )
        self._bindings.append(binding)

    def _binding_stage_ended(self, event: BindingStageEnded) -> None:
        index = self._binding(event)
        if index is not None:
            binding = self._bindings[index]
            stage = StageView(stage=event.stage, statuses=event.statuses, facts=event.facts)
            stages = [*binding.stages, stage]
            # v1.36 runs a stage before it waits at Permit.
            waiting_for = binding.waiting_for if event.next_stage == _WAIT_ON_PERMIT else []
            self._bindings[index] = replace(binding, stages=stages, next_stage=event.next_stage, held=False, waiting_for=waiting_for)

    def _binding_released(self, event: BindingReleased) -> None:
        index = self._binding(event)
        if index is not None:
            self._bindings[index] = replace(self._bindings[index], held=False)

    def _permit_answered(self, event: PermitAnswered) -> None:
        index = self._binding(event)
        if index is not None:
            self._bindings[index] = replace(self._bindings[index], waiting_for=event.waiting_for)

    def _binding_ended(self, event: BindingEnded) -> None:
        index = self._binding(event)
        if index is not None:
            del self._bindings[index]

    def _binding(self, event: BindingReleased | BindingStageEnded | BindingEnded | PermitAnswered) -> int | None:
        """The position of the pod's binding of that cycle."""
        for index, binding in enumerate(self._bindings):
            if binding.cycle == event.cycle and binding.pod == event.pod:
                return index
        return None

    def _preemption_started(self, event: PreemptionStarted) -> None:
        self._preemptions.append(
            PreemptionView(
                preemptor=event.preemptor,
                pods=event.pods,
                node=event.node,
                victims=event.victims,
                cycle=event.cycle,
                plugin=event.plugin,
                next_stage=event.next_stage,
            )
        )

    def _preemption_stage_ended(self, event: PreemptionStageEnded) -> None:
        for index, preemption in enumerate(self._preemptions):
            if preemption.cycle == event.cycle and preemption.preemptor == event.preemptor:
                if event.next_stage:
                    self._preemptions[index] = replace(preemption, next_stage=event.next_stage, evicted=event.evicted)
                else:
                    del self._preemptions[index]
                return

    def _api_call_changed(self, event: ApiCallChanged) -> None:
        if event.call is not None:
            self._api_calls[event.uid] = event.call
        else:
            self._api_calls.pop(event.uid, None)

    def _api_written(self, event: ApiWritten) -> None:
        if event.error:
            return
        if event.count:
            self._objects[event.kind] = event.count
        else:
            self._objects.pop(event.kind, None)

    def _watch_sent(self, event: WatchSent) -> None:
        self._in_flight[event.id] = WatchInFlight(
            id=event.id, verb=event.verb, resource=event.resource, key=event.key, due_seconds=event.due_seconds
        )

    def _watch_delivered(self, event: WatchDelivered) -> None:
        self._in_flight.pop(event.id, None)

    def _latency_set(self, event: LatencySet) -> None:
        if event.seconds:
            self._latencies[event.kind] = event.seconds
        else:
            self._latencies.pop(event.kind, None)

    def _watch_changed(self, event: WatchChanged) -> None:
        watch = WatchView(connected=event.connected, unseen=event.unseen, drops=event.drops)
        if watch == WatchView():
            self._watches.pop(event.kind, None)
        else:
            self._watches[event.kind] = watch

    def _helper_set(self, event: HelperSet) -> None:
        if event.on:
            self._helpers[event.name] = event.seconds
        else:
            self._helpers.pop(event.name, None)

    def _configured(self, event: Configured) -> None:
        self._config = event.config

    def _scheduler_exited(self, event: SchedulerExited) -> None:
        self._exited = event.message

    def _restarted(self, _event: Restarted) -> None:
        self._exited = ""
        self._cache = CacheFold(CacheView(), SnapshotView())
        self._queue = QueueFold(QueueView(pops_from_backoff_q=self._queue.pops_from_backoff_q))
        self._cycle = None
        self._pod_group.clear()
        self._bindings = []
        self._preemptions = []
        self._api_calls = {}
        self.next_start_node_index = 0

    #: Events that change a view, and the methods that apply them; all other events change only its number and time.
    _CHANGES: ClassVar[dict[type[TraceEvent], Callable[[Fold, Any], None]]] = {
        CachePod: _cache_pod,
        CacheNode: _cache_node,
        SnapshotUpdated: _snapshot_updated,
        QueueMoved: _queue_moved,
        PodNominated: _pod_nominated,
        InFlightChanged: _in_flight_changed,
        PodGroupChanged: _pod_group_changed,
        SnapshotPod: _snapshot_pod,
        PodGroupStarted: _pod_group_started,
        PodGroupStageEnded: _pod_group_stage_ended,
        PodGroupPodTried: _pod_group_pod_tried,
        PodGroupEnded: _pod_group_ended,
        CycleStarted: _cycle_started,
        StageEnded: _stage_ended,
        CycleEnded: _cycle_ended,
        PastCycleEnded: _past_cycle_ended,
        BindingStarted: _binding_started,
        BindingReleased: _binding_released,
        BindingStageEnded: _binding_stage_ended,
        BindingEnded: _binding_ended,
        PermitAnswered: _permit_answered,
        PreemptionStarted: _preemption_started,
        PreemptionStageEnded: _preemption_stage_ended,
        ApiCallChanged: _api_call_changed,
        ApiWritten: _api_written,
        WatchSent: _watch_sent,
        WatchDelivered: _watch_delivered,
        WatchChanged: _watch_changed,
        LatencySet: _latency_set,
        HelperSet: _helper_set,
        Configured: _configured,
        SchedulerExited: _scheduler_exited,
        Restarted: _restarted,
    }


def _arrival(watch: WatchInFlight) -> tuple[float, int]:
    return watch.due_seconds, watch.id
