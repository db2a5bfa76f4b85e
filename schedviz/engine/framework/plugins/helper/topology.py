"""Counts by topology domain: how many pods are in each zone, on each host, or in any domain that a pod's terms use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self, cast

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo
from schedviz.engine.framework.verdicts import Mask

Counts = npt.NDArray[np.int64]


#: The code of nodes without the label, for every label.
NO_LABEL: Final = 0


def label_codes(rows: Rows, key: str) -> tuple[IntArray, Sequence[str | None]]:
    """For each row a code of its node's value of a label, and the values; the first value, None, stands for nodes without the label."""

    def value(node_info: NodeInfo) -> str | None:
        return node_info.node.metadata.labels.get(key) if node_info.node is not None else None

    codes, values = rows.classes(("label", key), value, first=(None,))
    return codes, cast("Sequence[str | None]", values)


def has_label(rows: Rows, key: str) -> Mask:
    """The rows whose nodes have the label."""
    codes, _ = label_codes(rows, key)
    present: Mask = codes != NO_LABEL
    return present


def nodes_with_keys(rows: Rows, keys: Sequence[str]) -> Mask | None:
    """The rows whose nodes have all of the labels; None: all rows, the usual case, which spares the caller a copy of the columns."""
    mask: Mask | None = None
    for key in keys:
        mask = intersection(mask, all_or_mask(has_label(rows, key)))
    return mask


def all_or_mask(mask: Mask) -> Mask | None:
    """The mask; None if it is set everywhere."""
    return None if mask.all() else mask


def intersection(first: Mask | None, second: Mask | None) -> Mask | None:
    """Where both masks are set; None means everywhere."""
    if first is None or second is None:
        return second if first is None else first
    return first & second


class DomainCounts:
    """A count for each seen domain (value of one label). Rows are counted in bulk; single domains can be changed afterwards."""

    __slots__ = ("_places", "_seen", "_sums", "_values")

    def __init__(self, values: Sequence[str | None], sums: Counts, seen: Mask) -> None:
        #: At least one value per sum, perhaps more that were added later: the list belongs to a column and may have 5,000 hosts, so it is
        #: not copied.
        self._values = values
        #: 0 for domains that were not seen.
        self._sums = sums
        self._seen = seen
        #: Value -> its position; built when a single domain is read.
        self._places: dict[str | None, int] | None = None

    @classmethod
    def count(cls, rows: Rows, key: str, counts: IntArray, among: Mask | None) -> Self:
        """The sum of `counts` over the rows that are `among` (None: all), by domain."""
        codes, values = label_codes(rows, key)
        if among is not None:
            codes, counts = codes[among], counts[among]
        sums = np.bincount(codes, weights=counts, minlength=len(values)).astype(np.int64)
        return cls(values, sums, np.bincount(codes, minlength=len(values)) > 0)

    @classmethod
    def empty(cls) -> Self:
        """Counts without any domain."""
        return cls((), np.zeros(0, np.int64), np.zeros(0, np.bool_))

    def __len__(self) -> int:
        """The number of seen domains."""
        return int(self._seen.sum())

    def seen(self) -> list[tuple[str, int]]:
        """The seen domains and their counts."""
        indices = np.flatnonzero(self._seen).tolist()
        return [(self._values[index] or "", int(self._sums[index])) for index in indices]

    def numbers(self) -> Counts:
        """The counts of the seen domains."""
        return self._sums[self._seen]

    def get(self, value: str) -> int:
        """The count of a domain; 0 if it was not seen."""
        index = self._place(value)
        return 0 if index is None or not self._seen[index] else int(self._sums[index])

    def add(self, value: str, amount: int) -> int:
        """Change a domain's count, which starts at 0. Returns the new count."""
        index = self._place(value)
        if index is None:
            index = len(self._sums)
            self._values = [*self._values[:index], value]
            self._sums = np.append(self._sums, 0)
            self._seen = np.append(self._seen, False)
            if self._places is not None:
                self._places[value] = index
        self._sums[index] = (self._sums[index] if self._seen[index] else 0) + amount
        self._seen[index] = True
        return int(self._sums[index])

    def of_rows(self, rows: Rows, key: str) -> Counts:
        """The count of each row's domain; 0 if the node has no such label or the domain was not seen."""
        codes, values = label_codes(rows, key)
        if values is self._values:
            numbers = self._sums if len(values) == len(self._sums) else np.append(self._sums, [0] * (len(values) - len(self._sums)))
        else:
            numbers = np.array([0 if value is None else self.get(value) for value in values], np.int64)
        if numbers[NO_LABEL]:
            numbers = numbers.copy()
            numbers[NO_LABEL] = 0
        return numbers[codes]

    @property
    def is_empty(self) -> bool:
        """Whether all counts are 0."""
        return not self._sums.any()

    def clone(self) -> DomainCounts:
        return DomainCounts(self._values, self._sums.copy(), self._seen.copy())

    def to_state(self) -> dict[str, Any]:
        """Plain data for a checkpoint: equal for equal counts, whatever the history and order of nodes."""
        domains = sorted(self.seen())
        return {"values": [value for value, _ in domains], "sums": [number for _, number in domains]}

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return cls(data["values"], np.array(data["sums"], np.int64), np.ones(len(data["values"]), np.bool_))

    def _place(self, value: str) -> int | None:
        if self._places is None:
            self._places = {known_value: index for index, known_value in enumerate(self._values[: len(self._sums)])}
        return self._places.get(value)
