"""UpdateSnapshot with one changed node, in a small cluster and in a large one, turn by turn: a few µs are told apart only in one run."""

from __future__ import annotations

import statistics

import msgspec

from schedviz.cli.bench.measure import WARM_UP, Run, clock
from schedviz.cli.bench.workloads import WORKLOADS

ROUNDS = 1000


class SnapshotRow(msgspec.Struct, frozen=True):
    """Medians of one UpdateSnapshot, in µs, and of how many times longer the large one takes than the small one beside it."""

    small_nodes: int
    large_nodes: int
    small_us: float
    large_us: float
    ratio: float


def snapshots(*, small: int = 100, large: int = 15_000, rounds: int = ROUNDS) -> SnapshotRow:
    """Both clusters get a pod, then both snapshots are updated."""
    runs = [_filled(nodes, rounds) for nodes in (small, large)]
    pairs: list[tuple[float, float]] = []
    for number in range(rounds):
        for run in runs:
            run.cycle()
        # Whoever comes second finds the code warm.
        seconds = [_seconds_of_an_update(run) for run in (runs if number % 2 else reversed(runs))]
        pairs.append((seconds[1 - number % 2], seconds[number % 2]))
    return SnapshotRow(
        small_nodes=small,
        large_nodes=large,
        small_us=round(statistics.median(one for one, _ in pairs) * 1e6, 2),
        large_us=round(statistics.median(other for _, other in pairs) * 1e6, 2),
        ratio=round(statistics.median(other / one for one, other in pairs), 2),
    )


def _filled(nodes: int, cycles: int) -> Run:
    run = Run(WORKLOADS["basic"], nodes=nodes, pods=cycles + WARM_UP, every_node=True, recording="summary")
    for _ in range(WARM_UP):
        run.cycle()
    return run


def _seconds_of_an_update(run: Run) -> float:
    state = run.simulation.scheduler.state
    begun = clock()
    update = state.cache.update_snapshot(state.snapshot)
    ended = clock()
    if len(update.cloned) != 1:
        raise RuntimeError(f"expected one changed node, found {len(update.cloned)}")
    return ended - begun
