"""Columns over the snapshot's NodeInfos, and the views of them through which plugins read: one value a node, in NumPy arrays.

A column is a function of a NodeInfo, computed once for every row and afterwards only for rows that changed. So a cycle costs
what changed since the last one plus some arithmetic on arrays, whatever the size of the cluster.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import NodeInfo

IntArray = npt.NDArray[np.signedinteger[Any]]
Compute = Callable[[NodeInfo], int]
T = TypeVar("T")

#: Columns that are kept; the one that was not read for the longest time goes first.
KEPT_COLUMNS = 512


class Column:
    """One value a row, and how far in the log of changed rows it has read."""

    __slots__ = ("compute", "data", "is_used", "seen", "view")

    def __init__(self, compute: Compute, data: IntArray, seen: int) -> None:
        self.compute = compute
        self.seen = seen
        #: Read since the list of NodeInfos became what it is.
        self.is_used = True
        self.replace(data)

    def replace(self, data: IntArray) -> None:
        self.data = data
        #: What is handed out: the same memory, read-only.
        self.view = data.view()
        self.view.flags.writeable = False


class ChangedRows:
    """A log of rows that changed. Columns read it from where they were, so that marking a row costs nothing for each column."""

    __slots__ = ("rows", "start")

    def __init__(self) -> None:
        self.rows: list[int] = []
        #: The number of the log's first entry.
        self.start = 0

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    def since(self, seen: int) -> set[int] | None:
        """The rows that changed since then; None: too long ago to know."""
        return set(self.rows[seen - self.start :]) if seen >= self.start else None

    def mark(self, row: int, limit: int) -> None:
        if len(self.rows) >= limit:
            self.start += len(self.rows)
            self.rows = []
        self.rows.append(row)


class Columns:
    """Columns over a list of NodeInfos, in the list's order.

    Owned by a Snapshot, which says when a NodeInfo was overwritten (`mark`) and when the list is another one (`reorder`).
    """

    def __init__(self, infos: Sequence[NodeInfo] = ()) -> None:
        self.infos: list[NodeInfo] = []
        self.names: list[str] = []
        #: Node name -> row.
        self.row_of: dict[str, int] = {}
        self._info_log = ChangedRows()
        self._node_log = ChangedRows()
        self._info_columns: OrderedDict[Hashable, Column] = OrderedDict()
        self._node_columns: OrderedDict[Hashable, Column] = OrderedDict()
        self._classes: dict[Hashable, tuple[Compute, list[Hashable]]] = {}
        self.reorder(infos)

    def mark(self, name: str, *, node_changed: bool) -> None:
        """A NodeInfo was overwritten, perhaps with another Node in it. A name that has no row is ignored."""
        row = self.row_of.get(name)
        if row is None:
            return
        limit = 4 * len(self.infos) + 64
        self._info_log.mark(row, limit)
        if node_changed:
            self._node_log.mark(row, limit)

    def reorder(self, infos: Sequence[NodeInfo]) -> None:
        """Take another list. Columns keep the values of the NodeInfos that were in the old one.

        Columns that nobody read since the list before are dropped.
        """
        before, kept = self.row_of, self.infos
        self.infos = list(infos)
        self.names = [info.name for info in self.infos]
        self.row_of = {name: row for row, name in enumerate(self.names)}
        origin = np.fromiter((before.get(name, -1) for name in self.names), dtype=np.intp, count=len(self.names))
        for row in np.flatnonzero(origin >= 0):
            if kept[origin[row]] is not self.infos[row]:
                origin[row] = -1  # Another object under the same name: nothing is known of it.
        for columns, log in ((self._info_columns, self._info_log), (self._node_columns, self._node_log)):
            self._carry_over(columns, log, origin)

    def node_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32) -> IntArray:
        """A column that depends on the Node object alone: a row is computed again when its Node is another object."""
        return self._column(self._node_columns, self._node_log, key, compute, dtype)

    def info_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int64) -> IntArray:
        """A column that depends on the whole NodeInfo: a row is computed again whenever its NodeInfo was overwritten."""
        return self._column(self._info_columns, self._info_log, key, compute, dtype)

    def classes(self, key: Hashable, value_of: Callable[[NodeInfo], Hashable]) -> tuple[IntArray, list[Hashable]]:
        """Codes of the rows, and the distinct values that they stand for. `value_of` depends on the Node object alone."""
        column = ("classes", key)
        if column not in self._node_columns:
            codes: dict[Hashable, int] = {}
            values: list[Hashable] = []

            def compute(info: NodeInfo) -> int:
                value = value_of(info)
                code = codes.get(value)
                if code is None:
                    code = codes[value] = len(values)
                    values.append(value)
                return code

            self._classes[column] = (compute, values)
        compute_code, known = self._classes[column]
        return self.node_column(column, compute_code, np.int32), known

    def _column(
        self,
        columns: OrderedDict[Hashable, Column],
        log: ChangedRows,
        key: Hashable,
        compute: Compute,
        dtype: npt.DTypeLike,
    ) -> IntArray:
        column = columns.get(key)
        if column is None:
            column = Column(compute, self._computed(compute, dtype), log.end)
            columns[key] = column
            if len(columns) > KEPT_COLUMNS:
                forgotten, _ = columns.popitem(last=False)
                self._classes.pop(forgotten, None)
            return column.view
        columns.move_to_end(key)
        column.is_used = True
        if column.seen != log.end:
            self._refresh(column, log)
        return column.view

    def _computed(self, compute: Compute, dtype: npt.DTypeLike) -> IntArray:
        return np.fromiter(map(compute, self.infos), dtype=dtype, count=len(self.infos))

    def _refresh(self, column: Column, log: ChangedRows) -> None:
        changed = log.since(column.seen)
        if changed is None or len(changed) == len(self.infos):
            column.replace(self._computed(column.compute, column.data.dtype))
        else:
            data, compute, infos = column.data, column.compute, self.infos
            for row in changed:
                data[row] = compute(infos[row])
        column.seen = log.end

    def _carry_over(self, columns: OrderedDict[Hashable, Column], log: ChangedRows, origin: npt.NDArray[np.intp]) -> None:
        """Bring columns to the new order: values move with their NodeInfo, the rest is computed."""
        known = origin >= 0
        for key in [key for key, column in columns.items() if not column.is_used]:
            del columns[key]
            self._classes.pop(key, None)
        for column in columns.values():
            column.is_used = False
            behind = log.since(column.seen)
            carried = np.zeros(len(origin), dtype=column.data.dtype)
            missing = np.ones(len(origin), dtype=bool)
            if behind is not None:
                stale = np.zeros(len(column.data), dtype=bool)
                stale[list(behind)] = True
                carried[known] = column.data[origin[known]]
                missing[known] = stale[origin[known]]
            for row in np.flatnonzero(missing):
                carried[row] = column.compute(self.infos[row])
            column.replace(carried)
            column.seen = log.end
        # The log speaks of rows of the old order: from here on it starts anew, and every column has read it.
        log.start = log.end
        log.rows = []


class Gathered(Sequence[T], Generic[T]):
    """Some items of a sequence in an order of their own, picked when they are asked for."""

    __slots__ = ("_index", "_items")

    def __init__(self, items: Sequence[T], index: IntArray) -> None:
        self._items = items
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return Gathered(self._items, self._index[place])
        item: T = self._items[self._index[place]]
        return item

    def __iter__(self) -> Iterator[T]:
        items = self._items
        return iter([items[row] for row in self._index.tolist()])


class Rows:
    """Some NodeInfos in the order in which they are evaluated, and their columns as arrays in that order. Arrays are read-only."""

    __slots__ = ("_columns", "index", "infos", "names")

    def __init__(self, columns: Columns, index: IntArray | None = None) -> None:
        self._columns = columns
        #: Rows of the columns; None: all of them in order.
        self.index = index
        self.infos: Sequence[NodeInfo] = columns.infos if index is None else Gathered(columns.infos, index)
        self.names: Sequence[str] = columns.names if index is None else Gathered(columns.names, index)

    @classmethod
    def of(cls, infos: Sequence[NodeInfo]) -> Rows:
        """Rows over NodeInfos that are not the snapshot's: clones with nominated pods added or victims removed.

        Columns are computed when they are read; a NodeInfo that changes afterwards needs Rows of its own.
        """
        return cls(Columns(infos))

    def __len__(self) -> int:
        return len(self.infos)

    def take(self, index: IntArray) -> Rows:
        """A view of some of these rows, in the order of `index`."""
        return Rows(self._columns, index if self.index is None else self.index[index])

    def allocatable(self, resource: str) -> IntArray:
        """What the nodes offer: `cpu` (milli-cpus), `memory`, `ephemeral-storage` (bytes), `pods`, or a scalar resource."""
        read = _resource_reader(resource)
        return self._gather(self._columns.node_column(("allocatable", resource), lambda info: read(info.allocatable), np.int64))

    def requested(self, resource: str) -> IntArray:
        """What the pods of the nodes request; members as in `allocatable`, without `pods`."""
        read = _resource_reader(resource)
        return self._gather(self._columns.info_column(("requested", resource), lambda info: read(info.requested), np.int64))

    def non_zero_requested(self, resource: str) -> IntArray:
        """What the pods of the nodes request, where one that does not say counts as 100 milli-cpus and 200 MiB; `cpu` or `memory`."""
        read = _resource_reader(resource)
        return self._gather(
            self._columns.info_column(("non-zero-requested", resource), lambda info: read(info.non_zero_requested), np.int64)
        )

    def pod_count(self) -> IntArray:
        """How many pods are on the nodes."""
        return self._gather(self._columns.info_column("pod-count", lambda info: len(info.pods), np.int64))

    def node_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32) -> IntArray:
        """`compute(node_info)` of every row, remembered by key. It must depend on the key and the Node object alone."""
        return self._gather(self._columns.node_column(key, compute, dtype))

    def info_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int64) -> IntArray:
        """`compute(node_info)` of every row, remembered by key. It must depend on the key and the NodeInfo alone."""
        return self._gather(self._columns.info_column(key, compute, dtype))

    def classes(self, key: Hashable, value_of: Callable[[NodeInfo], Hashable]) -> tuple[IntArray, list[Hashable]]:
        """A code for every row, and the values that the codes stand for (some perhaps of no row).

        `value_of` must depend on the key and the Node object alone.
        """
        codes, values = self._columns.classes(key, value_of)
        return self._gather(codes), values

    def _gather(self, column: IntArray) -> IntArray:
        return column if self.index is None else column[self.index]


def _resource_reader(resource: str) -> Callable[[Resource], int]:
    return _READERS.get(resource) or (lambda amounts: amounts.scalar.get(resource, 0))


_READERS: dict[str, Callable[[Resource], int]] = {
    "cpu": lambda amounts: amounts.milli_cpu,
    "memory": lambda amounts: amounts.memory,
    "ephemeral-storage": lambda amounts: amounts.ephemeral_storage,
    "pods": lambda amounts: amounts.allowed_pod_number,
}
