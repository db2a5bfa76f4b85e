"""The engine's workloads and imports: all figures of docs/measurements/performance.md for the engine alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from schedviz.cli.bench.check import differences
from schedviz.cli.bench.importing import ImportRow, measure_import
from schedviz.cli.bench.measure import Row, measure
from schedviz.cli.bench.workloads import WORKLOADS, Workload
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASES

#: Workloads with goals come first, so that an interrupted run has them.
SIZES = (5000, 500, 15000, 100, 1000)
#: The number of runs of each row with a goal; the median counts, since the machine is shared.
REPEATS = 3
WITH_GOALS = frozenset(
    {("preempt", 500), ("basic", 100), ("basic", 15000)}
    | {(name, 5000) for name in ("basic", "spread", "spread-soft", "affinity", "preferred")}
)


def cycles(sizes: Sequence[int] = SIZES, *, pods: int = 200) -> Iterator[Row]:
    """Every workload at every size in each release, with every node filtered and scored; the basic one also with upstream's default sampling."""
    for release in RELEASES:
        for name, workload in _workloads(release):
            result = differences(workload, nodes=100, every_node=True, release=release)
            if result:
                raise SystemExit(
                    f"{name}, {release}: placements differ from those of plugins that are asked about one node at a time: {result[0]}"
                )
    for nodes in sizes:
        for release in RELEASES:
            for name, workload in _workloads(release):
                repeats = REPEATS if (name, nodes) in WITH_GOALS else 1
                yield _median([_row(name, workload, nodes, pods, every_node=True, release=release) for _ in range(repeats)])
            yield _row("basic", WORKLOADS["basic"], nodes, pods, every_node=False, release=release)


def _workloads(release: str) -> list[tuple[str, Workload]]:
    """The workloads whose objects the release reads."""
    return [(name, workload) for name, workload in WORKLOADS.items() if release != DEFAULT_RELEASE or not name.startswith("devices")]


def sweeps(*, nodes: int = 500, pods: int = 100) -> list[Row]:
    """The basic workload with more running pods on each node, and with more nodes that change between two cycles."""

    def row(**members: int) -> Row:
        return measure("basic", WORKLOADS["basic"], nodes=nodes, pods=pods, every_node=True, recording="summary", **members)

    return [*(row(running=count) for count in (1, 10, 30)), *(row(dirty=count) for count in (1, 10, 100))]


def imports(*, nodes: int = 5000, pods: int = 50_000) -> Iterator[ImportRow]:
    """A large dump in both formats."""
    yield measure_import("json", nodes=nodes, pods=pods)
    yield measure_import("yaml", nodes=nodes, pods=pods)


def load_average() -> str:
    """The load average as text."""
    try:
        return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    except OSError:
        return "unknown"


def _row(name: str, workload: Workload, nodes: int, pods: int, *, every_node: bool, release: str) -> Row:
    return measure(name, workload, nodes=nodes, pods=pods, every_node=every_node, recording="summary", release=release)


def _median(rows: Sequence[Row]) -> Row:
    """The run with the median ratio."""
    return sorted(rows, key=lambda row: row.ratio)[len(rows) // 2]
