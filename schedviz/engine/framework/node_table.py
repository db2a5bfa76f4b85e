"""`NodeTable`: a plugin's own numbers of nodes, in arrays with one row for each node.

The columns of `Rows` are what the scheduler knows. A plugin that knows more, such as how much of each GPU is in use, keeps it here, and
reads and writes it for many nodes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo

_Amounts = npt.NDArray[np.int64]

#: The values of a node that is new, by column: a number, or a sequence that may be shorter than the column is wide.
Initial = Callable[[NodeInfo], Mapping[str, int | Sequence[int]]]


class NodeTable:
    """Columns of whole numbers with one row for each node that the plugin has seen, in the order in which it saw them.

    A node keeps its row. Rows of deleted nodes stay; a node that returns under the same name has its former numbers.
    """

    def __init__(self, initial: Initial, **widths: int) -> None:
        """A table without rows. `widths` names the columns, with the numbers that each has for a node; 0: a single one, without an axis."""
        self._initial = initial
        self._widths = widths
        self._row_of: dict[str, int] = {}
        self._columns = {name: self._zeros(width, 16) for name, width in widths.items()}

    def __len__(self) -> int:
        return len(self._row_of)

    def __getitem__(self, column: str) -> _Amounts:
        """The column, shape (rows,) or (rows, width). Writing to it changes the table. Find rows first: a new one can move the column."""
        return self._columns[column][: len(self._row_of)]

    def take(self, column: str, rows: Rows) -> _Amounts:
        """A copy of a column for some nodes, in their order. New nodes are added."""
        own = self.rows(rows)
        return self[column][own]

    def rows(self, rows: Rows) -> IntArray:
        """The table's rows of some nodes, in their order. New nodes are added."""
        return rows.node_column(self, self.row, np.int64)

    def row(self, info: NodeInfo) -> int:
        """The table's row of a node, which is added if it is new."""
        row = self._row_of.get(info.name)
        return self._add(info.name, self._initial(info)) if row is None else row

    def to_state(self) -> Any:
        """Plain data, for the plugin's `to_state`."""
        return {"nodes": list(self._row_of), "columns": {name: self[name].tolist() for name in self._widths}}

    def load(self, state: Any) -> None:
        """Load the data of `to_state` into a table without rows."""
        for row, name in enumerate(state["nodes"]):
            self._add(name, {column: values[row] for column, values in state["columns"].items()})

    def _add(self, name: str, values: Mapping[str, int | Sequence[int]]) -> int:
        row = self._row_of[name] = len(self._row_of)
        for column, width in self._widths.items():
            data = self._columns[column]
            if row == len(data):
                data = self._columns[column] = np.concatenate([data, self._zeros(width, len(data))])
            value = values[column]
            if isinstance(value, int):
                data[row] = value
            else:
                data[row, : len(value)] = value
        return row

    @staticmethod
    def _zeros(width: int, rows: int) -> _Amounts:
        return np.zeros((rows, width) if width else rows, np.int64)
