"""The scheduler's cache: what it believes about nodes and the pods on them, ahead of the API server by the pods that it assumed.

       +-------------------------------------------+  +----+
       |                    Add                    |  |    |
       |                                           |  |    | Update
       +      Assume                Add            v  v    |
    Initial +--------> Assumed +----------------> Added <--+
       ^                  +                         +
       |                  |                         |
       | Forget, Expire   |                         | Remove
       |                  |                         v
       +------------------+                      Deleted

A pod in state Initial or Deleted is in none of the collections, an Assumed one in `pod_states` and `assumed_pods`, an Added one in
`pod_states` alone.

Upstream: internal/cache/cache.go, interface.go
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from schedviz.engine.cache.cache_state import CacheState, PodStateRecord
from schedviz.engine.cache.changes import NodeInfoChanges
from schedviz.engine.cache.errors import CacheError, SchedulerExitError
from schedviz.engine.cache.image_states import ImageStates
from schedviz.engine.cache.node_info_list import NodeInfoList
from schedviz.engine.cache.node_item import node_info_of, node_info_state, node_item
from schedviz.engine.cache.node_tree import NodeTree
from schedviz.engine.cache.podgroup_state import PodGroupState
from schedviz.engine.cache.snapshot import Snapshot, SnapshotUpdate
from schedviz.engine.cache.update_snapshot import update_snapshot
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.types import NANOS_PER_SECOND, Generations, NodeInfo, PodInfo, PodNotFoundError, nanos_to_seconds
from schedviz.kube.core import Node, Pod
from schedviz.kube.zones import zone_key
from schedviz.trace.events import CacheNode, CachePod, ImageChange, NodeOperation, PodOperation, SnapshotUpdated, TreeChange
from schedviz.trace.recorder import Recorder
from schedviz.trace.view import CacheView, PodGroupMembers
from schedviz.trace.view import PodState as PodStateView

_CORRUPTED = "scheduler cache is corrupted and can badly affect scheduling decisions"


class PodState:
    """The cache's state of one pod. Upstream: internal/cache/cache.go podState"""

    __slots__ = ("binding_finished", "deadline", "info")

    def __init__(self, info: PodInfo) -> None:
        self.info = info
        #: When an assumed pod expires, in nanoseconds; None: never.
        self.deadline: int | None = None
        #: An assumed pod does not expire while its binding runs.
        self.binding_finished = False


class CacheDump(msgspec.Struct, frozen=True):
    """Copies of all NodeInfos, and the uids of assumed pods. Upstream: internal/cache/interface.go Dump"""

    nodes: dict[str, NodeInfo]
    assumed_pods: list[str]


class Cache:
    """NodeInfos in a linked list, pods by uid, nodes by zone, images by name.

    Every call that changes something records one trace event; `CacheV136` also records a PodGroupChanged for each group that the call
    changes. Upstream: internal/cache/cache.go cacheImpl
    """

    #: Whether an added pod keeps `binding_finished`. Upstream loses it because AddPod creates a new podState.
    keeps_binding_finished: ClassVar[bool] = False
    image_states_class: ClassVar[type[ImageStates]] = ImageStates

    def __init__(self, recorder: Recorder, generations: Generations, *, ttl_seconds: float = 0, pod_info: type[PodInfo] = PodInfo) -> None:
        self._recorder = recorder
        #: The release's PodInfo.
        self.pod_info = pod_info
        self.generations = generations
        #: How long an assumed pod lives after its binding finished, in nanoseconds; 0: it never expires.
        self.ttl = round(ttl_seconds * NANOS_PER_SECOND)
        self.nodes = NodeInfoList()
        #: By uid.
        self.pod_states: dict[str, PodState] = {}
        #: Uids.
        self.assumed_pods: set[str] = set()
        self.node_tree = NodeTree()
        self.image_states = self.image_states_class()

    # Pods

    def assume_pod(self, pod: PodInfo | Pod) -> None:
        """Add a pod to `spec.nodeName` before the API server confirms it. Raises CacheError. Upstream: cache.go AssumePod"""
        info = self._info(pod)
        if info.uid in self.pod_states:
            raise CacheError(f"pod {_ref(info)} is in the cache, so can't be assumed")
        changes = NodeInfoChanges()
        self._add_pod(info, changes, assume=True)
        self._record_pod("assume", info, changes)

    def finish_binding(self, pod: PodInfo | Pod, now: int) -> None:
        """Let an assumed pod expire from now on. Upstream: cache.go FinishBinding"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        if state is None or info.uid not in self.assumed_pods:
            return
        state.deadline = now + self.ttl if self.ttl else None
        state.binding_finished = True
        self._record_pod("finishBinding", info, NodeInfoChanges())

    def forget_pod(self, pod: PodInfo | Pod) -> None:
        """Remove an assumed pod. Raises CacheError. Upstream: cache.go ForgetPod"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        if state is not None and _node_of(state.info) != _node_of(info):
            raise CacheError(f"pod {_ref(info)} was assumed on {_node_of(info)} but assigned to {_node_of(state.info)}")
        if state is None or info.uid not in self.assumed_pods:
            raise CacheError(f"pod {_ref(info)} wasn't assumed so cannot be forgotten")
        self._remove_and_record("forget", info)

    def add_pod(self, pod: PodInfo | Pod) -> None:
        """Add an assigned pod, or confirm an assumed one, on whichever node it is assigned to.

        Raises CacheError. Upstream: cache.go AddPod
        """
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        if state is not None and info.uid not in self.assumed_pods:
            raise CacheError(f"pod {_ref(info)} was already in added state")
        changes = NodeInfoChanges()
        try:
            if state is not None:
                self._remove_pod(state.info, changes)
            self._add_pod(info, changes, assume=False)
        except PodNotFoundError:
            pass  # Upstream logs the error and continues.
        self._record_pod("add", info, changes)

    def update_pod(self, old: PodInfo | Pod, new: PodInfo | Pod) -> None:
        """Replace an added pod by a newer version. Raises CacheError, SchedulerExitError. Upstream: cache.go UpdatePod"""
        old_info = self._info(old)
        state = self.pod_states.get(old_info.uid)
        if state is None:
            raise CacheError(f"pod {_ref(old_info)} is not added to scheduler cache, so cannot be updated")
        if old_info.uid in self.assumed_pods:
            raise CacheError(f"assumed pod {_ref(old_info)} should not be updated")
        new_info = self._info(new)
        if _node_of(state.info) != _node_of(new_info):
            raise SchedulerExitError(_CORRUPTED)
        changes = NodeInfoChanges()
        error = self._try_to_remove(old_info, changes)
        if error is None:
            self._add_pod(new_info, changes, assume=False)
        self._record_pod("update", new_info, changes, instead_of=old_info.uid)
        if error is not None:
            raise error

    def remove_pod(self, pod: PodInfo | Pod) -> None:
        """Remove a deleted pod. Raises CacheError, SchedulerExitError. Upstream: cache.go RemovePod"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        if state is None:
            raise CacheError(f"pod {_ref(info)} is not found in scheduler cache, so cannot be removed from it")
        # The node name is empty if a Delete was missed and the informer passes on the last known state.
        if _node_of(state.info) != _node_of(info) and _node_of(info) != "":
            raise SchedulerExitError(_CORRUPTED)
        self._remove_and_record("remove", state.info)

    def get_pod(self, pod: PodInfo | Pod) -> Pod:
        """The cache's version of a pod. Raises CacheError. Upstream: cache.go GetPod"""
        info = self._info(pod)
        state = self.pod_states.get(info.uid)
        if state is None:
            raise CacheError(f"pod {_ref(info)} does not exist in scheduler cache")
        return state.info.pod

    def is_assumed_pod(self, pod: PodInfo | Pod) -> bool:
        """Whether the pod is assumed and not yet confirmed. Upstream: cache.go IsAssumedPod"""
        if not pod.uid:
            raise CacheError("cannot get cache key for pod with empty UID")
        return pod.uid in self.assumed_pods

    def cleanup_assumed_pods(self, now: int) -> list[PodInfo]:
        """Remove assumed pods that have expired. Returns them in order of uid. Upstream: cache.go cleanupAssumedPods"""
        expired = []
        for uid in sorted(self.assumed_pods):
            state = self.pod_states.get(uid)
            if state is None:
                raise SchedulerExitError("Key found in assumed set but not in podStates, potentially a logical error")
            if state.binding_finished and self.ttl and state.deadline is not None and now > state.deadline:
                self._remove_and_record("expire", state.info)
                expired.append(state.info)
        return expired

    def next_expiry(self) -> int | None:
        """The earliest deadline of an assumed pod; it expires after that time."""
        deadlines = (self.pod_states[uid].deadline for uid in self.assumed_pods)
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    # Nodes

    def add_node(self, node: Node) -> NodeInfo:
        """Add a node, or add it again while its pods are still here. Returns a copy of its NodeInfo. Upstream: cache.go AddNode"""
        info = self.nodes.get(node.name)
        if info is None:
            info = self._new_node_info(node.name)
        changes = NodeInfoChanges()
        changes.draft_of(info)
        old = info.node
        self.nodes.move_to_head(node.name)
        joined = self.node_tree.add_node(node)
        info.image_states, images = self.image_states.replace_node(old, node)
        info.set_node(node)
        self._record_node("add", node, changes, tree=_tree_change(None, joined), images=images)
        return info.clone()

    def update_node(self, old: Node | None, new: Node) -> NodeInfo:
        """Replace a node by a newer version. Returns a copy of its NodeInfo. Upstream: cache.go UpdateNode"""
        info = self.nodes.get(new.name)
        joined = None
        if info is None:
            info = self._new_node_info(new.name)
            joined = self.node_tree.add_node(new)
        changes = NodeInfoChanges()
        changes.draft_of(info)
        cached = info.node
        self.nodes.move_to_head(new.name)
        left_zone, moved_to = self.node_tree.update_node(old, new)
        info.image_states, images = self.image_states.replace_node(cached, new)
        info.set_node(new)
        self._record_node("update", new, changes, tree=_tree_change(left_zone, joined if moved_to is None else moved_to), images=images)
        return info.clone()

    def remove_node(self, node: Node) -> None:
        """Remove a node. While pods are on it, its NodeInfo stays as a ghost.

        Raises CacheError. Upstream: cache.go RemoveNode
        """
        info = self.nodes.get(node.name)
        if info is None:
            raise CacheError(f"node {node.name} is not found")
        changes = NodeInfoChanges()
        draft = changes.draft_of(info)
        info.remove_node()
        if info.pods:
            self.nodes.move_to_head(node.name)
        else:
            self.nodes.remove(node.name)
            draft.is_dropped = True
        left_zone = self.node_tree.remove_node(node)
        images = self.image_states.remove_node(node) if left_zone is not None else []
        self._record_node("remove", node, changes, tree=_tree_change(left_zone, None), images=images)
        if left_zone is None:
            raise CacheError(f'node "{node.name}" in group "{_quoted(zone_key(node))}" was not found')

    @property
    def node_count(self) -> int:
        """The number of NodeInfos, including ghosts. Upstream: cache.go NodeCount"""
        return len(self.nodes)

    @property
    def pod_count(self) -> int:
        """The number of pods on nodes, also on deleted ones. Upstream: cache.go PodCount"""
        return sum(len(info.pods) for info in self.nodes)

    def dump(self) -> CacheDump:
        """Copies of all NodeInfos and assumed pods, for the debugger. Upstream: cache.go Dump"""
        return CacheDump(nodes={info.name: info.clone() for info in self.nodes}, assumed_pods=sorted(self.assumed_pods))

    # The snapshot

    def update_snapshot(self, snapshot: Snapshot) -> SnapshotUpdate:
        """Copy what changed since the snapshot's last update, from the head to the first item that is not newer.

        Costs nothing for unchanged nodes, unless a node was added or removed. Upstream: cache.go UpdateSnapshot
        """
        before = snapshot.generation
        update, all_lists = update_snapshot(snapshot, self.nodes, self.node_tree)
        groups = {} if update.error else self._update_pod_groups(snapshot)
        if all_lists or update.visited or groups or snapshot.generation != before:
            self._record_snapshot(snapshot, update, all_lists=all_lists, groups=groups)
        return update

    def _update_pod_groups(self, snapshot: Snapshot) -> dict[str, PodGroupMembers | None]:  # noqa: ARG002 - v1.36 has pod groups
        """Copy what changed of the pod groups. Returns it; None: the group was removed."""
        return {}

    # Only v1.36's cache (`cache_v1_36`) keeps the pods of groups. A policy can give v1.36 another cache, so here they do nothing.

    def add_pod_group_member(self, pod: Pod) -> None:
        """Add a pending pod to its group."""

    def update_pod_group_member(self, old: Pod, new: Pod) -> None:
        """Replace a pending pod by a newer version."""

    def remove_pod_group_member(self, pod: Pod) -> None:
        """Remove a deleted pod from its group."""

    def pod_group(self, group: str) -> PodGroupState:
        """v1.36: the state of a pod group. Raises LookupError with upstream's text."""
        raise LookupError(f"pod group state not found for pod group {group}")

    # Shared by the calls

    def _info(self, pod: PodInfo | Pod) -> PodInfo:
        """The PodInfo of a pod, derived from the known one if possible."""
        if not pod.uid:
            raise CacheError("cannot get cache key for pod with empty UID")
        if isinstance(pod, PodInfo):
            return pod
        state = self.pod_states.get(pod.uid)
        if state is None:
            return self.pod_info(pod)
        return state.info if state.info.pod is pod else state.info.info_of(pod)

    def _new_node_info(self, name: str) -> NodeInfo:
        info = NodeInfo(name, self.generations)
        self.nodes.add(info)
        return info

    def _add_pod(self, pod: PodInfo, changes: NodeInfoChanges, *, assume: bool) -> None:
        """Upstream: cache.go addPod"""
        name = _node_of(pod)
        changes.draft_of(self.nodes.get(name) or self._new_node_info(name)).add_pod(pod)
        self.nodes.move_to_head(name)
        self.pod_states[pod.uid] = PodState(pod)
        if assume:
            self.assumed_pods.add(pod.uid)

    def _remove_pod(self, pod: PodInfo, changes: NodeInfoChanges, *, forget: bool = False) -> None:  # noqa: ARG002 - for pod groups
        """Remove a pod from its node. `forget`: it was assumed; it still exists in the API server, and stays in its group.

        Raises PodNotFoundError. Upstream: cache.go removePod
        """
        name = _node_of(pod)
        info = self.nodes.get(name)
        if info is not None:
            draft = changes.draft_of(info)
            draft.remove_pod(pod)
            if info.pods or info.node is not None:
                self.nodes.move_to_head(name)
            else:
                self.nodes.remove(name)
                draft.is_dropped = True
        self.pod_states.pop(pod.uid, None)
        self.assumed_pods.discard(pod.uid)

    def _try_to_remove(self, pod: PodInfo, changes: NodeInfoChanges, *, forget: bool = False) -> CacheError | None:
        try:
            self._remove_pod(pod, changes, forget=forget)
        except PodNotFoundError as error:
            return CacheError(str(error))
        return None

    def _remove_and_record(self, op: PodOperation, pod: PodInfo) -> None:
        changes = NodeInfoChanges()
        error = self._try_to_remove(pod, changes, forget=op == "forget")
        self._record_pod(op, pod, changes)
        if error is not None:
            raise error

    # Recording, views, checkpoints

    def _record_pod(self, op: PodOperation, pod: PodInfo, changes: NodeInfoChanges, *, instead_of: str = "") -> None:
        if self._recorder.silent:
            return
        self._recorder.record(
            CachePod,
            op=op,
            pod=pod.key,
            uid=pod.uid,
            instead_of="" if instead_of in self.pod_states else instead_of,
            nodes=changes.finish(),
            state=self._pod_state_view(pod.uid),
        )

    def _record_node(
        self, op: NodeOperation, node: Node, changes: NodeInfoChanges, *, tree: TreeChange | None, images: list[ImageChange]
    ) -> None:
        if not self._recorder.silent:
            self._recorder.record(CacheNode, op=op, node=node.name, nodes=changes.finish(), tree=tree, images=images)

    def _record_snapshot(
        self, snapshot: Snapshot, update: SnapshotUpdate, *, all_lists: bool, groups: dict[str, PodGroupMembers | None]
    ) -> None:
        """The event omits lists that did not change."""
        if self._recorder.silent:
            return
        affinity = all_lists or update.update_nodes_have_pods_with_affinity
        anti_affinity = all_lists or update.update_nodes_have_pods_with_required_anti_affinity
        anti_affinity_infos = snapshot.have_pods_with_required_anti_affinity_node_info_list
        self._recorder.record(
            SnapshotUpdated,
            generation=snapshot.generation,
            visited=update.visited,
            cloned=update.cloned,
            removed=update.removed,
            update_all_lists=update.update_all_lists,
            update_nodes_have_pods_with_affinity=update.update_nodes_have_pods_with_affinity,
            update_nodes_have_pods_with_required_anti_affinity=update.update_nodes_have_pods_with_required_anti_affinity,
            update_used_pvc_set=update.update_used_pvc_set,
            error=update.error,
            node_info_list=[info.name for info in snapshot.node_info_list] if all_lists else None,
            have_pods_with_affinity=[info.name for info in snapshot.have_pods_with_affinity_node_info_list] if affinity else None,
            have_pods_with_required_anti_affinity=[info.name for info in anti_affinity_infos] if anti_affinity else None,
            used_pvc_set=sorted(snapshot.used_pvc_set) if all_lists or update.update_used_pvc_set else None,
            pod_groups=groups,
        )

    def _pod_state_view(self, uid: str) -> PodStateView | None:
        state = self.pod_states.get(uid)
        if state is None:
            return None
        return PodStateView(
            pod=state.info.key,
            node=_node_of(state.info),
            assumed=uid in self.assumed_pods,
            binding_finished=state.binding_finished,
            deadline_seconds=None if state.deadline is None else nanos_to_seconds(state.deadline),
        )

    def image_counts_of_ghosts(self) -> dict[str, dict[str, int]]:
        """v1.36: ghost -> image -> the number of nodes that have it, which the cache may have forgotten."""
        return {}

    def node_generations(self) -> dict[str, int]:
        """The generation of every NodeInfo, head first, for comparison with a Snapshot."""
        return {info.name: info.generation for info in self.nodes}

    def to_view(self) -> CacheView:
        """The cache as a view shows it."""
        return CacheView(
            list=[node_item(info) for info in self.nodes],
            assumed_pods=sorted(self.assumed_pods),
            pod_states={uid: view for uid in self.pod_states if (view := self._pod_state_view(uid)) is not None},
            node_tree=self.node_tree.to_view(),
            image_states=self.image_states.to_view(),
        )

    def to_state(self, table: ObjectTable) -> CacheState:
        """The cache's state for a checkpoint."""
        return CacheState(
            generation=self.generations.last,
            ttl=self.ttl,
            node_infos=[node_info_state(info, table) for info in self.nodes],
            pod_states=[
                PodStateRecord(table.pod_info_ref(state.info), state.deadline, state.binding_finished) for state in self.pod_states.values()
            ],
            assumed_pods=sorted(self.assumed_pods),
            node_tree=self.node_tree.to_view(),
            image_states=self.image_states.to_state(),
        )

    @classmethod
    def from_state(cls, state: CacheState, recorder: Recorder, table: ObjectTable) -> Cache:
        """The cache of a checkpoint, with its own generation counter."""
        cache = cls(recorder, Generations(state.generation), pod_info=table.pod_info_class)
        cache.ttl = state.ttl
        cache.nodes.load([node_info_of(info, table, cache.generations) for info in state.node_infos])
        for record in state.pod_states:
            info = table.pod_info(record.pod)
            pod_state = cache.pod_states[info.uid] = PodState(info)
            pod_state.deadline, pod_state.binding_finished = record.deadline, record.binding_finished
        cache.assumed_pods = set(state.assumed_pods)
        cache.node_tree.load(state.node_tree)
        cache.image_states.load(state.image_states)
        return cache


def _node_of(pod: PodInfo) -> str:
    return pod.pod.spec.node_name


def _ref(pod: PodInfo) -> str:
    """A pod as upstream's messages name it: the uid, then the key."""
    return f"{pod.uid}({pod.key})"


def _quoted(text: str) -> str:
    """Go's %q, for the characters that a zone can contain."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\x00", "\\x00")


def _tree_change(left_zone: str | None, joined_zone: str | None) -> TreeChange | None:
    return None if left_zone is None and joined_zone is None else TreeChange(left=left_zone, joined=joined_zone)
