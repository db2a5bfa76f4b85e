"""Reads the gauges of a session's scheduler from its engine."""

from __future__ import annotations

from collections import Counter

from schedviz.engine import Simulation
from schedviz.sessions.metrics import definitions
from schedviz.sessions.metrics.blocked_pods import blocked_pods
from schedviz.sessions.metrics.cache_mismatch import cache_mismatch
from schedviz.sessions.metrics.metric_values import Labels
from schedviz.sessions.metrics.oldest_pods import oldest_pods


def read_gauges(simulation: Simulation) -> dict[str, dict[Labels, float]]:
    """The current value of every gauge that is read from the engine. Iterates over all queued pods.

    Deviation: `scheduler_unschedulable_pods` counts the pods that are queued now. Upstream never decreases it for a deleted pod.
    """
    state = simulation.scheduler.state
    queue, cache = state.queue, state.cache
    gated = sum(queued.gated for queued in queue.unschedulable_pods)
    cached: dict[Labels, float] = {
        ("assumed_pods",): len(cache.assumed_pods),
        ("pods",): len(cache.pod_states),
        ("nodes",): cache.node_count,
    }
    reasons = Counter((plugin, queued.pod.spec.scheduler_name) for queued in queue.queued_pods() for plugin in queued.unschedulable_plugins)
    return {
        definitions.PENDING_PODS.name: {
            ("active",): len(queue.active_q),
            ("backoff",): len(queue.pods_in_backoff_q()),
            ("unschedulable",): len(queue.unschedulable_pods) - gated,
            ("gated",): gated,
        },
        definitions.GOROUTINES.name: {("binding",): sum(binding.is_running for binding in simulation.scheduler.bindings)},
        definitions.SCHEDULER_CACHE_SIZE.name: cached,
        definitions.CACHE_SIZE.name: cached,
        definitions.BLOCKED_PODS.name: {(reason,): float(number) for reason, number in blocked_pods(simulation).items()},
        definitions.CACHE_MISMATCH.name: cache_mismatch(simulation),
        definitions.QUEUE_OLDEST_POD_AGE.name: oldest_pods(simulation),
        definitions.UNSCHEDULABLE_PODS.name: {labels: float(number) for labels, number in reasons.items()},
    }
