"""`PotentialVictims`: pods that a preemption may evict from one node, with what it reads of them as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from schedviz.engine.framework.adjusted_rows import amount
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.preemption.importance import (
    NOT_STARTED,
    PRIORITY_OFFSET,
    ComputedCost,
    NodeVictims,
    VictimCost,
    more_important_first,
    seconds_of,
    start_time,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask

_NONE: Final = np.zeros(0, np.int64)
#: How many outcomes of dry runs a node keeps; the oldest is dropped first.
_MAX_OUTCOMES: Final = 4


class PotentialVictims:
    """Pods in the order in which they are reprieved. Arrays have one value for each pod and are computed when they are read."""

    def __init__(self, pods: Sequence[PodInfo]) -> None:
        self.pods = pods
        self._amounts: dict[str, IntArray] = {}
        self._outcomes: dict[Hashable, NodeVictims | Status] = {}

    def __len__(self) -> int:
        return len(self.pods)

    def outcome(self, key: Hashable) -> NodeVictims | Status | None:
        """What an earlier dry run with the same key found; None: there was none, or it was dropped."""
        return self._outcomes.get(key)

    def keep_outcome(self, key: Hashable, outcome: NodeVictims | Status) -> None:
        """Keep what a dry run found. `key` must contain all that it depends on besides these pods and their node."""
        if len(self._outcomes) >= _MAX_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        self._outcomes[key] = outcome

    def amounts(self, resource: str) -> IntArray:
        """What each pod requests of a resource."""
        if resource not in self._amounts:
            self._amounts[resource] = np.fromiter((amount(pod, resource) for pod in self.pods), np.int64, len(self.pods))
        return self._amounts[resource]

    @cached_property
    def priorities(self) -> IntArray:
        return np.fromiter((pod.priority for pod in self.pods), np.int64, len(self.pods))

    @cached_property
    def known_starts(self) -> list[float]:
        """When each pod started, in seconds since 1970; infinite if it has not."""
        return [_known_start(pod) for pod in self.pods]


class _VictimsOfNode:
    """The pods of a node below a priority, sorted when they are read: most nodes are never tried."""

    def __init__(self, node_info: NodeInfo, priority: int) -> None:
        self._node_info = node_info
        self._priority = priority

    def at(self, now: int) -> PotentialVictims:
        """The most important first, as at this time."""
        return self._sorted_victims if self._same_order_after < seconds_of(now) else PotentialVictims(more_important_first(self._pods, now))

    @property
    def _pods(self) -> list[PodInfo]:
        return [pod for pod in self._node_info.pods if pod.priority < self._priority]

    @cached_property
    def _sorted_victims(self) -> PotentialVictims:
        """Pods that have not started last among equals."""
        return PotentialVictims(sorted(self._pods, key=lambda pod: (-pod.priority, _known_start(pod))))

    @cached_property
    def _same_order_after(self) -> float:
        """Upstream sorts a pod that has not started as if it started now, which is last once all others have started."""
        starts = self._sorted_victims.known_starts
        if NOT_STARTED not in starts:
            return -NOT_STARTED
        return max((start for start in starts if start != NOT_STARTED), default=-NOT_STARTED)


def most_important_first(rows: Rows, priority: int, now: int) -> list[PotentialVictims]:
    """The pods of lower priority on each node, the most important first.

    They are kept until the node changes: most attempts to preempt look at the same nodes as the attempt before.
    """
    of_nodes = rows.object_column(("victims", priority), lambda node_info: _VictimsOfNode(node_info, priority))
    return [of_node.at(now) for of_node in of_nodes]


class VictimTable:
    """The potential victims of many nodes, one node after the other, and which of them can stay."""

    def __init__(self, nodes: Sequence[PotentialVictims]) -> None:
        self.nodes = nodes
        #: The number of pods of each node, and the positions of its first pod and of the one after its last.
        self.counts = np.fromiter(map(len, nodes), np.intp, len(nodes))
        self.ends = np.cumsum(self.counts)
        self.starts = self.ends - self.counts
        #: For each pod, whether it can stay.
        self.stays: Mask = np.zeros(int(self.counts.sum()), np.bool_)
        self._amounts: dict[str, IntArray] = {}

    def amounts(self, resource: str) -> IntArray:
        """What each pod requests of a resource."""
        if resource not in self._amounts:
            self._amounts[resource] = np.concatenate([_NONE, *(victims.amounts(resource) for victims in self.nodes)])
        return self._amounts[resource]

    def sums_of_victims(self, values: IntArray) -> IntArray:
        """For each node the sum of a value over the pods that cannot stay."""
        sums = np.concatenate([[0], np.cumsum(np.where(self.stays, 0, values))])
        result: IntArray = sums[self.ends] - sums[self.starts]
        return result

    def costs(self) -> list[ComputedCost | None]:
        """What each node's victims cost, None without any, if no budget protects a pod and pods are in order of importance: a node's first
        victim then has the highest priority, and of those that have it the earliest start.
        """
        numbers = self.sums_of_victims(np.ones(len(self.stays), np.int64)).tolist()
        priorities = np.concatenate([_NONE, *(victims.priorities for victims in self.nodes)])
        sums = self.sums_of_victims(priorities + PRIORITY_OFFSET).tolist()
        victims = np.flatnonzero(~self.stays)
        firsts = [*victims.tolist(), 0]
        costs: list[ComputedCost | None] = []
        for node, start, index, number, summed in zip(
            self.nodes, self.starts.tolist(), np.searchsorted(victims, self.starts).tolist(), numbers, sums, strict=True
        ):
            if not number:
                costs.append(None)
                continue
            first = firsts[index] - start
            costs.append(ComputedCost(VictimCost(0, node.pods[first].priority, summed, number), node.known_starts[first]))
        return costs

    def stays_by_node(self) -> list[list[bool]]:
        """For each node, which of its pods can stay."""
        can_stay = self.stays.tolist()
        return [can_stay[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]


def _known_start(pod: PodInfo) -> float:
    return NOT_STARTED if pod.pod.status.start_time is None else start_time(pod, 0)
