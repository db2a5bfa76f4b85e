"""v1.36 selects the node that container/heap leaves on top."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schedviz.engine.select_host_v1_36 import rank_by_heap


def go_heap_root(scores):
    """The root after Go's container/heap Init, with the greatest on top."""
    heap = list(range(len(scores)))
    for start in range(len(heap) // 2 - 1, -1, -1):
        node = start
        while (child := 2 * node + 1) < len(heap):
            right = child + 1
            if right < len(heap) and scores[heap[right]] > scores[heap[child]]:
                child = right
            if not scores[heap[child]] > scores[heap[node]]:
                break
            heap[node], heap[child] = heap[child], heap[node]
            node = child
    return heap[0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=70))
def test_the_winner_is_the_root_of_the_heap(scores):
    assert rank_by_heap(np.array(scores, np.int64)).winner == go_heap_root(scores)


@given(st.integers(1, 5000), st.data())
def test_the_best_node_wins_at_any_position(count, data):
    scores = np.zeros(count, np.int64)
    best = data.draw(st.integers(0, count - 1))
    scores[best] = 1

    assert rank_by_heap(scores).winner == best
