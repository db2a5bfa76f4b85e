"""What the framework and its plugins know of pod groups. v1.36, gate GenericWorkload.

Upstream: kube-scheduler/framework/interface.go PodGroupInfo, Placement, kube-scheduler/framework/listers.go PodGroupState
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod


class PodGroupState(Protocol):
    """The pods of a group, in the cache or in the snapshot."""

    @property
    def all_pods(self) -> Mapping[str, Pod]:
        """By uid."""
        ...

    @property
    def assumed(self) -> Mapping[str, Pod]:
        """By uid: pods that are placed and not bound yet."""
        ...

    @property
    def scheduled_pods_count(self) -> int:
        """The number of pods that are assumed or assigned."""
        ...

    def scheduled_pods(self) -> list[Pod]:
        """The pods that are assumed or assigned, with their nodes."""
        ...

    def unscheduled_pods(self) -> list[Pod]:
        """The pods that are neither assumed nor assigned, in order of name."""
        ...


class PodGroups(Protocol):
    """Finds the state of a group. Upstream: PodGroupStateLister"""

    def pod_group(self, group: str) -> PodGroupState:
        """The state of `namespace/name`. Raises LookupError with upstream's text."""
        ...


class _NoPodGroups:
    """Of a framework that belongs to no scheduler, and of releases without pod groups."""

    def pod_group(self, group: str) -> PodGroupState:
        raise LookupError(f"pod group state not found for pod group {group}")


NO_POD_GROUPS: Final[PodGroups] = _NoPodGroups()


class PodGroupInfo(NamedTuple):
    """A group whose pods are being scheduled. Upstream: framework/types.go PodGroupInfo"""

    namespace: str
    name: str

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


class Placement(msgspec.Struct, frozen=True):
    """The nodes to which a group is limited in one run of the algorithm, in the snapshot's order; None: all."""

    name: str = ""
    nodes: tuple[str, ...] | None = None


class PodGroupAssignments(NamedTuple):
    """The nodes that the pods of a group got in one placement. Upstream: PodGroupAssignments"""

    placement: Placement
    #: Pods and nodes, in the order in which they were tried; without the pods that got none.
    proposed: Sequence[tuple[PodInfo, str]]


def group_of(pod: Pod) -> PodGroupInfo | None:
    """The group that a pod belongs to; None: it belongs to none."""
    group = pod.spec.scheduling_group
    return None if group is None or not group.pod_group_name else PodGroupInfo(pod.namespace, group.pod_group_name)


def group_key(pod: Pod) -> str:
    """`namespace/name` of the pod's group; "": it belongs to none. Upstream: podGroupKey"""
    group = group_of(pod)
    return "" if group is None else group.key


def by_name(placements: Iterable[Placement]) -> list[Placement]:
    """Placements in order of name: upstream's order is that of a map."""
    return sorted(placements, key=lambda placement: placement.name)
