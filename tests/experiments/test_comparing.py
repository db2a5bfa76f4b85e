"""Pods on other nodes in other variants."""

from __future__ import annotations

from schedviz.experiments.comparing import Moves, Placements, moves_between


def test_moves_are_means_over_common_seeds() -> None:
    placements = Placements()
    placements.add("a", 1, {"x": "n1", "y": "n1"})
    placements.add("b", 1, {"z": "n3", "y": "n1", "x": "n2"})
    placements.add("a", 2, {"w": "n1", "x": "n1"})
    placements.add("b", 2, {"x": "n1"})
    placements.add("c", 3, {"x": "n1"})

    moves = moves_between(["a", "b", "c"], placements)

    # Of seed 1, x moved and z is pending in a; of seed 2, w is pending in b.
    assert moves == Moves(["a", "b", "c"], [[0, 1.5, None], [1.5, 0, None], [None, None, 0]])


def test_many_placements_take_four_bytes_each() -> None:
    placements = Placements()
    for seed in range(20):
        placements.add("a", seed, {f"pod-{number}": f"node-{number % 7}" for number in range(1000)})

    assert sum(places.buffer_info()[1] * places.itemsize for places in placements._places.values()) == 20 * 1000 * 4
