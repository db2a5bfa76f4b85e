"""Which nodes are evaluated, in which order, and how many feasible nodes are enough.

Upstream: pkg/scheduler/schedule_one.go findNodesThatFitPod, numFeasibleNodesToFind
"""

from __future__ import annotations

from typing import Final

import numpy as np

from schedviz.engine.cache import Snapshot
from schedviz.engine.extenders.extender import Extender, ExtenderFilterRecord
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import unresolvable, unschedulable
from schedviz.engine.framework.types import PodInfo

#: The search does not stop with fewer feasible nodes than this while there are more to evaluate.
MIN_FEASIBLE_NODES_TO_FIND: Final = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND: Final = 5


def num_feasible_nodes_to_find(percentage: int, num_all_nodes: int) -> int:
    """How many feasible nodes end the search; percentage 0 is adaptive. Upstream: schedule_one.go numFeasibleNodesToFind"""
    if num_all_nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return num_all_nodes
    if percentage == 0:
        percentage = max(50 - num_all_nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(num_all_nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


def rows_in_search_order(snapshot: Snapshot, names: frozenset[str] | None, start: int) -> Rows:
    """The nodes that PreFilter left (`names`; None: all), starting where the last search stopped.

    PreFilter's nodes are sorted by name. Raises LookupError for a node that is not in the snapshot.
    """
    if names is None:
        count = snapshot.num_nodes
        return snapshot.rows(np.roll(np.arange(count), -start) if start else None)
    row_of = snapshot.columns.row_of
    ordered = sorted(names)
    for name in ordered:
        snapshot.get(name)
    first = start % len(ordered)
    return snapshot.rows(np.fromiter((row_of[name] for name in ordered[first:] + ordered[:first]), np.intp, len(ordered)))


def pass_extender(extender: Extender, pod: PodInfo, rows: Rows, statuses: NodeToStatusMap) -> tuple[Rows, ExtenderFilterRecord]:
    """The rows that an extender keeps, in its order; its reasons for the others are added to `statuses`. If it fails, all rows.

    Deviation: a node in its response that was not in the request is ignored. Upstream: schedule_one.go findNodesThatPassExtenders
    """
    record = extender.filter(pod, rows)
    if record.error:
        return rows, record
    for node, reason in record.unresolvable.items():
        status = statuses.get(node)
        statuses[node] = unresolvable(*(status.reasons if status is not None else ()), reason)
    for node, reason in record.failed.items():
        status = statuses.get(node)
        statuses[node] = unschedulable(reason) if status is None else status.with_reason(reason)
    place_of = {name: index for index, name in enumerate(rows.names)}
    return rows.take(np.array([place_of[name] for name in record.feasible if name in place_of], dtype=np.intp)), record
