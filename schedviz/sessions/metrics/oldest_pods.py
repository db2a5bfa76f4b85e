"""How long the pod of each queue that has waited longest has waited."""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.engine import Simulation
from schedviz.engine.framework.types import QueuedPodInfo, nanos_to_seconds
from schedviz.sessions.metrics.metric_values import Labels


def oldest_pods(simulation: Simulation) -> dict[Labels, float]:
    """Seconds of virtual time since a pod was queued or its last attempt failed, of the oldest pod by queue; 0: the queue is empty."""
    queue, now = simulation.scheduler.state.queue, simulation.clock()
    gated = [queued for queued in queue.unschedulable_pods if queued.gated]
    unschedulable = [queued for queued in queue.unschedulable_pods if not queued.gated]
    return {
        ("active",): _max_age(queue.active_q, now),
        ("backoff",): _max_age(queue.pods_in_backoff_q(), now),
        ("unschedulable",): _max_age(unschedulable, now),
        ("gated",): _max_age(gated, now),
    }


def _max_age(pods: Iterable[QueuedPodInfo], now: int) -> float:
    return nanos_to_seconds(now - min((queued.timestamp for queued in pods), default=now))
