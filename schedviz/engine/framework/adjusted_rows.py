"""`AdjustedRows`: nodes of the snapshot with other pods on them, represented by their sums alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.formulas import Amount, Formula, resource_reader
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.quantity import as_int64

#: The change of a resource in each row; "pods" is the number of pods.
Adjustment = Callable[[str], IntArray]


def amount(pod: PodInfo, resource: str) -> int:
    """What a pod adds to the sum of a resource on its node; 1 for "pods"."""
    return _reader(resource)(pod)


@lru_cache(maxsize=1024)
def _reader(resource: str) -> Callable[[PodInfo], int]:
    if resource == "pods":
        return lambda _pod: 1
    read = resource_reader(resource)
    return lambda pod: read(pod.requests.resource)


class AddedPods:
    """Pods that are added to some rows, by position."""

    __slots__ = ("_count", "_pods", "_sums")

    def __init__(self, count: int, pods: Mapping[int, Sequence[PodInfo]]) -> None:
        self._count = count
        self._pods = pods
        self._sums: dict[str, IntArray] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._pods

    def __call__(self, resource: str) -> IntArray:
        """Their requests, for each of `count` rows."""
        if resource not in self._sums:
            sums = self._sums[resource] = np.zeros(self._count, np.int64)
            read = _reader(resource)
            for place, pods in self._pods.items():
                sums[place] = read(pods[0]) if len(pods) == 1 else as_int64(sum(map(read, pods)))
        return self._sums[resource]


class AdjustedRows(Rows):
    """Rows whose sums are the snapshot's plus a change, so that a dry run clones no NodeInfo.

    For plugins that declare that Filter reads only sums (`FilterReads.SUMS`).
    """

    __slots__ = ("_adjustment", "_rows")

    def __init__(self, rows: Rows, adjustment: Adjustment) -> None:
        super().__init__(rows._columns, rows.index)  # noqa: SLF001 - its own base class
        self._rows = rows
        self._adjustment = adjustment

    def take(self, index: npt.NDArray[np.intp]) -> AdjustedRows:
        """Some of the rows, with the same adjustment."""
        return AdjustedRows(self._rows.take(index), lambda resource: self._adjustment(resource)[index])

    def requested(self, resource: str) -> IntArray:
        """The requests, adjusted."""
        return self._rows.requested(resource) + self._adjustment(resource)

    def pod_count(self) -> IntArray:
        """The number of pods, adjusted."""
        return self._rows.pod_count() + self._adjustment("pods")

    def non_zero_requested(self, resource: str) -> IntArray:
        """Not available: Filter does not read it."""
        raise NotImplementedError(f"rows that are adjusted by sums do not have the non-zero requests of {resource}")

    def formula(self, formula: Formula) -> npt.NDArray[Any]:
        """The formula over the adjusted amounts; its values are not kept."""
        return np.asarray(formula.compute(*(self._amounts(amount) for amount in formula.amounts)))

    def _amounts(self, amount: Amount) -> IntArray:
        match amount.kind:
            case "allocatable":
                return self.allocatable(amount.resource)
            case "requested":
                return self.requested(amount.resource)
            case "non-zero-requested":
                return self.non_zero_requested(amount.resource)
            case "pod-count":
                return self.pod_count()

    def info_column(self, key: Hashable, compute: Callable[[NodeInfo], int], dtype: Any = np.int64) -> IntArray:
        """Not available: it may depend on the pods."""
        raise NotImplementedError(f"rows that are adjusted by sums have no pods, which {key!r} may read")
