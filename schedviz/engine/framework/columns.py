"""Columns over the snapshot's NodeInfos: one value per node, in NumPy arrays.

A column is a function of a NodeInfo. It is computed once for every row, and later only for rows that changed, so a cycle costs what changed
since the last one plus array arithmetic, whatever the size of the cluster.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.formulas import Amount, Formula, FormulaColumn
from schedviz.engine.framework.types import NodeInfo

T = TypeVar("T")

IntArray = npt.NDArray[np.signedinteger[Any]]
Compute = Callable[[NodeInfo], int]

#: The maximum number of columns; the least recently used is dropped first.
MAX_COLUMNS = 512
#: The maximum number of columns of objects.
MAX_OBJECT_COLUMNS = 8
#: The maximum number of formula columns: one for each distinct request of pods, 40 KB at 5,000 nodes.
MAX_FORMULAS = 128


class Column:
    """One value per row, and the position in the log of changed rows up to which it is current."""

    __slots__ = ("_has_nonzero", "compute", "data", "is_used", "seen", "version", "view")

    def __init__(self, compute: Compute, data: IntArray, seen: int, version: int) -> None:
        self.compute = compute
        self.seen = seen
        #: Of what `compute` reads besides the row and the key.
        self.version = version
        #: The column was read since the list of NodeInfos was set.
        self.is_used = True
        self.replace(data)

    def replace(self, data: IntArray) -> None:
        self.data = data
        #: The array for readers: the same memory, read-only.
        self.view = data.view()
        self.view.flags.writeable = False
        self._has_nonzero: bool | None = None

    def patch(self, rows: set[int], infos: Sequence[NodeInfo]) -> None:
        """Recompute these rows."""
        data, compute = self.data, self.compute
        for row in rows:
            data[row] = compute(infos[row])
        self._has_nonzero = None

    @property
    def has_nonzero(self) -> bool:
        """Whether any value is not 0."""
        if self._has_nonzero is None:
            self._has_nonzero = bool(self.data.any())
        return self._has_nonzero


class ChangedRows:
    """A log of changed rows. Each column reads it from its own position, so marking a row costs the same for any number of columns."""

    __slots__ = ("rows", "start")

    def __init__(self) -> None:
        self.rows: list[int] = []
        #: The number of the log's first entry.
        self.start = 0

    @property
    def end(self) -> int:
        return self.start + len(self.rows)

    def since(self, seen: int) -> set[int] | None:
        """The rows that changed since then; None: the log does not go back that far."""
        return set(self.rows[seen - self.start :]) if seen >= self.start else None

    def restart(self) -> None:
        """Drop the rows, which are numbers of an old order; every column is current."""
        self.start = self.end
        self.rows = []

    def mark(self, row: int, limit: int) -> None:
        if len(self.rows) >= limit:
            self.start += len(self.rows)
            self.rows = []
        self.rows.append(row)


class Columns:
    """Columns over a list of NodeInfos, in the list's order.

    Owned by a Snapshot, which reports overwritten NodeInfos (`mark`) and a new list (`reorder`).
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
        self._object_columns: OrderedDict[Hashable, Column] = OrderedDict()
        self._classes: dict[Hashable, tuple[Compute, list[Hashable]]] = {}
        self._formulas: OrderedDict[Hashable, FormulaColumn] = OrderedDict()
        self.reorder(infos)

    def mark(self, name: str, *, node_changed: bool) -> None:
        """Mark a NodeInfo as overwritten, also if its Node changed. A name without a row is ignored."""
        row = self.row_of.get(name)
        if row is None:
            return
        limit = 4 * len(self.infos) + 64
        self._info_log.mark(row, limit)
        if node_changed:
            self._node_log.mark(row, limit)

    def reorder(self, infos: Sequence[NodeInfo]) -> None:
        """Use another list. Columns keep the values of the NodeInfos that were in the old list.

        Columns that were not read since the previous list are dropped.
        """
        before, infos_before = self.row_of, self.infos
        self.infos = list(infos)
        self.names = [info.name for info in self.infos]
        self.row_of = {name: row for row, name in enumerate(self.names)}
        origin = np.fromiter((before.get(name, -1) for name in self.names), dtype=np.intp, count=len(self.names))
        for row in np.flatnonzero(origin >= 0):
            if infos_before[origin[row]] is not self.infos[row]:
                origin[row] = -1  # Another object with the same name: all values are unknown.
        info, node = self._info_log, self._node_log
        for columns, log in ((self._info_columns, info), (self._object_columns, info), (self._node_columns, node)):
            self._carry_over(columns, log, origin)
        for log in (info, node):
            log.restart()
        # When nodes are added or removed, formulas are recomputed from columns, which needs no Python code per row.
        self._formulas.clear()

    def node_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32, version: int = 0) -> IntArray:
        """A column that depends only on the Node object: a row is recomputed when its Node is replaced, all rows for another version."""
        return self._column(self._node_columns, self._node_log, key, compute, dtype, version=version)

    def any_node(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int32) -> bool:
        """Whether `compute` is not 0 for any node. Usually it is 0 for all, and the caller need not read the rows."""
        self.node_column(key, compute, dtype)
        return self._node_columns[key].has_nonzero

    def info_column(self, key: Hashable, compute: Compute, dtype: npt.DTypeLike = np.int64) -> IntArray:
        """A column that depends on the whole NodeInfo: a row is recomputed when its NodeInfo is overwritten."""
        return self._column(self._info_columns, self._info_log, key, compute, dtype)

    def object_column(self, key: Hashable, compute: Callable[[NodeInfo], T]) -> Sequence[T]:
        """Objects that depend on the whole NodeInfo; few such columns are kept, since an object takes more memory than a number."""
        column = self._column(self._object_columns, self._info_log, key, compute, np.object_, MAX_OBJECT_COLUMNS)
        return cast("Sequence[T]", column)

    def classes(
        self, key: Hashable, value_of: Callable[[NodeInfo], Hashable], first: Sequence[Hashable] = ()
    ) -> tuple[IntArray, list[Hashable]]:
        """Codes of the rows, and the distinct values that they stand for. `value_of` depends only on the Node object.

        The values in `first` have the first codes, whether or not a row has them.
        """
        column = ("classes", key)
        if column not in self._node_columns:
            values = list(first)
            codes = {value: code for code, value in enumerate(values)}

            def compute(info: NodeInfo) -> int:
                value = value_of(info)
                code = codes.get(value)
                if code is None:
                    code = codes[value] = len(values)
                    values.append(value)
                return code

            self._classes[column] = (compute, values)
        compute_code, values_by_code = self._classes[column]
        return self.node_column(column, compute_code, np.int32), values_by_code

    def amounts(self, amount: Amount) -> IntArray:
        """A column of an amount."""
        if amount.kind == "allocatable":
            return self._column(self._node_columns, self._node_log, amount, amount.reader(), np.int64)
        return self._column(self._info_columns, self._info_log, amount, amount.reader(), np.int64)

    def formula(self, formula: Formula) -> npt.NDArray[Any]:
        """The values of a formula. Only rows that changed since the last call are recomputed."""
        column, log = self._formulas.get(formula.key), self._info_log
        if column is None:
            column = self._formulas[formula.key] = FormulaColumn(formula, [self.amounts(amount) for amount in formula.amounts], log.end)
            if len(self._formulas) > MAX_FORMULAS:
                self._formulas.popitem(last=False)
            return column.view
        self._formulas.move_to_end(formula.key)
        if column.seen != log.end:
            changed = log.since(column.seen)
            if changed is not None and column.is_worth_patching(len(changed)):
                column.patch(changed, self.infos, log.end)
            else:
                column.replace([self.amounts(amount) for amount in formula.amounts], log.end)
        return column.view

    def _column(
        self,
        columns: OrderedDict[Hashable, Column],
        log: ChangedRows,
        key: Hashable,
        compute: Callable[[NodeInfo], Any],
        dtype: npt.DTypeLike,
        limit: int = MAX_COLUMNS,
        version: int = 0,
    ) -> IntArray:
        column = columns.get(key)
        if column is None or column.version != version:
            column = Column(compute, self._computed(compute, dtype), log.end, version)
            columns[key] = column
            if len(columns) > limit:
                dropped, _ = columns.popitem(last=False)
                self._classes.pop(dropped, None)
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
            column.patch(changed, self.infos)
        column.seen = log.end

    def _carry_over(self, columns: OrderedDict[Hashable, Column], log: ChangedRows, origin: npt.NDArray[np.intp]) -> None:
        """Reorder columns: known values move with their NodeInfo, the others are computed."""
        has_origin = origin >= 0
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
                carried[has_origin] = column.data[origin[has_origin]]
                missing[has_origin] = stale[origin[has_origin]]
            for row in np.flatnonzero(missing):
                carried[row] = column.compute(self.infos[row])
            column.replace(carried)
            column.seen = log.end
