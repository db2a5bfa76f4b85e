"""Checks that placements equal those of a run in which every plugin is called for one node at a time and remembers nothing.

Fast paths (columns, formulas, domain counts) all use the rows of the snapshot. Here each row stands alone, made
from the current NodeInfo, so no fast path applies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from schedviz.cli.bench.plugin_classes import Patch, patched, plugin_classes
from schedviz.cli.bench.workloads import Workload
from schedviz.engine import Simulation, SimulationSettings
from schedviz.engine.cache import Snapshot
from schedviz.engine.framework.adjusted_rows import AdjustedRows
from schedviz.engine.framework.columns import Columns
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.trace.commands import Step
from schedviz.trace.releases import DEFAULT_RELEASE

#: One call per node takes milliseconds.
MAX_NODES = 120
CYCLES = 25


class Placement(msgspec.Struct, frozen=True):
    """The result of one cycle."""

    pod: str
    outcome: str
    node: str
    message: str
    total: int
    tied: int


def placements(workload: Workload, *, nodes: int, every_node: bool, release: str = DEFAULT_RELEASE) -> list[Placement]:
    """The results of the first pods."""
    simulation = Simulation(SimulationSettings(config={"percentageOfNodesToScore": 100} if every_node else None, release=release))
    simulation.load(workload.cluster(nodes, CYCLES))
    result: list[Placement] = []
    for index in range(CYCLES):
        if workload.between is not None:
            simulation.start(workload.between(index, nodes))
            simulation.work()
        simulation.start(Step(unit="cycle", count=1))
        simulation.work()
        for cycle in simulation.drain_cycles():
            total = cycle.winner.total if cycle.winner is not None else 0
            result.append(Placement(cycle.pod, cycle.outcome, cycle.node, cycle.message, total, cycle.tied_nodes))
        simulation.drain_events()
    return result


def differences(workload: Workload, *, nodes: int, every_node: bool, release: str = DEFAULT_RELEASE) -> list[tuple[Placement, Placement]]:
    """Cycles whose result differs from that of plugins called for one node at a time: the result, and the expected one."""
    nodes = min(nodes, MAX_NODES)
    fast = placements(workload, nodes=nodes, every_node=every_node, release=release)
    with patched(_one_at_a_time(release)):
        slow = placements(workload, nodes=nodes, every_node=every_node, release=release)
    return [(found, expected) for found, expected in zip(fast, slow, strict=True) if found != expected]


def _one_at_a_time(release: str) -> list[Patch]:
    patches: list[Patch] = [(Snapshot, "rows", _fresh_rows)]
    for kind in plugin_classes(release).values():
        if hasattr(kind, "filter"):
            patches.append((kind, "filter", _filter_one_by_one(kind.filter)))
        if hasattr(kind, "score"):
            patches.append((kind, "score", _score_one_by_one(kind.score)))
    return patches


def _fresh_rows(snapshot: Snapshot, index: Any = None) -> Rows:
    return Rows(Columns(snapshot.node_info_list), index)


def _one(rows: Rows, row: int) -> Rows:
    """One row by itself. In a dry run it has no NodeInfo, but its own sums."""
    return rows.take(np.array([row])) if isinstance(rows, AdjustedRows) else Rows.of([rows.infos[row]])


def _filter_one_by_one(plugin_filter: Callable[..., Verdicts | None]) -> Callable[..., Verdicts | None]:
    def filter_rows(self: Any, state: Any, pod: Any, rows: Rows) -> Verdicts | None:
        verdicts = [plugin_filter(self, state, pod, _one(rows, row)) for row in range(len(rows))]
        statuses = [SUCCESS if verdict is None else verdict[0] for verdict in verdicts]
        return None if all(status is SUCCESS for status in statuses) else Verdicts.of(statuses)

    return filter_rows


def _score_one_by_one(plugin_score: Callable[..., Any]) -> Callable[..., Any]:
    def score_rows(self: Any, state: Any, pod: Any, rows: Rows) -> Any:
        scores = [plugin_score(self, state, pod, _one(rows, row)) for row in range(len(rows))]
        failed = next((score for score in scores if isinstance(score, Status)), None)
        return failed if failed is not None else np.concatenate([np.zeros(0, np.int64), *scores])

    return score_rows
