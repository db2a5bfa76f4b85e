"""The state of pod groups in the cache, and its copies in the snapshot: which pods of a group are unscheduled, assumed or assigned. v1.36.

Upstream: backend/cache/podgroupstate.go
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from schedviz.engine.framework.object_table import ObjectTable
from schedviz.kube.core import Pod
from schedviz.trace.view import PodGroupMembers


class PodGroupRecord(msgspec.Struct, frozen=True, array_like=True):
    """A PodGroupState in a checkpoint: pods by their numbers, the other members by uid."""

    group: str
    generation: int
    all_pods: list[int]
    unscheduled: list[str]
    assumed: list[int]
    assigned: list[str]


class PodGroupState:
    """The pods of one group that the scheduler knows. Upstream: podGroupStateData"""

    __slots__ = ("all_pods", "assigned", "assumed", "generation", "unscheduled")

    def __init__(self) -> None:
        #: Changes with every change, so that a snapshot copies only what changed.
        self.generation = 0
        #: By uid, in the version that was added last.
        self.all_pods: dict[str, Pod] = {}
        #: Uids of pods that are neither assumed nor assigned.
        self.unscheduled: set[str] = set()
        #: By uid, with their nodes.
        self.assumed: dict[str, Pod] = {}
        #: Uids.
        self.assigned: set[str] = set()

    @property
    def scheduled_pods_count(self) -> int:
        """The number of pods that are assumed or assigned."""
        return len(self.assumed) + len(self.assigned)

    def scheduled_pods(self) -> list[Pod]:
        """The assigned pods, then the assumed ones with their nodes; each in order of uid."""
        return [*(self.all_pods[uid] for uid in sorted(self.assigned)), *(self.assumed[uid] for uid in sorted(self.assumed))]

    def unscheduled_pods(self) -> list[Pod]:
        """The pods that are neither assumed nor assigned, in order of name. Upstream: unscheduledPodsMap"""
        return sorted((self.all_pods[uid] for uid in self.unscheduled), key=lambda pod: pod.name)

    def add(self, pod: Pod) -> None:
        """Add a pod, which is assigned if it has a node."""
        self.all_pods[pod.uid] = pod
        (self.assigned if pod.spec.node_name else self.unscheduled).add(pod.uid)

    def update(self, old: Pod, new: Pod) -> None:
        """Replace a pod by a newer version; a binding makes it assigned."""
        self.all_pods[new.uid] = new
        if not old.spec.node_name and new.spec.node_name:
            self.assigned.add(new.uid)
            self.unscheduled.discard(new.uid)
            self.assumed.pop(new.uid, None)

    def delete(self, uid: str) -> None:
        """Remove a pod."""
        self.all_pods.pop(uid, None)
        self.unscheduled.discard(uid)
        self.assumed.pop(uid, None)
        self.assigned.discard(uid)

    def assume(self, pod: Pod) -> bool:
        """A pod was assumed on a node. False: the group does not have it, as it was removed from the cluster."""
        stored = self.all_pods.get(pod.uid)
        if stored is None:
            return False
        if stored.spec.node_name:
            self.assigned.add(pod.uid)
        else:
            self.assumed[pod.uid] = pod
        self.unscheduled.discard(pod.uid)
        return True

    def forget(self, uid: str) -> bool:
        """A pod is no longer assumed. False: the group does not have it."""
        stored = self.all_pods.get(uid)
        if stored is None:
            return False
        self.assumed.pop(uid, None)
        (self.assigned if stored.spec.node_name else self.unscheduled).add(uid)
        return True

    def clone(self) -> PodGroupState:
        """A copy for a snapshot."""
        copy = PodGroupState()
        copy.generation = self.generation
        copy.all_pods, copy.assumed = dict(self.all_pods), dict(self.assumed)
        copy.unscheduled, copy.assigned = set(self.unscheduled), set(self.assigned)
        return copy

    def to_view(self) -> PodGroupMembers:
        """The keys of the pods, sorted."""
        return PodGroupMembers(
            all_pods=self._keys(self.all_pods),
            unscheduled_pods=self._keys(self.unscheduled),
            assumed_pods=self._keys(self.assumed),
            assigned_pods=self._keys(self.assigned),
        )

    def _keys(self, uids: Iterable[str]) -> list[str]:
        return sorted(self.all_pods[uid].key for uid in uids if uid in self.all_pods)


def records_of(groups: Mapping[str, PodGroupState], table: ObjectTable) -> list[PodGroupRecord]:
    """The groups in a checkpoint."""
    return [
        PodGroupRecord(
            group,
            state.generation,
            [table.pod_ref(pod) for pod in state.all_pods.values()],
            sorted(state.unscheduled),
            [table.pod_ref(pod) for pod in state.assumed.values()],
            sorted(state.assigned),
        )
        for group, state in groups.items()
    ]


def groups_of(records: Iterable[PodGroupRecord], table: ObjectTable) -> dict[str, PodGroupState]:
    """The groups of a checkpoint."""
    groups: dict[str, PodGroupState] = {}
    for record in records:
        state = groups[record.group] = PodGroupState()
        state.generation = record.generation
        state.all_pods = {pod.uid: pod for pod in map(table.pods.__getitem__, record.all_pods)}
        state.unscheduled, state.assigned = set(record.unscheduled), set(record.assigned)
        state.assumed = {pod.uid: pod for pod in map(table.pods.__getitem__, record.assumed)}
    return groups
