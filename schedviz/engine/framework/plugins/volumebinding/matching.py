"""Which volume each claim of a pod takes, on many nodes at once.

On each node the claims choose one after the other, the smallest first; each takes the volume that is held for it, or else the
smallest that fits and that no other claim of the pod took. So a claim's volumes are put in the order of preference once, and then
the rows that still look for one are walked through.

Upstream: framework/plugins/volumebinding/binder.go findMatchingVolumes, component-helpers/storage/volume/pv_helpers.go FindMatchingVolume
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.plugins.volumebinding.reach import Reach
from schedviz.engine.framework.verdicts import Index
from schedviz.kube.claims import (
    class_of_claim,
    class_of_volume,
    has_access_modes,
    have_different_modes,
    is_bound_to,
    requested_storage,
    storage_capacity,
)
from schedviz.kube.quantity import NANO, Quantity
from schedviz.kube.selectors import SelectorError, label_selector
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

#: For each row the number of a volume, or NONE.
Choice = npt.NDArray[np.int64]
NONE = -1


class Options(msgspec.Struct, frozen=True):
    """The volumes that a claim may take, as numbers of `Matching.volumes`."""

    claim: PersistentVolumeClaim
    #: Held for the claim already: the first of them that no other claim took is the only one that comes into question.
    held: tuple[int, ...]
    #: Held by nobody, in the order of preference.
    free: tuple[int, ...]


class Matching:
    """The claims of a pod that look for a volume, and the volumes from which they choose."""

    def __init__(self, claims: Iterable[PersistentVolumeClaim], by_class: dict[str, tuple[PersistentVolume, ...]]) -> None:
        """Raises `SelectorError` for a claim whose selector cannot be understood."""
        self.volumes = list({volume.name: volume for volumes in by_class.values() for volume in volumes}.values())
        numbers = {volume.name: number for number, volume in enumerate(self.volumes)}
        # A stable sort, as upstream's is for so few.
        smallest_first = sorted(claims, key=lambda claim: exact(requested_storage(claim)))
        self.options = [_options(claim, by_class.get(class_of_claim(claim), ()), numbers) for claim in smallest_first]

    def choose(self, count: int, reach: Reach) -> list[Choice]:
        """What each claim takes on each of `count` rows, in the order of `options`."""
        choices: list[Choice] = []
        for options in self.options:
            choices.append(self._choose(options, count, reach, choices))
        return choices

    def _choose(self, options: Options, count: int, reach: Reach, others: Sequence[Choice]) -> Choice:
        choice = np.full(count, NONE, np.int64)
        looking = np.ones(count, np.bool_)
        for number in options.held:
            concerned = _where_free(number, np.flatnonzero(looking), others)
            looking[concerned] = False
            in_reach = concerned[reach.mask(self.volumes[number].spec.node_affinity)[concerned]]
            choice[in_reach] = number
        left = int(np.count_nonzero(looking))
        for number in options.free:
            if not left:
                break
            in_reach = reach.index(self.volumes[number].spec.node_affinity)
            taking = _where_free(number, in_reach[looking[in_reach]], others)
            choice[taking] = number
            looking[taking] = False
            left -= len(taking)
        return choice


def exact(quantity: Quantity) -> int:
    """An amount as a whole number of its smallest unit, for comparisons."""
    amount: int = quantity.unscaled * 10 ** (quantity.exponent - NANO)
    return amount


def _where_free(number: int, rows: Index, others: Sequence[Choice]) -> Index:
    """Those of the rows on which no other claim took the volume."""
    for other in others:
        rows = rows[other[rows] != number]
    return rows


def _options(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], numbers: dict[str, int]) -> Options:
    wanted = exact(requested_storage(claim))
    selector = None
    if claim.spec.selector is not None:
        try:
            selector = label_selector(claim.spec.selector)
        except SelectorError as error:
            raise SelectorError([f"error creating internal label selector for claim: {claim.key}: {error}"]) from None
    held: list[int] = []
    free: list[tuple[int, int]] = []
    for volume in volumes:
        if volume.spec.claim_ref is not None and not is_bound_to(volume, claim):
            continue
        size = exact(storage_capacity(volume))
        if size < wanted or have_different_modes(claim, volume) or volume.metadata.deletion_timestamp is not None:
            continue
        if volume.spec.claim_ref is not None:
            held.append(numbers[volume.name])
        elif (
            volume.status.phase == "Available"
            and (selector is None or selector.matches(volume.metadata.labels))
            and class_of_volume(volume) == class_of_claim(claim)
            and has_access_modes(claim, volume)
        ):
            free.append((size, numbers[volume.name]))
    free.sort(key=lambda option: option[0])
    return Options(claim, tuple(held), tuple(number for _, number in free))
