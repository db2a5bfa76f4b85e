"""Selects the node as v1.36 does: what container/heap leaves on top among equal totals.

Upstream: pkg/scheduler/schedule_one.go newSortedNodeScores, nodeScoreHeap
"""

from __future__ import annotations

from collections.abc import Iterator

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


class SortedNodes:
    """Rows in the order in which container/heap pops them: by total, and equal ones as the heap leaves them.

    Python's heapq moves other elements than Go's heap, so the order of equal totals would differ.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores: list[int] = scores.tolist()
        self._heap = list(range(len(self._scores)))
        for place in range(len(self._heap) // 2 - 1, -1, -1):
            self._down(place, len(self._heap))

    def __iter__(self) -> Iterator[int]:
        """Pop all rows."""
        heap = self._heap
        while heap:
            last = len(heap) - 1
            heap[0], heap[last] = heap[last], heap[0]
            self._down(0, last)
            yield heap.pop()

    def _down(self, place: int, end: int) -> None:
        heap, scores = self._heap, self._scores
        while (child := 2 * place + 1) < end:
            right = child + 1
            if right < end and scores[heap[right]] > scores[heap[child]]:
                child = right
            if scores[heap[child]] <= scores[heap[place]]:
                return
            heap[place], heap[child] = heap[child], heap[place]
            place = child
