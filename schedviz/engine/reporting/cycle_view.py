"""Cycles, bindings and the API server as a page draws them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schedviz.engine.binding import BindingCycle
from schedviz.engine.clock import SECOND
from schedviz.engine.cluster import Cluster
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.kube.kinds import KINDS
from schedviz.trace.events import cycle_results
from schedviz.trace.view import ApiView, BindingView, CycleView, PodGroupCycleView, PodGroupPodView, WatchInFlight, WatchView


def cycle_view(cycle: SchedulingCycle) -> CycleView:
    """A scheduling cycle, running or ended; equal to the fold of its events."""
    results = cycle.results
    return CycleView(
        cycle=cycle.number,
        pod=cycle.pod.key,
        pod_group=cycle.pod_group,
        profile=cycle.framework.profile_name,
        attempts=results.attempts,
        at_seconds=results.at_seconds,
        next_stage=cycle.stage,
        stages=list(results.stages),
        all_nodes=results.all_nodes,
        **(cycle_results(results) if cycle.has_ended else {}),
    )


def running_cycle_view(cycle: SchedulingCycle | PodGroupCycle) -> CycleView | None:
    """The running cycle; of a pod group, that of the pod which is tried or submitted."""
    if not isinstance(cycle, PodGroupCycle):
        return cycle_view(cycle)
    return None if cycle.current_pod is None else cycle_view(cycle.current_pod)


def pod_group_view(group: PodGroupCycle) -> PodGroupCycleView:
    """The scheduling cycle of a pod group, running or ended; equal to the fold of its events."""
    results = group.results
    cycles = {pod.number: pod for pod in group.shown_pods}
    by_key = {pod.queued.key: pod for pod in cycles.values()}
    return PodGroupCycleView(
        group=group.group.key,
        profile=group.profile_name,
        at_seconds=results.at_seconds,
        next_stage=group.stage,
        stages=list(results.stages),
        pods=[_pod_of_group(key, by_key.get(key)) for key in results.pods],
        cycles=[cycle_view(pod) for pod in cycles.values()],
        placement=results.placement,
        outcome=results.outcome,
        message=results.message,
        waiting_on_preemption=results.waiting_on_preemption and bool(results.outcome),
    )


def _pod_of_group(key: str, pod: PodGroupPodCycle | None) -> PodGroupPodView:
    if pod is None:
        return PodGroupPodView(pod=key)
    pod_view = PodGroupPodView(pod=key, cycle=pod.number, outcome=pod.results.outcome if pod.has_ended else "")
    if not pod.was_tried or pod.is_being_tried:
        return pod_view
    result = pod.algorithm_result
    return msgspec.structs.replace(
        pod_view,
        node=result.node,
        code=result.status.code.value,
        message=result.status.message,
        permit=result.permit.code.value if result.node else "",
        requires_preemption=result.requires_preemption,
    )


def binding_view(binding: BindingCycle) -> BindingView:
    """A binding cycle that has not ended."""
    return BindingView(
        pod=binding.pod,
        node=binding.node,
        cycle=binding.number,
        next_stage=binding.stage,
        stages=list(binding.results.stages),
        held=binding.held and not binding.has_begun,
        waiting_for=binding.waiting_for,
    )


def api_view(cluster: Cluster, *, counts: Mapping[str, int] | None = None) -> ApiView:
    """The simulated API server. `counts`: how many objects of each kind are shown, by default those that it has."""
    watches = cluster.watches
    if counts is None:
        counts = {kind.name: cluster.store.count(kind.name) for kind in KINDS}
    return ApiView(
        objects={kind: count for kind, count in counts.items() if count},
        in_flight=[
            WatchInFlight(id=event.id, verb=event.verb, resource=event.resource, key=event.key, due_seconds=event.due / SECOND)
            for event in watches.in_flight
        ],
        latencies={kind: nanos / SECOND for kind, nanos in watches.latencies.items() if nanos},
        watches={
            kind: WatchView(connected=kind not in watches.unseen, unseen=watches.unseen.get(kind, 0), drops=watches.drops.get(kind, 0))
            for kind in (*watches.unseen, *(kind for kind in watches.drops if kind not in watches.unseen))
        },
        helpers=dict(cluster.controllers.delays),
    )
