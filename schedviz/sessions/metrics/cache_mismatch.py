"""What differs between the scheduler's cache and the API server, as upstream's comparer finds on SIGUSR2."""

from __future__ import annotations

from schedviz.engine import Simulation
from schedviz.kube.core import Node, Pod
from schedviz.sessions.metrics.metric_values import Labels


def cache_mismatch(simulation: Simulation) -> dict[Labels, float]:
    """The numbers of nodes and of pods on nodes that only the API server has (`missed`), or only the cache (`redundant`).

    Upstream: backend/cache/debugger/comparer.go, which compares the informers, and therefore does not see lost watch events.
    """
    cache = simulation.scheduler.state.cache
    objects = list(simulation.stored_objects())
    nodes = {obj.name for obj in objects if isinstance(obj, Node)}
    pods = {obj.uid for obj in objects if isinstance(obj, Pod) and obj.spec.node_name and not obj.is_finished}
    cached_nodes = {info.name for info in cache.nodes if info.node is not None}
    # An assumed pod is in the cache before it is bound at the API server.
    assumed = cache.assumed_pods
    cached_pods = cache.pod_states.keys() - assumed
    return {
        ("node", "missed"): len(nodes - cached_nodes),
        ("node", "redundant"): len(cached_nodes - nodes),
        ("pod", "missed"): len(pods - cached_pods - assumed),
        ("pod", "redundant"): len(cached_pods - pods),
    }
