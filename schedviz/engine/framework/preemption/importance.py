"""The order of pods by importance, and the choice of the node whose victims matter least.

Upstream: scheduler/util/utils.go MoreImportantPod, framework/preemption/preemption.go pickOneNodeForPreemption
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.preemption.record import Candidate
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.timestamps import parse_timestamp

#: Priorities may be negative; with this offset each pod adds to their sum.
PRIORITY_OFFSET: Final = 2**31


#: The start of a pod that has not started, in seconds since 1970.
NOT_STARTED: Final = float("inf")


class VictimCost(NamedTuple):
    """What a node's victims cost at any time; the lowest is picked. Members are in the order of `RULES[1:5]`."""

    pdb_violations: int
    highest_priority: int
    #: The sum of priorities, each raised by PRIORITY_OFFSET.
    priorities: int
    pods: int


class ComputedCost(NamedTuple):
    """A cost, and the earliest start among the victims of the highest priority; NOT_STARTED: none of them has started."""

    cost: VictimCost
    start: float


class NodeVictims(msgspec.Struct, frozen=True, dict=True):
    """A node on which preemption helps: the victims, first those whose eviction violates a budget."""

    node: str
    pods: tuple[PodInfo, ...]
    num_pdb_violations: int = 0
    #: All removed pods in the order of reprieve, and whether each can stay.
    tried: tuple[tuple[PodInfo, bool], ...] = ()
    #: The number of removed pods, from the first, that a budget without room protects.
    protected: int = 0
    #: What the victims cost, if it was computed for many nodes at once.
    computed_cost: ComputedCost | None = None

    @cached_property
    def recorded(self) -> Candidate:
        """For the record, without the pods that could have stayed."""
        return Candidate(self.node, tuple([pod.key for pod in self.pods]), self.num_pdb_violations)

    @cached_property
    def cost(self) -> VictimCost:
        """What the victims cost; there must be one."""
        if self.computed_cost is not None:
            return self.computed_cost.cost
        return VictimCost(
            self.num_pdb_violations,
            self.pods[0].priority,
            sum(pod.priority + PRIORITY_OFFSET for pod in self.pods),
            len(self.pods),
        )

    def earliest_start(self, now: int) -> float:
        """The earliest start among the victims of the highest priority, in seconds since 1970; now for a pod that has not started."""
        if self.computed_cost is None:
            return _earliest_start(self.pods, now)
        return self.computed_cost.start if self.computed_cost.start != NOT_STARTED else seconds_of(now)


def start_time(pod: PodInfo, now: int) -> float:
    """When the pod started, in seconds since 1970; now if it has not. Upstream: GetPodStartTime"""
    started = pod.pod.status.start_time
    return parse_timestamp(started) if started is not None else seconds_of(now)


def seconds_of(now: int) -> float:
    """A time of the clock in seconds since 1970."""
    return EPOCH_SECONDS + now / SECOND


def more_important_first(pods: Iterable[PodInfo], now: int) -> list[PodInfo]:
    """By priority, then by start time; the sort is stable. Upstream: MoreImportantPod"""
    return sorted(pods, key=lambda pod: (-pod.priority, start_time(pod, now)))


class Pick(msgspec.Struct, frozen=True):
    """The selected candidate, and what decided: an element of `RULES`."""

    candidate: NodeVictims
    rule: str


#: What can decide, in order: there is one candidate, one of five rules of pickOneNodeForPreemption, or of equal ones the first is taken.
RULES: Final = ("only", "pdb", "highest", "sum", "count", "start", "first")


def pick_one_node(candidates: Sequence[NodeVictims], now: int) -> NodeVictims:
    """The candidate with the lowest cost; of equal ones the first. Upstream: pickOneNodeForPreemption"""
    return pick(candidates, now).candidate


def pick(candidates: Sequence[NodeVictims], now: int) -> Pick:
    """The selected candidate, with the rule that decided."""
    if len(candidates) == 1:
        return Pick(candidates[0], "only")
    costs = [candidate.cost for candidate in candidates]
    lowest = min(costs)
    best = [candidate for candidate, cost in zip(candidates, costs, strict=True) if cost == lowest]
    if len(best) == 1:
        return Pick(best[0], _deciding_rule(costs, lowest))
    starts = [candidate.earliest_start(now) for candidate in best]
    latest = max(starts)
    return Pick(best[starts.index(latest)], "start" if starts.count(latest) == 1 else "first")


def _deciding_rule(costs: Iterable[VictimCost], lowest: VictimCost) -> str:
    """The first rule after which only one candidate is left."""
    remaining = list(costs)
    for position in range(len(lowest)):
        remaining = [cost for cost in remaining if cost[position] == lowest[position]]
        if len(remaining) == 1:
            return RULES[position + 1]
    raise ValueError("several candidates have the lowest cost")


def _earliest_start(pods: Sequence[PodInfo], now: int) -> float:
    """The earliest start among the pods of the highest priority. Upstream: GetEarliestPodStartTime"""
    highest = max(pod.priority for pod in pods)
    return min(start_time(pod, now) for pod in pods if pod.priority == highest)
