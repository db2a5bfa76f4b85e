"""v1.14's priority pipeline, run in addition to Score for the same pod. Its result is shown but not used.

A priority is a Map, which scores one node, with a Reduce, which normalizes the scores of all nodes; or, in the older form, a Function that
scores all nodes at once. The scores form a matrix with a row for each priority and a column for each node. Combine sums up the columns,
each row times its weight, into a HostPriorityList. Scores are 0..10.

Upstream: v1.14 pkg/scheduler/core/generic_scheduler.go PrioritizeNodes, pkg/scheduler/algorithm/priorities/types.go PriorityConfig
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.types import NodeInfo, PodInfo

MAX_PRIORITY: Final = 10

#: How many nodes are shown: those with the highest sums, in the order in which they were scored.
MAX_SHOWN_NODES: Final = 50


class PriorityError(Exception):
    """A priority cannot score a node. The text is upstream's."""


class HostPriority(msgspec.Struct):
    """A node and its score. Upstream: pkg/scheduler/api/types.go HostPriority"""

    host: str
    score: int


HostPriorityList = list[HostPriority]


class Meta(msgspec.Struct, frozen=True):
    """What priorities can read besides pod and node. Upstream: priorities/metadata.go priorityMetadata"""

    objects: ObjectLister
    total_num_nodes: int


#: These raise PriorityError.
PriorityMapFunction = Callable[[PodInfo, Meta, NodeInfo], int]
PriorityReduceFunction = Callable[[PodInfo, Meta, Mapping[str, NodeInfo], HostPriorityList], None]
PriorityFunction = Callable[[PodInfo, Meta, Mapping[str, NodeInfo], Sequence[str]], HostPriorityList]


class PriorityConfig(msgspec.Struct, frozen=True):
    """One priority: a Map with or without a Reduce, or a Function."""

    name: str
    map: PriorityMapFunction | None = None
    reduce: PriorityReduceFunction | None = None
    function: PriorityFunction | None = None
    weight: int = 1

    @property
    def kind(self) -> Literal["Function", "Map", "Map/Reduce"]:
        """The form of the priority."""
        if self.function is not None:
            return "Function"
        return "Map" if self.reduce is None else "Map/Reduce"


class Prioritized(msgspec.Struct, frozen=True):
    """The matrix, a row for each priority, and its combination. With an `error` there is no list, as upstream."""

    configs: Sequence[PriorityConfig]
    matrix: list[HostPriorityList]
    host_priority_list: HostPriorityList
    error: str = ""


def prioritize_nodes(
    pod: PodInfo, meta: Meta, node_name_to_info: Mapping[str, NodeInfo], nodes: Sequence[str], configs: Sequence[PriorityConfig]
) -> Prioritized:
    """Score the nodes by all priorities. Upstream: PrioritizeNodes"""
    configs = configs or (EQUAL_PRIORITY,)
    errors: list[str] = []
    matrix = [_row(pod, meta, node_name_to_info, nodes, config, errors) for config in configs]
    if errors:
        different = list(dict.fromkeys(errors))
        return Prioritized(configs, matrix, [], different[0] if len(different) == 1 else f"[{', '.join(different)}]")
    return Prioritized(configs, matrix, combine(nodes, configs, matrix))


def combine(nodes: Sequence[str], configs: Sequence[PriorityConfig], matrix: Sequence[HostPriorityList]) -> HostPriorityList:
    """Each node with the sum of its scores, each times its priority's weight."""
    result = []
    for column, node in enumerate(nodes):
        score = sum(row[column].score * config.weight for row, config in zip(matrix, configs, strict=True))
        result.append(HostPriority(node, score))
    return result


def _row(
    pod: PodInfo,
    meta: Meta,
    node_name_to_info: Mapping[str, NodeInfo],
    nodes: Sequence[str],
    config: PriorityConfig,
    errors: list[str],
) -> HostPriorityList:
    """The scores of one priority for all nodes. If it fails, the row has the scores so far."""
    row = [HostPriority(node, 0) for node in nodes]
    try:
        if config.function is not None:
            return config.function(pod, meta, node_name_to_info, nodes)
        assert config.map is not None
        for priority in row:
            priority.score = config.map(pod, meta, node_name_to_info[priority.host])
        if config.reduce is not None:
            config.reduce(pod, meta, node_name_to_info, row)
    except PriorityError as error:
        errors.append(str(error))
    return row


def equal_priority_map(_pod: PodInfo, _meta: Meta, _node_info: NodeInfo) -> int:
    """Give all nodes the same score; used if there are no priorities. Upstream: EqualPriorityMap"""
    return 1


EQUAL_PRIORITY: Final = PriorityConfig("EqualPriority", map=equal_priority_map)


def facts(prioritized: Prioritized, nodes: Sequence[str]) -> dict[str, Any]:
    """The result for the stage's facts: at most MAX_SHOWN_NODES columns."""
    highest = max((priority.score for priority in prioritized.host_priority_list), default=0)
    shown_columns = list(range(len(nodes)))
    if len(nodes) > MAX_SHOWN_NODES:
        best = sorted(range(len(prioritized.host_priority_list)), key=lambda column: -prioritized.host_priority_list[column].score)
        shown_columns = sorted((best or shown_columns)[:MAX_SHOWN_NODES])
    made: dict[str, Any] = {
        "of": len(nodes),
        "nodes": [nodes[column] for column in shown_columns],
        "rows": [
            {"name": config.name, "kind": config.kind, "weight": config.weight, "scores": [row[column].score for column in shown_columns]}
            for config, row in zip(prioritized.configs, prioritized.matrix, strict=True)
        ],
        "hostPriorityList": [prioritized.host_priority_list[column].score for column in shown_columns] if not prioritized.error else [],
        "highest": [priority.host for priority in prioritized.host_priority_list if priority.score == highest][:8],
    }
    return {**made, "error": prioritized.error} if prioritized.error else made
