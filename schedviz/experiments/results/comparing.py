"""Counts the pods that run on another node in another variant."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import count
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


class Placements:
    """Where the pods of trials are, in four bytes for each pod: as dicts, those of many trials take hundreds of megabytes."""

    def __init__(self) -> None:
        #: The numbers of pods and nodes. 0: no node.
        self._pods: dict[str, int] = {}
        self._nodes: defaultdict[str, int] = defaultdict(count(1).__next__, {"": 0})
        #: By variant and seed: for each pod by number, its node, in 32 bits of the number.
        self._places: dict[tuple[str, int | None], int] = {}

    def add(self, variant: str, seed: int | None, placements: Mapping[str, str]) -> None:
        """Add a trial, whose pods are on these nodes (pod -> node)."""
        places = array("i", map(self._nodes.__getitem__, placements.values()))
        # Most trials have the same pods in the same order.
        if list(placements) != list(self._pods):
            numbers = [self._pods.setdefault(pod, len(self._pods)) for pod in placements]
            nodes, places = places, array("i", [0]) * len(self._pods)
            for number, node in zip(numbers, nodes, strict=True):
                places[number] = node
        self._places[variant, seed] = int.from_bytes(places.tobytes(), "little")

    def seeds_of(self, variant: str) -> list[int | None]:
        """The seeds of a variant's trials."""
        return [seed for name, seed in self._places if name == variant]

    def moved(self, a: str, b: str, seed: int | None) -> int | None:
        """How many pods are on different nodes, or pending in only one of two variants; None without a trial of each."""
        first, second = self._places.get((a, seed)), self._places.get((b, seed))
        if first is None or second is None:
            return None
        # The bits of a pod are 0 if it is on the same node. Otherwise adding 2³¹-1 sets the highest of them, which numbers of nodes leave
        # unset. A loop takes ten times as long.
        different = first ^ second
        pods = (different.bit_length() + 31) // 32
        added, highest = (int.from_bytes(bits * pods, "little") for bits in (b"\xff\xff\xff\x7f", b"\0\0\0\x80"))
        return (different + added & highest).bit_count()


def moves_between(variants: Sequence[str], placements: Placements, earlier: Moves | None = None) -> Moves | None:
    """The moves between variants; those of `earlier` where it has them. None if there are too many variants."""
    if len(variants) > MAX_VARIANTS:
        return None
    counts: list[list[float | None]] = [[None] * len(variants) for _ in variants]
    for row, a in enumerate(variants):
        seeds = placements.seeds_of(a)
        for column, b in enumerate(variants[: row + 1]):
            known = _known(earlier, a, b)
            moved = [] if known is not None else [pods for seed in seeds if (pods := placements.moved(a, b, seed)) is not None]
            if known is not None:
                counts[row][column] = counts[column][row] = known
            elif moved:
                counts[row][column] = counts[column][row] = round(sum(moved) / len(moved), 9)
    return Moves(list(variants), counts)


def _known(earlier: Moves | None, a: str, b: str) -> float | None:
    return None if earlier is None or a not in earlier.variants or b not in earlier.variants else earlier.between(a, b)
