"""Counts the pods that run on another node in another variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import ne
from typing import Final

import msgspec

#: With more variants, moves are not counted, because the number of pairs grows quadratically.
MAX_VARIANTS: Final = 40


class Moves(msgspec.Struct, frozen=True, rename="camel"):
    """For each pair of variants, the number of pods that are on different nodes, or pending in only one of the two. Means over common
    seeds.
    """

    variants: list[str]
    #: By row and column in the order of `variants`; None: they have no common seed.
    counts: list[list[float | None]]

    def between(self, a: str, b: str) -> float | None:
        """The pods that lie on another node in `a` than in `b`."""
        return self.counts[self.variants.index(a)][self.variants.index(b)]


def moves_between(
    variants: Sequence[str], placements: Mapping[tuple[str, int | None], Mapping[str, str]], earlier: Moves | None = None
) -> Moves | None:
    """The moves, from placements (pod -> node) by variant and seed; those of `earlier` where it has them. None if there are too many
    variants.
    """
    if len(variants) > MAX_VARIANTS:
        return None
    seeds = {variant: [seed for name, seed in placements if name == variant] for variant in variants}
    pods = {seed: sorted({pod for (_, of), found in placements.items() if of == seed for pod in found}) for _, seed in placements}
    places = {key: [found.get(pod, "") for pod in pods[key[1]]] for key, found in placements.items()}
    counts: list[list[float | None]] = [[None] * len(variants) for _ in variants]
    for row, a in enumerate(variants):
        for column, b in enumerate(variants[: row + 1]):
            common = [seed for seed in seeds[a] if (b, seed) in placements]
            moved = [sum(map(ne, places[a, seed], places[b, seed])) for seed in common]
            known = _known(earlier, a, b)
            if known is not None:
                counts[row][column] = counts[column][row] = known
            elif moved:
                counts[row][column] = counts[column][row] = round(sum(moved) / len(moved), 9)
    return Moves(list(variants), counts)


def _known(earlier: Moves | None, a: str, b: str) -> float | None:
    return None if earlier is None or a not in earlier.variants or b not in earlier.variants else earlier.between(a, b)
