"""Matches a pod's claims with existing volumes, on many nodes at once.

On each node the claims choose in turn, the smallest first. Each takes the volume that is pre-bound to it, or the smallest matching volume
that no other claim of the pod took. So a claim's volumes are sorted by preference once, and rows that still need one are tested volume by
volume.

Upstream: framework/plugins/volumebinding/binder.go findMatchingVolumes, component-helpers/storage/volume/pv_helpers.go FindMatchingVolume
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.plugins.volumebinding.reach import ReachableRows
from schedviz.engine.framework.resource import exact_amount
from schedviz.engine.framework.verdicts import Index, Mask
from schedviz.kube.claims import (
    class_of_claim,
    has_access_modes,
    have_different_modes,
    is_bound_to,
    requested_storage,
    storage_capacity,
)
from schedviz.kube.selectors import SelectorError, label_selector
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

#: For each row the number of a volume, or NONE.
Choice = npt.NDArray[np.int64]
NONE = -1


class Options(msgspec.Struct, frozen=True):
    """The volumes that a claim may take, as numbers of `Matching.volumes`."""

    claim: PersistentVolumeClaim
    #: Volumes that are pre-bound to the claim: only the first that no other claim took is considered.
    prebound: tuple[int, ...]
    #: Other available volumes, in the order of preference.
    free: tuple[int, ...]


class Matching:
    """The unbound claims of a pod, and the volumes to choose from."""

    def __init__(
        self,
        claims: Iterable[PersistentVolumeClaim],
        by_class: dict[str, tuple[PersistentVolume, ...]],
        *,
        by_attributes_class: bool = False,
    ) -> None:
        """Raises `SelectorError` for a claim with an invalid selector."""
        self.volumes = list({volume.name: volume for volumes in by_class.values() for volume in volumes}.values())
        numbers = {volume.name: number for number, volume in enumerate(self.volumes)}
        # A stable sort, like upstream's for so few items.
        smallest_first = sorted(claims, key=lambda claim: exact_amount(requested_storage(claim)))
        self.options = []
        for claim in smallest_first:
            volumes = by_class.get(class_of_claim(claim), ())
            if by_attributes_class:
                volumes = tuple(volume for volume in volumes if _have_one_attributes_class(claim, volume))
            self.options.append(_options(claim, volumes, numbers))

    def choose(self, count: int, reach: ReachableRows) -> list[Choice]:
        """The volume that each claim takes on each of `count` rows, in the order of `options`."""
        choices: list[Choice] = []
        for options in self.options:
            choices.append(self._choose(options, count, reach, choices))
        return choices

    def _choose(self, options: Options, count: int, reach: ReachableRows, others: Sequence[Choice]) -> Choice:
        choice = np.full(count, NONE, np.int64)
        unmatched = np.ones(count, np.bool_)
        for number in options.prebound:
            available = _where_free(number, np.flatnonzero(unmatched), others)
            unmatched[available] = False
            in_reach = available[reach.mask(self.volumes[number].spec.node_affinity)[available]]
            choice[in_reach] = number
        if unmatched.any() and options.free:
            best = self._best(options.free, unmatched, reach, others)
            matched = np.flatnonzero(best < len(options.free))
            choice[matched] = np.array(options.free, np.int64)[best[matched]]
        return choice

    def _best(self, free: Sequence[int], unmatched: Mask, reach: ReachableRows, others: Sequence[Choice]) -> Choice:
        """The first volume in the order of preference that each row can take; their number if it can take none."""
        best = np.full(len(unmatched), len(free), np.int64)
        remaining_rows = unmatched.copy()
        remaining = int(np.count_nonzero(remaining_rows))
        ranks: list[int] = []
        rows: list[int] = []
        for rank, number in enumerate(free):
            affinity = self.volumes[number].spec.node_affinity
            few = reach.few(affinity)
            if few is not None:
                # Local volumes are many, with few rows each: all of them are tested at once.
                rows += few
                ranks += [rank] * len(few)
            elif remaining:
                in_reach = reach.index(affinity)
                taking = _where_free(number, in_reach[remaining_rows[in_reach]], others)
                best[taking] = rank
                remaining_rows[taking] = False
                remaining -= len(taking)
        if rows:
            where, rank_of = np.array(rows, np.intp), np.array(ranks, np.int64)
            possible = unmatched[where]
            for other in others:
                possible &= other[where] != np.array(free, np.int64)[rank_of]
            np.minimum.at(best, where[possible], rank_of[possible])
        return best


def _where_free(number: int, rows: Index, others: Sequence[Choice]) -> Index:
    """The rows on which no other claim took the volume."""
    for other in others:
        rows = rows[other[rows] != number]
    return rows


def _have_one_attributes_class(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    return (claim.spec.volume_attributes_class_name or "") == (volume.spec.volume_attributes_class_name or "")


def _options(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], numbers: dict[str, int]) -> Options:
    requested = exact_amount(requested_storage(claim))
    selector = None
    if claim.spec.selector is not None:
        try:
            selector = label_selector(claim.spec.selector)
        except SelectorError as error:
            raise SelectorError([f"error creating internal label selector for claim: {claim.key}: {error}"]) from None
    prebound: list[int] = []
    free: list[tuple[int, int]] = []
    for volume in volumes:
        if volume.spec.claim_ref is not None and not is_bound_to(volume, claim):
            continue
        size = exact_amount(storage_capacity(volume))
        if size < requested or have_different_modes(claim, volume) or volume.metadata.deletion_timestamp is not None:
            continue
        if volume.spec.claim_ref is not None:
            prebound.append(numbers[volume.name])
        elif (
            volume.status.phase == "Available"
            and (selector is None or selector.matches(volume.metadata.labels))
            and has_access_modes(claim, volume)
        ):
            free.append((size, numbers[volume.name]))
    free.sort(key=lambda option: option[0])
    return Options(claim, tuple(prebound), tuple(number for _, number in free))
