"""Runs a workload through the engine and measures its cycles."""

from __future__ import annotations

import gc
import resource
import statistics
import sys
import time

import msgspec

from schedviz.cli.bench.calibration import calibration
from schedviz.cli.bench.workloads import Workload
from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.commands import Step
from schedviz.trace.events import encode_events

#: Cycles that are run before the clock starts: the first snapshot clones every node, and columns are filled.
WARM_UP = 20


class Row(msgspec.Struct, frozen=True):
    """What one workload cost at one size. A cycle is from pop to confirmed, with everything recorded; milliseconds."""

    workload: str
    nodes: int
    every_node: bool
    recording: str
    cycles: int
    pods_per_second: float
    p50_ms: float
    p90_ms: float
    p99_ms: float
    rss_mb: float
    calibration_ms: float
    #: The median cycle in units of the calibration: this holds on any machine.
    ratio: float
    #: Bytes of encoded events in a cycle.
    event_bytes: float


def measure(name: str, workload: Workload, *, nodes: int, pods: int, every_node: bool, recording: str) -> Row:
    """Schedule `pods` pods, one command a cycle, and drain and encode the events of each as a worker does."""
    config = {"percentageOfNodesToScore": 100} if every_node else None
    simulation = Simulation(SimulationSettings(config=config))
    simulation.detail = recording == "detail"
    simulation.load(workload.cluster(nodes, pods + WARM_UP))
    simulation.drain_events()
    # Off: events are dropped where they would be made. What the stages find out for them they find out all the same.
    simulation.recorder.silent = recording == "off"
    gc.collect()
    seconds: list[float] = []
    encoded = 0
    for index in range(pods + WARM_UP):
        if workload.between is not None:
            simulation.start(workload.between(index, nodes))
            simulation.work()
            simulation.drain_events()
        begin = time.perf_counter()
        simulation.start(Step(unit="cycle", count=1))
        simulation.work()
        data = encode_events(simulation.drain_events())
        simulation.drain_cycles()
        taken = time.perf_counter() - begin
        if index >= WARM_UP:
            seconds.append(taken)
            encoded += len(data)
    yardstick = calibration(nodes, 300) * 1000
    percentiles = statistics.quantiles([value * 1000 for value in seconds], n=100)
    return Row(
        workload=name,
        nodes=nodes,
        every_node=every_node,
        recording=recording,
        cycles=len(seconds),
        pods_per_second=round(len(seconds) / sum(seconds), 1),
        p50_ms=round(percentiles[49], 3),
        p90_ms=round(percentiles[89], 3),
        p99_ms=round(percentiles[98], 3),
        rss_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1),
        calibration_ms=round(yardstick, 4),
        ratio=round(percentiles[49] / yardstick, 2),
        event_bytes=round(encoded / len(seconds), 1),
    )
