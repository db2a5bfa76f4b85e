"""The cache of v1.36: assumed pods do not expire, forgetting an unknown pod is no error, and pod groups are tracked.

Upstream: backend/cache/cache.go
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from schedviz.engine.cache.cache import Cache
from schedviz.engine.cache.cache_state import CacheState
from schedviz.engine.cache.changes import NodeInfoChanges
from schedviz.engine.cache.errors import CacheError
from schedviz.engine.cache.image_states import ImageStates
from schedviz.engine.cache.image_states_v1_36 import ImageStatesV136
from schedviz.engine.cache.podgroup_state import PodGroupState, groups_of, records_of
from schedviz.engine.cache.snapshot import Snapshot, SnapshotUpdate
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.pod_groups import group_key
from schedviz.engine.framework.types import Generations, PodInfo, SharedImages
from schedviz.kube.core import Pod
from schedviz.trace.events import PodGroupChanged, PodOperation
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import CacheView, PodGroupMembers


class CacheV136(Cache):
    """The collections of `Cache`, and pod groups if the gate GenericWorkload is on."""

    image_states_class: ClassVar[type[ImageStates]] = ImageStatesV136

    def __init__(
        self, recorder: Recorder, generations: Generations, *, pod_info: type[PodInfo] = PodInfo, tracks_pod_groups: bool = False
    ) -> None:
        super().__init__(recorder, generations, pod_info=pod_info)
        #: The gate GenericWorkload is on.
        self.tracks_pod_groups = tracks_pod_groups
        #: `namespace/name` -> the pods of the group; a group without pods is removed.
        self.pod_groups: dict[str, PodGroupState] = {}
        #: The number of changes to groups.
        self.pod_group_changes = 0
        #: Groups that a call changed and has not recorded yet.
        self._changed_pod_groups: dict[str, None] = {}

    def image_counts_of_ghosts(self) -> dict[str, dict[str, int]]:
        """Ghost -> image -> the number of nodes that have it. An image that no node has is forgotten, but ghosts keep it."""
        return {
            info.name: {name: image.num_nodes for name, image in info.image_states.current().items()}
            for info in self.nodes
            if info.node is None and isinstance(info.image_states, SharedImages)
        }

    @classmethod
    def from_state(cls, state: CacheState, recorder: Recorder, table: ObjectTable) -> Cache:
        """The cache of a checkpoint."""
        cache = super().from_state(state, recorder, table)
        assert isinstance(cache, CacheV136)
        assert isinstance(cache.image_states, ImageStatesV136)
        cache.tracks_pod_groups = state.pod_groups is not None
        cache.pod_groups = groups_of(state.pod_groups or (), table)
        cache.pod_group_changes = state.pod_group_changes
        for info in cache.nodes:
            cache.image_states.share_with(info)
        return cache

    def finish_binding(self, pod: PodInfo | Pod, now: int) -> None:
        """Nothing: there is no time after which an assumed pod expires."""

    def cleanup_assumed_pods(self, now: int) -> list[PodInfo]:  # noqa: ARG002
        """Nothing."""
        return []

    def next_expiry(self) -> int | None:
        """None: no assumed pod expires."""
        return None

    def forget_pod(self, pod: PodInfo | Pod) -> None:
        """Remove an assumed pod; one that is not in the cache is no error. Raises CacheError. Upstream: cache.go ForgetPod"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        node, cached_node = info.pod.spec.node_name, "" if state is None else state.info.pod.spec.node_name
        if state is not None and node != cached_node:
            raise CacheError(f"pod {info.uid}({info.key}) was assumed on {node} but assigned to {cached_node}")
        if info.uid in self.assumed_pods:
            self._remove_and_record("forget", info)
        elif state is not None:
            raise CacheError(f"pod {info.uid}({info.key}) wasn't assumed so cannot be forgotten")

    # Pod groups. Upstream: cache.go isPodGroupMember, addPodGroupMember and what follows them

    def add_pod_group_member(self, pod: Pod) -> None:
        """Add a pending pod to its group, if it has one. Upstream: AddPodGroupMember"""
        if self._group(pod):
            self._add_member(pod)
            self._record_pod_groups()

    def update_pod_group_member(self, old: Pod, new: Pod) -> None:
        """Replace a pending pod by a newer version. Upstream: UpdatePodGroupMember"""
        group = self._group(new)
        if group in self.pod_groups:
            self.pod_groups[group].update(old, new)
            self._changed(group)
            self._record_pod_groups()

    def remove_pod_group_member(self, pod: Pod) -> None:
        """Remove a deleted pod from its group. Upstream: RemovePodGroupMember"""
        if self._group(pod):
            self._remove_member(pod)
            self._record_pod_groups()

    def pod_group(self, group: str) -> PodGroupState:
        """The state of a group. Raises LookupError. Upstream: cache.go Get"""
        state = self.pod_groups.get(group)
        return super().pod_group(group) if state is None else state

    def _group(self, pod: Pod) -> str:
        return group_key(pod) if self.tracks_pod_groups else ""

    def _changed(self, group: str) -> None:
        self.pod_group_changes += 1
        state = self.pod_groups.get(group)
        if state is not None:
            state.generation = self.pod_group_changes
        self._changed_pod_groups[group] = None

    def _add_member(self, pod: Pod) -> None:
        group = self._group(pod)
        self.pod_groups.setdefault(group, PodGroupState()).add(pod)
        self._changed(group)

    def _remove_member(self, pod: Pod) -> None:
        group = self._group(pod)
        state = self.pod_groups.get(group)
        if state is None:
            return
        state.delete(pod.uid)
        if not state.all_pods:
            del self.pod_groups[group]
        self._changed(group)

    def _assume_member(self, pod: Pod) -> None:
        group = self._group(pod)
        state = self.pod_groups.get(group)
        if state is None:
            state = self.pod_groups[group] = PodGroupState()
            state.all_pods[pod.uid] = pod
        if state.assume(pod):
            self._changed(group)

    def _forget_member(self, pod: Pod) -> None:
        group = self._group(pod)
        state = self.pod_groups.get(group)
        if state is not None and state.forget(pod.uid):
            self._changed(group)

    def _add_pod(self, pod: PodInfo, changes: NodeInfoChanges, *, assume: bool) -> None:
        super()._add_pod(pod, changes, assume=assume)
        if self._group(pod.pod):
            (self._assume_member if assume else self._add_member)(pod.pod)

    def _remove_pod(self, pod: PodInfo, changes: NodeInfoChanges, *, forget: bool = False) -> None:
        super()._remove_pod(pod, changes)
        if self._group(pod.pod):
            (self._forget_member if forget else self._remove_member)(pod.pod)

    def _record_pod(self, op: PodOperation, pod: PodInfo, changes: NodeInfoChanges, *, instead_of: str = "") -> None:
        super()._record_pod(op, pod, changes, instead_of=instead_of)
        self._record_pod_groups()

    def _record_pod_groups(self) -> None:
        for group in self._changed_pod_groups:
            self._recorder.record(PodGroupChanged, group=group, members=self._members(group))
        self._changed_pod_groups.clear()

    def _members(self, group: str) -> PodGroupMembers | None:
        state = self.pod_groups.get(group)
        return None if state is None else state.to_view()

    def update_snapshot(self, snapshot: Snapshot) -> SnapshotUpdate:
        """See `Cache.update_snapshot`. Upstream clears what an earlier cycle left placed in the snapshot; none leaves anything."""
        assert not snapshot.assumed_pods
        return super().update_snapshot(snapshot)

    def _update_pod_groups(self, snapshot: Snapshot) -> dict[str, PodGroupMembers | None]:
        """Upstream: cache.go updatePodGroupStateSnapshot"""
        changed: dict[str, PodGroupMembers | None] = {}
        for group in [group for group in snapshot.pod_groups if group not in self.pod_groups]:
            del snapshot.pod_groups[group]
            changed[group] = None
        for group, state in self.pod_groups.items():
            cached = snapshot.pod_groups.get(group)
            if cached is None or cached.generation != state.generation:
                snapshot.pod_groups[group] = state.clone()
                changed[group] = state.to_view()
        return changed

    def to_view(self) -> CacheView:
        """The cache as a view shows it."""
        view = super().to_view()
        view.pod_groups = {group: state.to_view() for group, state in sorted(self.pod_groups.items())}
        return view

    def to_state(self, table: ObjectTable) -> CacheState:
        """The cache's state for a checkpoint."""
        state = super().to_state(table)
        if not self.tracks_pod_groups:
            return state
        groups = records_of(self.pod_groups, table)
        return msgspec.structs.replace(state, pod_groups=groups, pod_group_changes=self.pod_group_changes)
