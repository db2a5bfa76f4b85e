"""What SIGUSR2 makes the scheduler of a simulation print, and how it differs from the simulated API server.

Upstream: internal/cache/debugger/debugger.go
"""

from __future__ import annotations

from schedviz.engine.cache.debugger.audit import Audit, audit
from schedviz.engine.cache.debugger.comparer import compare
from schedviz.engine.cache.debugger.dumper import Dump, take
from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.simulation import Simulation
from schedviz.kube.core import Node, Pod


def dump(simulation: Simulation) -> Dump:
    """The scheduler's cache and queue, now."""
    queue = simulation.scheduler.state.queue
    queues = (queue.active_q, queue.backoff_q, queue.unschedulable_pods)
    pending = [[queued.pod for queued in waiting] for waiting in queues]
    return take(simulation.scheduler.state.cache.nodes, pending, queue.nominated_pods_for_node)


def dump_lines(simulation: Simulation, *, verbosity: int = 2) -> list[LogLine]:
    """What SIGUSR2 prints: the comparer's lines, then the dumper's."""
    informers, at = simulation.scheduler.state.informers, EPOCH_SECONDS * SECOND + simulation.clock.now
    dumped = dump(simulation)
    nodes = [node.name for node in informers.list("Node")]
    mismatch = compare(nodes, [pod.uid for pod in informers.list("Pod")], dumped)
    return [line for line in [*mismatch.lines(at), *dumped.lines(at)] if line.verbosity <= verbosity]


def audit_simulation(simulation: Simulation) -> Audit:
    """How the scheduler's cache and queue differ from the simulated API server."""
    store = simulation.cluster.store
    nodes = [node for node in store.of_kind("Node").values() if isinstance(node, Node)]
    pods = [pod for pod in store.of_kind("Pod").values() if isinstance(pod, Pod)]
    return audit(nodes, pods, dump(simulation), scheduler_names=simulation.scheduler.state.profiles)
