"""Selects the node as v1.36 does: what container/heap leaves on top among equal totals.

Upstream: pkg/scheduler/schedule_one.go newSortedNodeScores, nodeScoreHeap
"""

from __future__ import annotations

import numpy as np

from schedviz.engine.cycle_results import Ranking
from schedviz.engine.framework.interface import Scores
from schedviz.engine.select_host import rank


def rank_by_heap(scores: Scores) -> Ranking:
    """The winner: the root of a heap over the rows in their order."""
    ranking = rank(scores, None)
    winner = _root(np.flatnonzero(scores == ranking.total))
    if winner == ranking.winner:
        return ranking
    runner_up = ranking.winner if ranking.tied_nodes > 1 else ranking.runner_up
    return Ranking(winner, ranking.total, ranking.tied_nodes, ranking.first_tied, runner_up, ranking.runner_up_total)


def _root(tied: np.ndarray[tuple[int], np.dtype[np.intp]]) -> int:
    """Which of the rows with the highest total heap.Init brings to the root.

    A node keeps its place if it is one of them. Otherwise its greater child rises, of equal children the left one; so the winner is found
    from the root down, without building the heap.
    """
    node = 0
    while True:
        if node in tied:
            return node
        left = 2 * node + 1
        node = left if _any_below(left, tied) else left + 1


def _any_below(node: int, tied: np.ndarray[tuple[int], np.dtype[np.intp]]) -> bool:
    """Whether one of the rows is in the subtree of a node."""
    first = last = node
    highest = int(tied[-1])
    while first <= highest:
        if np.any((tied >= first) & (tied <= last)):
            return True
        first, last = 2 * first + 1, 2 * last + 2
    return False
