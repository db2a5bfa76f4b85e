"""Which pods matter more, and on which node the least that matters would be evicted.

Upstream: scheduler/util/utils.go MoreImportantPod, framework/preemption/preemption.go pickOneNodeForPreemption
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from schedviz.engine.clock import EPOCH_SECONDS, SECOND
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.timestamps import to_seconds


class NodeVictims(msgspec.Struct, frozen=True):
    """A node on which preemption helps: the pods that have to go, those that violate a budget first."""

    node: str
    pods: tuple[PodInfo, ...]
    num_pdb_violations: int = 0


def start_time(pod: PodInfo, now: int) -> float:
    """When the pod started, in seconds since 1970; now if it has not. Upstream: GetPodStartTime"""
    started = pod.pod.status.start_time
    return to_seconds(started) if started is not None else EPOCH_SECONDS + now / SECOND


def more_important_first(pods: Iterable[PodInfo], now: int) -> list[PodInfo]:
    """By priority, then by who started first; equal ones keep their order. Upstream: MoreImportantPod"""
    return sorted(pods, key=lambda pod: (-pod.priority, start_time(pod, now)))


def pick_one_node(candidates: Sequence[NodeVictims], now: int) -> NodeVictims:
    """The candidate that costs least; among equal ones the first. Upstream: pickOneNodeForPreemption"""
    best = list(candidates)
    costs: tuple[Callable[[NodeVictims], float], ...] = (
        lambda candidate: candidate.num_pdb_violations,
        lambda candidate: candidate.pods[0].priority,
        # Priorities may be negative: with this each pod adds something.
        lambda candidate: sum(pod.priority + 2**31 for pod in candidate.pods),
        lambda candidate: len(candidate.pods),
        lambda candidate: -_earliest_start(candidate.pods, now),
    )
    for cost in costs:
        lowest = min(map(cost, best))
        best = [candidate for candidate in best if cost(candidate) == lowest]
        if len(best) == 1:
            break
    return best[0]


def _earliest_start(pods: Sequence[PodInfo], now: int) -> float:
    """Of the pods of the highest priority. Upstream: GetEarliestPodStartTime"""
    highest = max(pod.priority for pod in pods)
    return min(start_time(pod, now) for pod in pods if pod.priority == highest)
