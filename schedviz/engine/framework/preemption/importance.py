"""The order of pods by importance, and the choice of the node whose victims matter least.

Upstream: scheduler/util/utils.go MoreImportantPod, framework/preemption/preemption.go pickOneNodeForPreemption
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.timestamps import to_seconds

#: Priorities may be negative; with this offset each pod adds to their sum.
PRIORITY_OFFSET: Final = 2**31


class VictimCost(NamedTuple):
    """What a node's victims cost; the lowest is picked. Members are in the order of `RULES`."""

    pdb_violations: int
    highest_priority: int
    #: The sum of priorities, each raised by PRIORITY_OFFSET.
    priorities: int
    pods: int
    #: Minus the earliest start among the pods of the highest priority, in seconds since 1970.
    latest_start: float


class NodeVictims(msgspec.Struct, frozen=True):
    """A node on which preemption helps: the victims, those that violate a budget first."""

    node: str
    pods: tuple[PodInfo, ...]
    num_pdb_violations: int = 0
    #: All removed pods in the order of reprieve, and whether each can stay.
    tried: tuple[tuple[PodInfo, bool], ...] = ()
    #: The number of removed pods, from the first, that a budget without room protects.
    protected: int = 0
    #: What the victims cost, if it was computed for many nodes at once.
    known_cost: VictimCost | None = None

    def cost(self, now: int) -> VictimCost:
        """What the victims cost; there must be one."""
        if self.known_cost is not None:
            return self.known_cost
        return VictimCost(
            self.num_pdb_violations,
            self.pods[0].priority,
            sum(pod.priority + PRIORITY_OFFSET for pod in self.pods),
            len(self.pods),
            -_earliest_start(self.pods, now),
        )


def start_time(pod: PodInfo, now: int) -> float:
    """When the pod started, in seconds since 1970; now if it has not. Upstream: GetPodStartTime"""
    started = pod.pod.status.start_time
    return to_seconds(started) if started is not None else seconds_of(now)


def seconds_of(now: int) -> float:
    """A time of the clock in seconds since 1970."""
    return EPOCH_SECONDS + now / SECOND


def more_important_first(pods: Iterable[PodInfo], now: int) -> list[PodInfo]:
    """By priority, then by start time; the sort is stable. Upstream: MoreImportantPod"""
    return sorted(pods, key=lambda pod: (-pod.priority, start_time(pod, now)))


class Pick(msgspec.Struct, frozen=True):
    """The selected candidate, and the rule that decided: a key of `RULES`."""

    candidate: NodeVictims
    rule: str


#: The rules of pickOneNodeForPreemption in order; after the last, the first remaining candidate is taken.
RULES: Final = ("only", "pdb", "highest", "sum", "count", "start", "first")


def pick_one_node(candidates: Sequence[NodeVictims], now: int) -> NodeVictims:
    """The candidate with the lowest cost; of equal ones the first. Upstream: pickOneNodeForPreemption"""
    return pick(candidates, now).candidate


def pick(candidates: Sequence[NodeVictims], now: int) -> Pick:
    """The selected candidate, with the rule that decided."""
    if len(candidates) == 1:
        return Pick(candidates[0], "only")
    best = [(candidate.cost(now), candidate) for candidate in candidates]
    for index, rule in enumerate(RULES[1:-1]):
        lowest = min(cost[index] for cost, _ in best)
        best = [candidate for candidate in best if candidate[0][index] == lowest]
        if len(best) == 1:
            return Pick(best[0][1], rule)
    return Pick(best[0][1], RULES[-1])


def _earliest_start(pods: Sequence[PodInfo], now: int) -> float:
    """The earliest start among the pods of the highest priority. Upstream: GetEarliestPodStartTime"""
    highest = max(pod.priority for pod in pods)
    return min(start_time(pod, now) for pod in pods if pod.priority == highest)
