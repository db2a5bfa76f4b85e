"""The scheduler's output on SIGUSR2.

Upstream: internal/cache/debugger/debugger.go
"""

from __future__ import annotations

from schedviz.engine.cache.debugger.comparer import compare
from schedviz.engine.cache.debugger.dumper import Dump, dump_of
from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.simulation import Simulation
from schedviz.trace.releases import V1_27


def dump(simulation: Simulation) -> Dump:
    """The current contents of the scheduler's cache and queue."""
    queue = simulation.scheduler.state.queue
    queues = ((queue.active_q,), queue.backoff_heaps(), (queue.unschedulable_pods,))
    pending = [[[queued.pod for queued in heap] for heap in heaps] for heaps in queues]
    return dump_of(simulation.scheduler.state.cache.nodes, pending, queue.nominated_pods_for_node)


def dump_lines(simulation: Simulation, *, verbosity: int = 2, at: int | None = None) -> list[LogLine]:
    """The log lines of SIGUSR2: the comparer's, then the dumper's. `at` is in nanoseconds since 1970; the default is the virtual time."""
    informers = simulation.scheduler.state.informers
    if at is None:
        at = EPOCH_SECONDS * SECOND + simulation.clock.now
    dumped = dump(simulation)
    nodes = [node.name for node in informers.list("Node")]
    mismatch = compare(nodes, [pod.uid for pod in informers.list("Pod")], dumped)
    return [
        line
        for line in [*mismatch.lines(at, as_json=simulation.release.version != V1_27), *dumped.lines(at)]
        if line.verbosity <= verbosity
    ]
