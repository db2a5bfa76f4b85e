"""Compares two things that are measured alternately in one process, so that differences of hundredths of a millisecond show on a busy machine."""

from __future__ import annotations

import statistics
from collections.abc import Callable

import msgspec

from schedviz.cli.bench.measure import WARM_UP, Run, clock
from schedviz.cli.bench.workloads import WORKLOADS

ROUNDS = 1000


class Pair(msgspec.Struct, frozen=True):
    """Medians of the CPU time in µs, and the median ratio between the two measurements of a round."""

    one_us: float
    other_us: float
    ratio: float


class Pairs(msgspec.Struct, frozen=True):
    """The pairs that have goals."""

    #: UpdateSnapshot with one changed node, of 100 nodes and of 15,000.
    snapshots: Pair
    #: A basic cycle at 5,000 nodes, every node: recording off, and a summary of it recorded.
    recordings: Pair


def pairs(*, rounds: int = ROUNDS) -> Pairs:
    """Measure both pairs."""
    return Pairs(snapshots=_snapshots(rounds), recordings=_recordings(rounds))


def _snapshots(rounds: int) -> Pair:
    small, large = (_filled(nodes, "summary", rounds) for nodes in (100, 15_000))
    return _in_turns(lambda: _update(small), lambda: _update(large), rounds)


def _recordings(rounds: int) -> Pair:
    off, summary = (_filled(5000, recording, rounds) for recording in ("off", "summary"))
    return _in_turns(off.cycle, summary.cycle, rounds)


def _in_turns(one: Callable[[], float], other: Callable[[], float], rounds: int) -> Pair:
    seconds: list[tuple[float, float]] = []
    for number in range(rounds):
        # The second measurement of a round benefits from warm caches.
        if number % 2:
            first = one()
            seconds.append((first, other()))
        else:
            second = other()
            seconds.append((one(), second))
    return Pair(
        one_us=round(statistics.median(first for first, _ in seconds) * 1e6, 2),
        other_us=round(statistics.median(second for _, second in seconds) * 1e6, 2),
        ratio=round(statistics.median(second / first for first, second in seconds), 2),
    )


def _filled(nodes: int, recording: str, cycles: int) -> Run:
    run = Run(WORKLOADS["basic"], nodes=nodes, pods=cycles + WARM_UP, every_node=True, recording=recording)
    for _ in range(WARM_UP):
        run.cycle()
    return run


def _update(run: Run) -> float:
    """Place a pod, and update the snapshot."""
    run.cycle()
    state = run.simulation.scheduler.state
    begun = clock()
    update = state.cache.update_snapshot(state.snapshot)
    ended = clock()
    if len(update.cloned) != 1:
        raise RuntimeError(f"expected one changed node, found {len(update.cloned)}")
    return ended - begun
