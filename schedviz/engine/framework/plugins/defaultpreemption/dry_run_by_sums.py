"""Dry runs of many nodes at once, for a pod whose Filter plugins read only sums: resources requested, and the number of pods.

First all pods of lower priority are removed from all nodes: their sums are columns, of which a cycle recomputes the rows that changed. Then
round k tests the k-th most important of them on every node that has as many. For 500 nodes with 4 such pods each, Filter reads arrays 5
times instead of running on 2,500 clones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from schedviz.engine.framework.adjusted_rows import AddedPods, AdjustedRows, amount
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.preemption.potential_victims import VictimTable
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.quantity import as_int64

#: Filter, with all plugins or with those that read sums.
RunFilter = Callable[[Rows], Verdicts]


class DryRunBySums:
    """Nodes without their pods of lower priority. Relevant nominated pods are always counted.

    Upstream filters such a node twice, with and without nominated pods; a pod that fits with them also fits without, since they only use
    resources.
    """

    def __init__(self, rows: Rows, priority: int, nominated: Mapping[int, Sequence[PodInfo]]) -> None:
        self.rows = rows
        self._priority = priority
        self._nominated = AddedPods(len(rows), nominated)

    def has_nominated_pods(self, row: int) -> bool:
        """Whether nominated pods are counted on this row."""
        return row in self._nominated

    def fits(self, run_filter: RunFilter) -> Verdicts:
        """Whether the pod fits with all victims removed, and why not."""
        return run_filter(AdjustedRows(self.rows, lambda resource: self._nominated(resource) - self._below(resource)))

    def reprieve(self, row_numbers: Sequence[int], table: VictimTable, run_filter: RunFilter) -> None:
        """Set `table.stays` for the removed pods of these rows: whether each can stay."""
        rows = self.rows.take(np.array(row_numbers, np.intp))

        def change(resource: str, chosen: IntArray) -> IntArray:
            return self._nominated(resource)[row_numbers][chosen] - table.sums_of_victims(table.amounts(resource))[chosen]

        for number in range(int(table.counts.max(initial=0))):
            chosen = np.flatnonzero(table.counts > number)
            tried = table.starts[chosen] + number
            table.stays[tried] = True
            verdicts = run_filter(AdjustedRows(rows.take(chosen), lambda resource, chosen=chosen: change(resource, chosen)))  # type: ignore[misc]
            table.stays[tried[verdicts.codes != 0]] = False

    def _below(self, resource: str) -> IntArray:
        return _lower_priority_requests(self.rows, self._priority, resource)


def has_lower_priority_pods(rows: Rows, priority: int) -> Mask:
    """The nodes that run a pod of a lower priority."""
    return _lower_priority_requests(rows, priority, "pods") > 0


def _lower_priority_requests(rows: Rows, priority: int, resource: str) -> IntArray:
    """The requests of the pods of lower priority. Many pods share few priorities, so the columns are reused."""

    def compute(node_info: NodeInfo) -> int:
        return as_int64(sum(amount(pod, resource) for pod in node_info.pods if pod.priority < priority))

    return rows.info_column(("below", priority, resource), compute)
