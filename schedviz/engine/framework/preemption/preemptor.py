"""`Preemptor`: the pod for which other pods are evicted, or (v1.36, WorkloadAwarePreemption) the pod group.

Upstream: framework/preemption/executor.go ExecutorPreemptor
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from schedviz.engine.framework.types import PodInfo
from schedviz.kube.workloads import PodGroup

PreemptorKind = Literal["pod", "podgroup"]


class Preemptor(NamedTuple):
    """A pod or a pod group."""

    kind: PreemptorKind
    uid: str
    #: `namespace/name`.
    key: str
    priority: int
    #: The pod, or the group's pods that have no node.
    pods: tuple[PodInfo, ...]

    @classmethod
    def of_pod(cls, pod: PodInfo) -> Preemptor:
        return cls("pod", pod.uid, pod.key, pod.priority, (pod,))

    @classmethod
    def of_group(cls, group: PodGroup, pods: Sequence[PodInfo]) -> Preemptor:
        return cls("podgroup", group.metadata.uid, group.metadata.key, priority_of(group), tuple(pods))

    @property
    def scheduler_name(self) -> str:
        """The profile; all pods of a group have the same."""
        return self.pods[0].pod.spec.scheduler_name


def priority_of(group: PodGroup) -> int:
    """Upstream: scheduler/util/utils.go PodGroupPriority"""
    return group.spec.priority or 0
