"""Runs a workload through the engine and measures its cycles."""

from __future__ import annotations

import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable

import msgspec

from schedviz.cli.bench.calibration import calibration
from schedviz.cli.bench.shares import profiled
from schedviz.cli.bench.workloads import Workload, relabel
from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.stages import UPDATE_SNAPSHOT
from schedviz.trace.commands import Step
from schedviz.trace.events import encode_events
from schedviz.trace.releases import DEFAULT_RELEASE

#: Cycles before the measurement: the first snapshot clones every node and fills columns.
WARM_UP = 20
#: The calibration runs between blocks of cycles, because the speed of a shared machine changes from second to second.
BLOCKS = 10
_CALIBRATION_PODS = 60
#: Cycles and their calibration are measured in CPU seconds of this process. A cycle waits for nothing, so this is its time on an idle
#: machine. Wall time next to seven other programs on two cores was three times as long, and varied.
clock = time.process_time
#: Some systems count CPU time in ticks, so that a cycle may take none. Divisors are at least this, in seconds.
_SHORTEST = 1e-6
#: Cycles that are profiled by stage and plugin.
_PROFILED_CYCLES = 60


class Row(msgspec.Struct, frozen=True):
    """The cost of one workload at one size. A cycle lasts from pop to confirmed, with everything recorded; in milliseconds of CPU time."""

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
    #: The median cycle in units of the calibration: the median of blocks that each had their own. It is comparable between machines.
    ratio: float
    #: Bytes of encoded events per cycle.
    event_bytes: float
    #: Running pods per node at the start, if it is not the workload's own number.
    running: int | None = None
    #: Nodes that changed between two cycles, besides the one that received the pod.
    dirty_nodes: int = 0
    #: The simulated kube-scheduler.
    release: str = DEFAULT_RELEASE
    #: UpdateSnapshot only.
    update_snapshot_ms: float = 0.0
    #: Shares of a cycle by stage (`record` and `encode` are recording), and by plugin, over all its extension points.
    stages: dict[str, float] = {}
    plugins: dict[str, float] = {}

    def has_conditions_of(self, other: Row) -> bool:
        """Whether the other row has the same workload and conditions; its release may differ."""
        return self._conditions() == other._conditions()

    def _conditions(self) -> tuple[object, ...]:
        return self.workload, self.nodes, self.every_node, self.recording, self.running, self.dirty_nodes


class Run:
    """A simulation with a workload, whose cycles are run one by one."""

    def __init__(
        self,
        workload: Workload,
        *,
        nodes: int,
        pods: int,
        every_node: bool,
        recording: str,
        running: int | None = None,
        dirty: int = 0,
        release: str = DEFAULT_RELEASE,
    ) -> None:
        config = {"percentageOfNodesToScore": 100} if every_node else None
        self.simulation = Simulation(SimulationSettings(config=config, release=release))
        self.simulation.records = "full" if recording == "detail" else ""
        self.simulation.load(workload.cluster(nodes, pods, running=running))
        self.simulation.drain_events()
        # Off: events are dropped where they would be created. The stages still collect their facts.
        self.simulation.recorder.silent = recording == "off"
        self._workload = workload
        self._nodes = nodes
        self._dirty = dirty
        self._cycles = 0
        self.encoded = 0
        self.encode_seconds = 0.0

    def prepare(self) -> None:
        """Changes between two cycles, which are not measured."""
        simulation = self.simulation
        commands = [] if self._workload.between is None else [self._workload.between(self._cycles, self._nodes)]
        commands += [relabel((self._cycles * self._dirty + number) % self._nodes, self._cycles) for number in range(self._dirty)]
        for command in commands:
            simulation.start(command)
            simulation.work()
            simulation.drain_events()

    def cycle(self) -> float:
        """Run a cycle as one command, and drain and encode its events as a worker does. Returns seconds."""
        simulation = self.simulation
        self._cycles += 1
        begin = clock()
        simulation.start(Step(unit="cycle", count=1))
        simulation.work()
        worked = clock()
        data = encode_events(simulation.drain_events())
        simulation.drain_cycles()
        end = clock()
        self.encoded += len(data)
        self.encode_seconds = end - worked
        return end - begin


def calibrate(nodes: int = 5000, pods: int = _CALIBRATION_PODS) -> float:
    """CPU seconds of the calibration per pod."""
    begin = clock()
    calibration(nodes, pods)
    return max(clock() - begin, _SHORTEST) / pods


def peak_megabytes() -> float:
    """The peak memory of this process, in units of 2**20 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def measure(
    name: str,
    workload: Workload,
    *,
    nodes: int,
    pods: int,
    every_node: bool,
    recording: str,
    running: int | None = None,
    dirty: int = 0,
    release: str = DEFAULT_RELEASE,
) -> Row:
    """Schedule `pods` pods, one command per cycle."""

    def new_run(cycles: int) -> Run:
        run = Run(
            workload,
            nodes=nodes,
            pods=cycles + WARM_UP,
            every_node=every_node,
            recording=recording,
            running=running,
            dirty=dirty,
            release=release,
        )
        gc.collect()
        for _ in range(WARM_UP):
            run.prepare()
            run.cycle()
        run.encoded = 0
        return run

    run = new_run(pods)
    calibrations: list[float] = []
    blocks: list[list[float]] = []
    for block in range(BLOCKS):
        calibrations.append(calibrate(nodes) * 1000)
        block_cycles: list[float] = []
        for _ in range(pods * (block + 1) // BLOCKS - pods * block // BLOCKS):
            run.prepare()
            block_cycles.append(run.cycle() * 1000)
        blocks.append(block_cycles)
    rss = peak_megabytes()
    cycles = [value for block_cycles in blocks for value in block_cycles]
    encoded = run.encoded
    del run
    stages, plugins, update_snapshot = _shares(new_run, release)
    percentiles = statistics.quantiles(cycles, n=100)
    return Row(
        workload=name,
        nodes=nodes,
        every_node=every_node,
        recording=recording,
        cycles=len(cycles),
        pods_per_second=round(len(cycles) / max(sum(cycles) / 1000, _SHORTEST), 1),
        p50_ms=round(percentiles[49], 3),
        p90_ms=round(percentiles[89], 3),
        p99_ms=round(percentiles[98], 3),
        rss_mb=round(rss, 1),
        calibration_ms=round(statistics.median(calibrations), 4),
        ratio=round(statistics.median(statistics.median(some) / unit for some, unit in zip(blocks, calibrations, strict=True) if some), 2),
        event_bytes=round(encoded / len(cycles), 1),
        running=running,
        dirty_nodes=dirty,
        release=release,
        update_snapshot_ms=round(update_snapshot * 1000, 4),
        stages=stages,
        plugins=plugins,
    )


def _shares(new_run: Callable[[int], Run], release: str) -> tuple[dict[str, float], dict[str, float], float]:
    """Seconds by stage, by plugin, and of UpdateSnapshot."""
    with profiled(release) as (by_stage, by_plugin):
        run = new_run(_PROFILED_CYCLES)
        cycles: list[float] = []
        encoding: list[float] = []
        for _ in range(_PROFILED_CYCLES):
            run.prepare()
            by_stage.begin_cycle()
            by_plugin.begin_cycle()
            cycles.append(run.cycle())
            encoding.append(run.encode_seconds)
            by_stage.end_cycle()
            by_plugin.end_cycle()
        cycle_median = max(statistics.median(cycles), _SHORTEST)
        stages = by_stage.medians()
        of_stages = {name: round(seconds / cycle_median, 4) for name, seconds in stages.items()}
        of_stages["encode"] = round(statistics.median(encoding) / cycle_median, 4)
        of_plugins = {name: round(seconds / cycle_median, 4) for name, seconds in by_plugin.medians().items()}
        return of_stages, of_plugins, stages.get(UPDATE_SNAPSHOT, 0.0)
