"""Filter over many nodes: each plugin evaluates only the rows that passed every plugin before it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from schedviz.engine.framework.adjusted_rows import AddedPods, AdjustedRows
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.outcomes import FilterOutcome
from schedviz.engine.framework.runtime.per_node_adapter import Filter
from schedviz.engine.framework.status import SUCCESS, Status, wrapped
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import CODE_TYPE, Codes, Index, Verdicts


class NominatedPods(NamedTuple):
    """Nodes with nominated pods, and functions that count those pods."""

    nodes: Collection[str]
    #: The relevant nominated pods of a node, for a pod.
    relevant_pods: Callable[[PodInfo, NodeInfo], Sequence[PodInfo]]
    #: Filter for one node, with nominated pods and without.
    filter_node: Callable[[CycleState, PodInfo, NodeInfo], Status]
    #: Filter reads only sums, so nominated pods can be counted on all nodes at once.
    by_sums: bool


def run_filter_plugins(plugins: Sequence[tuple[str, Filter]], state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts:
    """A verdict for each row, from the first plugin that rejects it. Upstream: framework/runtime/framework.go RunFilterPlugins"""
    codes = np.zeros(len(rows), CODE_TYPE)
    statuses: list[Status] = [SUCCESS]
    passing: Index | None = None
    current = rows
    for name, run_filter in plugins:
        if name in state.skip_filter_plugins:
            continue
        verdicts = run_filter(state, pod, current)
        if verdicts is None:
            continue
        rejected = np.flatnonzero(verdicts.codes)
        if not len(rejected):
            continue
        where = rejected if passing is None else passing[rejected]
        codes[where] = verdicts.codes[rejected] + (len(statuses) - 1)
        statuses.extend(_wrap_unexpected_code(name, status) for status in verdicts.statuses[1:])
        if len(rejected) == len(current):
            break
        passing_rows = np.flatnonzero(verdicts.codes == 0)
        passing = passing_rows if passing is None else passing[passing_rows]
        current = current.take(passing_rows)
    return Verdicts(codes, statuses)


def _wrap_unexpected_code(plugin: str, status: Status) -> Status:
    """Filter may return Success or reject; any other code is an error."""
    if not status.is_rejected:
        status = wrapped(f'running "{plugin}" filter plugin', status)
    return status.with_failed_plugin(plugin)


def search(
    plugins: Sequence[tuple[str, Filter]],
    state: CycleState,
    pod: PodInfo,
    rows: Rows,
    want: int,
    nominated: NominatedPods | None,
) -> FilterOutcome:
    """Filter rows in order until one more than `want` is feasible (which is dropped), or a plugin fails.

    `nominated` is None if no node has nominated pods. Upstream: schedule_one.go findNodesThatPassFilters
    """
    part_size = len(rows) if want * 2 >= len(rows) else max(want + want // 4, 128)
    done = feasible = 0
    codes: list[Codes] = []
    statuses: list[Status] = [SUCCESS]
    error: Status | None = None
    while done < len(rows):
        part = rows if part_size >= len(rows) else rows.take(np.arange(done, min(done + part_size, len(rows))))
        verdicts = run_filter_plugins(plugins, state, pod, part)
        if nominated is not None:
            verdicts = _with_nominated(verdicts, plugins, state, pod, part, nominated)
        end, error = _end_of_search(verdicts, want - feasible)
        if not done and end == len(rows):
            return FilterOutcome(rows, _feasible(verdicts), verdicts)
        shifted = verdicts.codes[:end].astype(CODE_TYPE)
        shifted[shifted > 0] += len(statuses) - 1
        codes.append(shifted)
        statuses.extend(verdicts.statuses[1:])
        feasible += int(np.count_nonzero(shifted == 0))
        done += end
        if end < len(part):
            break
    all_codes = codes[0] if len(codes) == 1 else np.concatenate([np.zeros(0, CODE_TYPE), *codes])
    return FilterOutcome(rows, np.flatnonzero(all_codes == 0), Verdicts(all_codes, statuses), error)


def _feasible(verdicts: Verdicts) -> Index:
    return np.arange(len(verdicts)) if verdicts.rejects_none else np.flatnonzero(verdicts.codes == 0)


def _end_of_search(verdicts: Verdicts, want: int) -> tuple[int, Status | None]:
    """The first row after the outcome: one feasible row too many, or one at which a plugin failed."""
    end, error = len(verdicts), None
    if verdicts.rejects_none:
        return min(end, want), None
    if want >= end and not verdicts.has_error():
        return end, None
    feasible = np.flatnonzero(verdicts.codes == 0)
    if len(feasible) > want:
        end = int(feasible[want])
    if verdicts.has_error():
        failed = [code for code, status in enumerate(verdicts.statuses) if code and not status.is_rejected]
        rows = np.flatnonzero(np.isin(verdicts.codes[:end], failed))
        if len(rows):
            end = int(rows[0])
            error = verdicts[end]
    return end, error


def _with_nominated(
    verdicts: Verdicts, plugins: Sequence[tuple[str, Filter]], state: CycleState, pod: PodInfo, rows: Rows, nominated: NominatedPods
) -> Verdicts:
    """The verdicts, with nodes that have nominated pods filtered again. A node must pass with them and without."""
    rows_with_nominated = rows.places_of(nominated.nodes)
    if not rows_with_nominated:
        return verdicts
    codes, statuses = verdicts.codes.copy(), list(verdicts.statuses)
    code_of = {status: code for code, status in reversed(list(enumerate(statuses)))}

    def reject(row: int, status: Status) -> None:
        if status not in code_of:
            code_of[status] = len(statuses)
            statuses.append(status)
        codes[row] = code_of[status]

    if not nominated.by_sums:
        for row in rows_with_nominated:
            reject(row, nominated.filter_node(state, pod, rows.infos[row]))
        return Verdicts(codes, statuses)
    # All such nodes at once: a clone would cost a hundred microseconds each. The run without nominated pods was made before.
    added = AddedPods(
        len(rows_with_nominated), {index: nominated.relevant_pods(pod, rows.infos[row]) for index, row in enumerate(rows_with_nominated)}
    )
    together = run_filter_plugins(plugins, state, pod, AdjustedRows(rows.take(np.array(rows_with_nominated, np.intp)), added))
    for rejected_row in np.flatnonzero(together.codes).tolist():
        reject(rows_with_nominated[rejected_row], together[rejected_row])
    return Verdicts(codes, statuses)
