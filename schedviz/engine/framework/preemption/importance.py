"""The order of pods by importance, and the choice of the node whose victims matter least.

Upstream: scheduler/util/utils.go MoreImportantPod, framework/preemption/preemption.go pickOneNodeForPreemption
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.timestamps import to_seconds


class NodeVictims(msgspec.Struct, frozen=True):
    """A node on which preemption helps: the victims, those that violate a budget first."""

    node: str
    pods: tuple[PodInfo, ...]
    num_pdb_violations: int = 0
    #: All removed pods in the order of reprieve, and whether each can stay.
    tried: tuple[tuple[PodInfo, bool], ...] = ()
    #: The number of removed pods, from the first, that a budget without room protects.
    protected: int = 0


def start_time(pod: PodInfo, now: int) -> float:
    """When the pod started, in seconds since 1970; now if it has not. Upstream: GetPodStartTime"""
    started = pod.pod.status.start_time
    return to_seconds(started) if started is not None else EPOCH_SECONDS + now / SECOND


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
    best = list(candidates)
    if len(best) == 1:
        return Pick(best[0], "only")
    costs: tuple[tuple[str, Callable[[NodeVictims], float]], ...] = (
        ("pdb", lambda candidate: candidate.num_pdb_violations),
        ("highest", lambda candidate: candidate.pods[0].priority),
        # Priorities may be negative; with this offset each pod adds to the sum.
        ("sum", lambda candidate: sum(pod.priority + 2**31 for pod in candidate.pods)),
        ("count", lambda candidate: len(candidate.pods)),
        ("start", lambda candidate: -_earliest_start(candidate.pods, now)),
    )
    for rule, cost in costs:
        lowest = min(map(cost, best))
        best = [candidate for candidate in best if cost(candidate) == lowest]
        if len(best) == 1:
            return Pick(best[0], rule)
    return Pick(best[0], "first")


def _earliest_start(pods: Sequence[PodInfo], now: int) -> float:
    """The earliest start among the pods of the highest priority. Upstream: GetEarliestPodStartTime"""
    highest = max(pod.priority for pod in pods)
    return min(start_time(pod, now) for pod in pods if pod.priority == highest)
