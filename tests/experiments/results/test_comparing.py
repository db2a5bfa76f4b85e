"""Pods that move to other nodes in other variants."""

from __future__ import annotations

import itertools
import random

from schedviz.experiments.results.comparing import Moves, Placements, moves_between


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


def test_placements_take_four_bytes_each() -> None:
    placements = Placements()
    for seed in range(20):
        placements.add("a", seed, {f"pod-{number}": f"node-{number % 7}" for number in range(1000)})

    bits = [places.bit_length() for places in placements._places.values()]
    assert len(bits) == 20
    assert max(bits) <= 1000 * 4 * 8


def test_moves_are_those_of_a_comparison_pod_by_pod() -> None:
    rng = random.Random(7)
    pods = [f"pod-{number}" for number in range(100)]
    trials = [{pod: rng.choice(["", "n1", "n2", "n3"]) for pod in rng.sample(pods, rng.randint(1, 100))} for _ in range(6)]
    trials += [dict.fromkeys(pods, "n1"), dict.fromkeys(pods, "n9"), {}]
    placements = Placements()
    for number, trial in enumerate(trials):
        placements.add(str(number), None, trial)

    for a, b in itertools.product(range(len(trials)), repeat=2):
        expected = sum(trials[a].get(pod, "") != trials[b].get(pod, "") for pod in pods)
        assert placements.moved(str(a), str(b), None) == expected
