"""Why no node fits: `NodeToStatusMap`, `Diagnosis`, and `FitError` with the message for the pod's condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import ClassVar, NamedTuple, Self

import msgspec
import numpy as np

from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.verdicts import Mask, Verdicts


class Search(NamedTuple):
    """The verdicts of a search, for the first rows of `rows`."""

    rows: Rows
    verdicts: Verdicts


class NodeToStatusMap(MutableMapping[str, Status]):
    """Node name -> why it was rejected. Nodes that were not evaluated are missing. Upstream: framework/types.go NodeToStatusMap

    The verdicts of a search stay an array until a node is looked up by name: messages need only counts, and preemption needs only rows, so
    a pod that 5,000 nodes reject costs no entry for each of them.
    """

    __slots__ = ("_by_name", "_search")

    def __init__(self, statuses: Mapping[str, Status] | None = None) -> None:
        self._by_name: dict[str, Status] = dict(statuses or {})
        #: Rejections that are not in `_by_name` yet.
        self._search: Search | None = None

    @classmethod
    def of(cls, rows: Rows, verdicts: Verdicts) -> NodeToStatusMap:
        """The rejected rows of a search."""
        statuses = cls()
        statuses.add(rows, verdicts)
        return statuses

    def add(self, rows: Rows, verdicts: Verdicts) -> None:
        """Add the rejected rows of a search."""
        if verdicts.rejects_none:
            return
        if self._by_name or self._search is not None:
            self.update(NodeToStatusMap.of(rows, verdicts))
        else:
            self._search = Search(rows, verdicts)

    def status_of(self, node: str) -> Status | None:
        """Why a node was rejected; None: it was not. Upstream: a look-up in NodeToStatusMap"""
        return self.get(node)

    def counts(self) -> list[tuple[Status, int]]:
        """Each distinct status object with the number of its nodes. Equal statuses of several plugins are listed one by one."""
        if self._search is None:
            statuses = self._by_name.values()
            distinct = {id(status): status for status in statuses}
            return [(distinct[identity], count) for identity, count in Counter(map(id, statuses)).items()]
        verdicts = self._search.verdicts
        counts = np.bincount(verdicts.codes, minlength=len(verdicts.statuses)).tolist()
        return [(status, count) for status, count in zip(verdicts.statuses[1:], counts[1:], strict=True) if count]

    def mask(self, rows: Rows, condition: Callable[[Status], bool], *, absent: bool) -> Mask:
        """The rows whose status meets a condition; `absent` is the value for a node without a status. `rows`: all of the snapshot."""
        if self._search is None:
            by_name = self._by_name
            if not by_name:
                return np.full(len(rows), absent)
            values = (absent if (status := by_name.get(name)) is None else condition(status) for name in rows.names)
            return np.fromiter(values, np.bool_, len(rows))
        searched, verdicts = self._search
        by_code = np.array([absent, *map(condition, verdicts.statuses[1:])], np.bool_)[verdicts.codes]
        if searched.index is None and len(by_code) == len(rows):
            return by_code
        mask = np.full(len(rows), absent)
        mask[slice(len(by_code)) if searched.index is None else searched.index[: len(by_code)]] = by_code
        return mask

    def __getitem__(self, node: str) -> Status:
        return self._named()[node]

    def __setitem__(self, node: str, status: Status) -> None:
        self._named()[node] = status

    def __delitem__(self, node: str) -> None:
        del self._named()[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._named())

    def __len__(self) -> int:
        return len(self._by_name) if self._search is None else int(np.count_nonzero(self._search.verdicts.codes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._named()!r})"

    def _named(self) -> dict[str, Status]:
        if self._search is not None:
            (rows, verdicts), self._search = self._search, None
            rejected = np.flatnonzero(verdicts.codes)
            names, statuses = rows.names, verdicts.statuses
            codes = verdicts.codes[rejected].tolist()
            self._by_name = {names[row]: statuses[code] for row, code in zip(rejected.tolist(), codes, strict=True)}
        return self._by_name


class Diagnosis(msgspec.Struct):
    """The diagnosis of a failed attempt. Upstream: framework/types.go Diagnosis"""

    node_to_status: NodeToStatusMap = msgspec.field(default_factory=NodeToStatusMap)
    unschedulable_plugins: set[str] = msgspec.field(default_factory=set)
    pre_filter_msg: str = ""
    post_filter_msg: str = ""

    @classmethod
    def new(cls) -> Self:
        """An empty diagnosis."""
        return cls()

    def add_plugin_status(self, status: Status) -> None:
        """Remember the plugin that rejected a node."""
        self.unschedulable_plugins.add(status.failed_plugin)

    def reject_all_nodes(self, status: Status) -> None:
        """A PreFilter plugin rejects the pod, whatever the node."""
        self.pre_filter_msg = status.message


class FitError(msgspec.Struct):
    """No node fits a pod. A value, not an exception. Upstream: framework/types.go FitError"""

    diagnosis_type: ClassVar[type[Diagnosis]] = Diagnosis

    pod: str
    num_all_nodes: int
    diagnosis: Diagnosis

    @property
    def message(self) -> str:
        """`0/N nodes are available: <PreFilter>. <n reason, n reason>. <PostFilter>.` Upstream: framework/types.go FitError.Error"""
        diagnosis = self.diagnosis
        parts = [
            diagnosis.pre_filter_msg,
            ", ".join(reasons_histogram(diagnosis.node_to_status.counts())),
            diagnosis.post_filter_msg,
        ]
        return f"0/{self.num_all_nodes} nodes are available:" + "".join(f" {part}." for part in parts if part)


def reasons_histogram(counts: Iterable[tuple[Status, int]]) -> list[str]:
    """`<count> <reason>` for each distinct reason, sorted as strings (so 10 comes before 2), as upstream does."""
    reasons: Counter[str] = Counter()
    for status, count in counts:
        for reason in status.reasons:
            reasons[reason] += count
    return sorted(f"{count} {reason}" for reason, count in reasons.items())
