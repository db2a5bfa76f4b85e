"""Views of the snapshot's columns, through which plugins read: some NodeInfos in the order of evaluation.

`columns` describes how columns are computed and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import Columns, Compute, IntArray
from schedviz.engine.framework.formulas import POD_COUNT, Amount, Formula
from schedviz.engine.framework.types import NodeInfo

T = TypeVar("T")


class PermutedView(Sequence[T], Generic[T]):
    """Items of a sequence in another order, picked when they are read."""

    __slots__ = ("_index", "_items")

    def __init__(self, items: Sequence[T], index: IntArray) -> None:
        self._items = items
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return PermutedView(self._items, self._index[index])
        item: T = self._items[self._index[index]]
        return item

    def __iter__(self) -> Iterator[T]:
        items = self._items
        return iter([items[row] for row in self._index.tolist()])


class Rows:
    """Some NodeInfos in the order of evaluation, with their columns as arrays in that order. Arrays are read-only."""

    __slots__ = ("_columns", "index", "infos", "names")

    def __init__(self, columns: Columns, index: IntArray | None = None) -> None:
        self._columns = columns
        #: Positions in the columns; None: all rows in order.
        self.index = index
        self.infos: Sequence[NodeInfo] = columns.infos if index is None else PermutedView(columns.infos, index)
        self.names: Sequence[str] = columns.names if index is None else PermutedView(columns.names, index)

    @classmethod
    def of(cls, infos: Sequence[NodeInfo]) -> Rows:
        """Rows over NodeInfos outside the snapshot: clones with nominated pods added or victims removed.

        Columns are computed when they are read; a NodeInfo that changes afterwards needs new Rows.
        """
        return cls(Columns(infos))

    def __len__(self) -> int:
        return len(self.infos)

    def take(self, index: IntArray) -> Rows:
        """A view of some of these rows, in the order of `index`."""
        return Rows(self._columns, index if self.index is None else self.index[index])

    def places_of(self, names: Iterable[str]) -> list[int]:
        """Positions in these rows of nodes by name; other names are ignored."""
        row_of = self._columns.row_of
        rows = sorted(row_of[name] for name in names if name in row_of)
        return rows if self.index is None or not rows else np.flatnonzero(np.isin(self.index, rows)).tolist()

    def allocatable(self, resource: str) -> IntArray:
        """The nodes' allocatable amounts: `cpu` (milli-cpus), `memory`, `ephemeral-storage` (bytes), `pods`, or a scalar resource."""
        return self._gather(self._columns.amounts(Amount("allocatable", resource)))

    def requested(self, resource: str) -> IntArray:
        """The requests of the nodes' pods; resources as in `allocatable`, without `pods`."""
        return self._gather(self._columns.amounts(Amount("requested", resource)))

    def non_zero_requested(self, resource: str) -> IntArray:
        """The requests of the nodes' pods, where a container without one counts 100 milli-cpus and 200 MiB; `cpu` or `memory`."""
        return self._gather(self._columns.amounts(Amount("non-zero-requested", resource)))

    def pod_count(self) -> IntArray:
        """The number of pods on the nodes."""
        return self._gather(self._columns.amounts(POD_COUNT))

    def formula(self, formula: Formula) -> npt.NDArray[Any]:
        """The value of a formula for every row, kept by its key."""
        return self._gather(self._columns.formula(formula))

    def node_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32, version: int = 0) -> IntArray:
        """`compute(node_info)` of every row, kept by key. It must depend only on the key, the Node object and the version."""
        return self._gather(self._columns.node_column(key, compute, dtype, version))

    def any_node(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32) -> bool:
        """Whether a node column (same arguments) is not 0 for any node of the snapshot, in these rows or not."""
        return self._columns.any_node(key, compute, dtype)

    def info_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int64) -> IntArray:
        """`compute(node_info)` of every row, kept by key. It must depend only on the key and the NodeInfo."""
        return self._gather(self._columns.info_column(key, compute, dtype))

    def object_column(self, key: Hashable, compute: Callable[[NodeInfo], T]) -> list[T]:
        """An object for every row, kept by key until the NodeInfo is overwritten. It must depend only on the key and the NodeInfo."""
        column = self._columns.object_column(key, compute)
        return list(column) if self.index is None else [column[row] for row in self.index.tolist()]

    def classes(
        self, key: Hashable, value_of: Callable[[NodeInfo], Hashable], first: Sequence[Hashable] = ()
    ) -> tuple[IntArray, list[Hashable]]:
        """A code for every row, and the values of the codes (some perhaps without a row).

        `value_of` must depend only on the key and the Node object. The values in `first` have the first codes.
        """
        codes, values = self._columns.classes(key, value_of, first)
        return self._gather(codes), values

    def _gather(self, column: IntArray) -> IntArray:
        return column if self.index is None else column[self.index]
