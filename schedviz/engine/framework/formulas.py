"""Formula columns, computed from a few amounts of each NodeInfo: the resources that a pod lacks on each node, or a node's score for it.

Pods of one template repeat the same question, and one node changes between two of them. So results are kept by question and recomputed for
rows that changed: at 5,000 nodes a resource score takes 3 µs instead of 150.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import NodeInfo

Amounts = npt.NDArray[np.int64]

#: Up to this number of rows (and a share of all rows), rows are computed one by one: a microsecond each, against at least 20 for arrays.
_MAX_PATCHED_ROWS: Final = 16
_PATCHED_FRACTION: Final = 128
#: How many distinct combinations of amounts a formula remembers, 350 bytes each. Nodes have few sizes and fill up in equal steps, so a
#: known combination is usually among the last few; where pods differ, no number is enough.
MAX_KNOWN_COMBINATIONS: Final = 16


class Amount(NamedTuple):
    """An amount that every NodeInfo has; `resource` is a name as in `Rows.allocatable`, empty for `pod-count`."""

    kind: Literal["allocatable", "requested", "non-zero-requested", "pod-count"]
    resource: str = ""

    def reader(self) -> Callable[[NodeInfo], int]:
        """A function that reads the amount from a NodeInfo."""
        return _reader(self)


POD_COUNT: Final = Amount("pod-count")


class Formula(NamedTuple):
    """`compute` turns arrays of amounts into one array. It must depend only on the key and on each row's amounts."""

    key: Hashable
    amounts: Sequence[Amount]
    compute: Callable[..., npt.NDArray[Any]]


class FormulaColumn:
    """The values of a formula, and the position in the log of changed rows up to which they are current."""

    __slots__ = ("_compute", "_known", "_readers", "data", "seen", "view")

    def __init__(self, formula: Formula, columns: Sequence[Amounts], seen: int) -> None:
        self._compute = formula.compute
        self._readers = [amount.reader() for amount in formula.amounts]
        #: Amounts of a row -> its value; the newest last.
        self._known: dict[tuple[int, ...], Any] = {}
        self.replace(columns, seen)

    def replace(self, columns: Sequence[Amounts], seen: int) -> None:
        """Compute all rows, from whole columns of the amounts."""
        self.data = np.array(self._compute(*columns))
        #: The array for readers: the same memory, read-only.
        self.view = self.data.view()
        self.view.flags.writeable = False
        self.seen = seen

    def is_worth_patching(self, changed: int) -> bool:
        """Whether this many rows are cheaper to compute one by one."""
        return changed <= max(_MAX_PATCHED_ROWS, len(self.data) // _PATCHED_FRACTION)

    def patch(self, rows: set[int], infos: Sequence[NodeInfo], seen: int) -> None:
        """Recompute these rows."""
        for row in rows:
            info = infos[row]
            amounts = tuple([read(info) for read in self._readers])
            if amounts not in self._known:
                if len(self._known) >= MAX_KNOWN_COMBINATIONS:
                    del self._known[next(iter(self._known))]
                self._known[amounts] = self._compute(*(np.array([amount], np.int64) for amount in amounts))[0]
            self.data[row] = self._known[amounts]
        self.seen = seen


@lru_cache(maxsize=1024)
def _reader(amount: Amount) -> Callable[[NodeInfo], int]:
    read = resource_reader(amount.resource)
    match amount.kind:
        case "allocatable":
            return lambda info: read(info.allocatable)
        case "requested":
            return lambda info: read(info.requested)
        case "non-zero-requested":
            return lambda info: read(info.non_zero_requested)
        case "pod-count":
            return lambda info: len(info.pods)


@lru_cache(maxsize=1024)
def resource_reader(resource: str) -> Callable[[Resource], int]:
    """A function that reads one resource: `cpu` (milli-cpus), `memory`, `ephemeral-storage` (bytes), `pods`, or a scalar one."""
    return _READERS.get(resource) or (lambda amounts: amounts.scalar.get(resource, 0))


_READERS: Final[dict[str, Callable[[Resource], int]]] = {
    "cpu": lambda amounts: amounts.milli_cpu,
    "memory": lambda amounts: amounts.memory,
    "ephemeral-storage": lambda amounts: amounts.ephemeral_storage,
    "pods": lambda amounts: amounts.allowed_pod_number,
}
