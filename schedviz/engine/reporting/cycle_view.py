"""Cycles, bindings and the API server as a page draws them."""

from __future__ import annotations

from schedviz.engine.binding import BindingCycle
from schedviz.engine.clock import SECOND
from schedviz.engine.cluster import Cluster
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.kube.kinds import KINDS
from schedviz.trace.events import cycle_results
from schedviz.trace.view import ApiView, BindingView, CycleView, WatchInFlight, WatchView


def cycle_view(cycle: SchedulingCycle) -> CycleView:
    """A scheduling cycle, running or ended; equal to the fold of its events."""
    results = cycle.results
    return CycleView(
        cycle=cycle.number,
        pod=cycle.pod.key,
        profile=cycle.framework.profile_name,
        attempts=results.attempts,
        at_seconds=results.at_seconds,
        next_stage=cycle.stage,
        stages=list(results.stages),
        all_nodes=results.all_nodes,
        **(cycle_results(results) if cycle.has_ended else {}),
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


def api_view(cluster: Cluster) -> ApiView:
    """The simulated API server."""
    watches = cluster.watches
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
        helpers=dict(cluster.controllers.on),
    )
