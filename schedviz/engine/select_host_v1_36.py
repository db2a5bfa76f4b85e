"""Selects the node as v1.36 does: what container/heap leaves on top among equal totals.

Upstream: pkg/scheduler/schedule_one.go newSortedNodeScores, nodeScoreHeap
"""

from __future__ import annotations

import numpy as np

from schedviz.engine.cycle_results import Ranking
from schedviz.engine.framework.interface import Scores
from schedviz.engine.select_host import rank


def rank_by_heap(scores: Scores, first: Ranking | None = None) -> Ranking:
    """The winner: the root of a heap over the rows in their order. `first`: the ranking by the first of tied rows, if it is known."""
    ranking = first or rank(scores, None)
    winner = _root(np.flatnonzero(scores == ranking.total))
    if winner == ranking.winner:
        return ranking
    runner_up = ranking.winner if ranking.tied_nodes > 1 else ranking.runner_up
    return Ranking(winner, ranking.total, ranking.tied_nodes, ranking.first_tied, runner_up, ranking.runner_up_total)


def _root(tied: np.ndarray[tuple[int], np.dtype[np.intp]]) -> int:
    """Which of the rows with the highest total heap.Init brings to the root; `tied` is ascending.

    A node keeps its place if it is one of them. Otherwise its greater child rises, of equal children the left one. In binary, the number of
    a row (from 1) spells its path from the root after the first 1: 0 is left, 1 is right. So the winner is the row whose path is the first
    in the order of a dictionary, and the heap need not be built.
    """
    numbers = tied + 1
    lengths = np.frexp(numbers)[1].astype(np.int64)
    paths = numbers << (int(lengths[-1]) - lengths)
    # Of a path and its continuations with zeros, the shortest is first. No length needs more than 6 bits.
    return int(tied[np.argmin(paths << 6 | lengths)])
