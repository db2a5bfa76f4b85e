"""Columns that are a formula of a few amounts of each NodeInfo: what a pod of some request lacks on each node, or how a node scores for it.

Pods of one template ask the same question one after the other, and between two of them one node has changed. So the answers are kept by
question and made again for rows that changed: at 5,000 nodes a score by resources takes 3 µs instead of 150.
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

#: Up to so many rows (and a share of all) are looked at one by one. It takes a microsecond a row; the arrays take 20 at least.
_FEW_ROWS: Final = 16
_FEW_OF_ALL: Final = 128
#: How many distinct combinations of amounts a formula remembers, 350 bytes each. Nodes come in a few sizes, and fill up in equal steps:
#: what is found again is found among the last few, and where pods differ no number of them is enough.
KNOWN_COMBINATIONS: Final = 16


class Amount(NamedTuple):
    """An amount that every NodeInfo has; `resource` is a name as in `Rows.allocatable`, for `pod-count` it is empty."""

    kind: Literal["allocatable", "requested", "non-zero-requested", "pod-count"]
    resource: str = ""

    def reader(self) -> Callable[[NodeInfo], int]:
        """Reads it from a NodeInfo."""
        return _reader(self)


POD_COUNT: Final = Amount("pod-count")


class Formula(NamedTuple):
    """`compute` turns arrays of amounts into one array. It must depend on the key and on each row's amounts alone."""

    key: Hashable
    amounts: Sequence[Amount]
    compute: Callable[..., npt.NDArray[Any]]


class FormulaColumn:
    """The values of a formula, and how far in the log of changed rows they have been brought."""

    __slots__ = ("_compute", "_known", "_readers", "data", "seen", "view")

    def __init__(self, formula: Formula, columns: Sequence[Amounts], seen: int) -> None:
        self._compute = formula.compute
        self._readers = [amount.reader() for amount in formula.amounts]
        #: Amounts of a row -> its value; the newest last.
        self._known: dict[tuple[int, ...], Any] = {}
        self.replace(columns, seen)

    def replace(self, columns: Sequence[Amounts], seen: int) -> None:
        """Compute all rows, of whole columns of the amounts."""
        self.data = np.array(self._compute(*columns))
        #: What is handed out: the same memory, read-only.
        self.view = self.data.view()
        self.view.flags.writeable = False
        self.seen = seen

    def is_worth_patching(self, changed: int) -> bool:
        """Whether so many rows are better looked at one by one."""
        return changed <= max(_FEW_ROWS, len(self.data) // _FEW_OF_ALL)

    def patch(self, rows: set[int], infos: Sequence[NodeInfo], seen: int) -> None:
        """Compute these rows again."""
        for row in rows:
            info = infos[row]
            amounts = tuple([read(info) for read in self._readers])
            if amounts not in self._known:
                if len(self._known) >= KNOWN_COMBINATIONS:
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
    """Reads one resource: `cpu` (milli-cpus), `memory`, `ephemeral-storage` (bytes), `pods`, or a scalar one."""
    return _READERS.get(resource) or (lambda amounts: amounts.scalar.get(resource, 0))


_READERS: Final[dict[str, Callable[[Resource], int]]] = {
    "cpu": lambda amounts: amounts.milli_cpu,
    "memory": lambda amounts: amounts.memory,
    "ephemeral-storage": lambda amounts: amounts.ephemeral_storage,
    "pods": lambda amounts: amounts.allowed_pod_number,
}
