"""The snapshot: one scheduling cycle's copy of the cache. Upstream: internal/cache/snapshot.go"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec
import numpy as np

from schedviz.engine.cache.node_item import NodeInfoState, node_info_of, node_info_state, node_item
from schedviz.engine.cache.podgroup_state import PodGroupRecord, PodGroupState, groups_of, records_of
from schedviz.engine.framework.columns import Columns, IntArray
from schedviz.engine.framework.object_table import ObjectTable, PodRef
from schedviz.engine.framework.pod_groups import group_key
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import Generations, ImageStateSummary, NodeInfo, PodInfo, SharedImages
from schedviz.trace.view import SnapshotView


class SnapshotUpdate(msgspec.Struct, frozen=True):
    """The result of UpdateSnapshot. The flags say what the walk found; with `error`, all lists were rebuilt whatever they say."""

    #: Items of the cache's list that were walked, head first.
    visited: list[str]
    #: Visited items that have a node and were copied.
    cloned: list[str]
    #: Nodes that were removed from the snapshot.
    removed: list[str]
    update_all_lists: bool = False
    update_nodes_have_pods_with_affinity: bool = False
    update_nodes_have_pods_with_required_anti_affinity: bool = False
    update_used_pvc_set: bool = False
    #: Upstream's error if the lists are inconsistent with the cache; "": they are consistent.
    error: str = ""


class ListChanges:
    """Changes to the snapshot's lists during an update, caused by overwritten NodeInfos."""

    __slots__ = ("affinity", "anti_affinity", "claims")

    def __init__(self) -> None:
        #: Nodes that gained their first pod with affinity, or lost their last.
        self.affinity: list[NodeInfo] = []
        self.anti_affinity: list[NodeInfo] = []
        #: Claims that a node's pods started to use (1), or stopped using (-1).
        self.claims: list[tuple[NodeInfo, AbstractSet[str], int]] = []

    def overwrite(self, existing: NodeInfo, info: NodeInfo) -> None:
        """Copy one NodeInfo into another and note the changes to the lists."""
        if bool(existing.pods_with_affinity) != bool(info.pods_with_affinity):
            self.affinity.append(existing)
        if bool(existing.pods_with_required_anti_affinity) != bool(info.pods_with_required_anti_affinity):
            self.anti_affinity.append(existing)
        before, after = existing.pvc_ref_counts.keys(), info.pvc_ref_counts.keys()
        if before != after:
            self.claims += ((existing, after - before, 1), (existing, before - after, -1))
        existing.assign(info)


class SnapshotState(msgspec.Struct, frozen=True):
    """A snapshot in a checkpoint."""

    generation: int
    #: All nodes in the order of the map.
    nodes: list[str]
    #: NodeInfos whose generation differs from the cache's, or that the cache does not have; the others equal the cache's.
    stale: list[NodeInfoState]
    node_info_list: list[str]
    have_pods_with_affinity: list[str]
    have_pods_with_required_anti_affinity: list[str]
    used_pvc_set: list[str]
    #: v1.36: the numbers of nodes with each image, of nodes for which the cache has other numbers now.
    image_nodes: dict[str, list[int]] = {}
    #: v1.36: pods of the group whose scheduling cycle runs, in the order in which they were placed.
    assumed_pods: list[PodRef] = []
    pod_groups: list[PodGroupRecord] = []
    placement: list[str] | None = None


class Snapshot:
    """Copies of the NodeInfos that have a node, and lists of them. `Cache.update_snapshot` updates it for each scheduling cycle.

    In v1.36 the cycle of a pod group changes it, too: it limits the snapshot to a placement, and assumes and forgets pods in it. Dry runs
    change copies.

    Not to be confused with a checkpoint, which is a saved engine. Upstream: internal/cache/snapshot.go Snapshot
    """

    def __init__(self) -> None:
        #: The head's generation at the last update.
        self.generation = 0
        #: Node name -> NodeInfo. An object stays while its node is here; updates overwrite it.
        self.node_info_map: dict[str, NodeInfo] = {}
        #: In the order of the node tree when a node was last added or removed.
        self.node_info_list: list[NodeInfo] = []
        self.have_pods_with_affinity_node_info_list: list[NodeInfo] = []
        self.have_pods_with_required_anti_affinity_node_info_list: list[NodeInfo] = []
        #: `namespace/claim` of claims in use -> number of nodes with pods that use it.
        self._claims: Counter[str] = Counter()
        #: Arrays over `node_info_list`.
        self.columns = Columns()
        #: v1.36: uid -> a pod of the group whose scheduling cycle runs, which is placed in the snapshot alone.
        self.assumed_pods: dict[str, PodInfo] = {}
        #: v1.36: `namespace/name` -> the group's state, with `assumed_pods`.
        self.pod_groups: dict[str, PodGroupState] = {}
        #: v1.36: the nodes to which a pod group's cycle is limited; None: all.
        self.placement: frozenset[str] | None = None

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.node_info_list)

    def get(self, name: str) -> NodeInfo:
        """The NodeInfo of a node. Raises LookupError with upstream's text. Upstream: internal/cache/snapshot.go Snapshot.Get"""
        info = self.node_info_map.get(name)
        if info is None or info.node is None:
            raise LookupError(f'nodeinfo not found for node name "{name}"')
        return info

    # The scheduling cycle of a pod group

    def assume_pod(self, pod: PodInfo) -> None:
        """Place a pod on its node, in this snapshot alone. The node's generation stays that of the cache, and the lists stay as they are.

        Upstream: backend/cache/snapshot.go Snapshot.AssumePod
        """
        info = self.node_info_map[pod.pod.spec.node_name]
        self._keep_generation(info, info.add_pod, pod)
        self.assumed_pods[pod.uid] = pod
        state = self.pod_groups.get(group_key(pod.pod))
        if state is not None:
            state.assume(pod.pod)

    def forget_pod(self, pod: PodInfo) -> None:
        """Undo `assume_pod`. Upstream: backend/cache/snapshot.go Snapshot.ForgetPod"""
        assumed = self.assumed_pods.pop(pod.uid)
        info = self.node_info_map[assumed.pod.spec.node_name]
        self._keep_generation(info, info.remove_pod, assumed)
        state = self.pod_groups.get(group_key(assumed.pod))
        if state is not None:
            state.forget(assumed.uid)

    def _keep_generation(self, info: NodeInfo, change: Callable[[PodInfo], None], pod: PodInfo) -> None:
        generation = info.generation
        change(pod)
        info.generation = generation
        self.columns.mark(info.name, node_changed=False)

    @property
    def unlisted_rows_with_affinity(self) -> list[int]:
        """The rows of nodes that have pods with affinity only since `assume_pod`, which leaves the lists as they are."""
        listed = self.have_pods_with_affinity_node_info_list
        return self._unlisted_rows(listed, lambda info: info.pods_with_affinity) if self.assumed_pods else []

    @property
    def unlisted_rows_with_required_anti_affinity(self) -> list[int]:
        """The same for required anti-affinity."""
        listed = self.have_pods_with_required_anti_affinity_node_info_list
        return self._unlisted_rows(listed, lambda info: info.pods_with_required_anti_affinity) if self.assumed_pods else []

    def _unlisted_rows(self, listed: list[NodeInfo], pods_of: Callable[[NodeInfo], list[PodInfo]]) -> list[int]:
        names = {pod.pod.spec.node_name for pod in self.assumed_pods.values()} - {info.name for info in listed}
        return sorted(self.row_of[name] for name in names if name in self.row_of and pods_of(self.node_info_map[name]))

    def assume_placement(self, nodes: Sequence[str] | None) -> None:
        """Limit the nodes that can be considered; None, or as many as there are: no limit. Upstream: AssumePlacement, ForgetPlacement"""
        self.placement = None if nodes is None or len(nodes) == self.num_nodes else frozenset(nodes)

    def pod_group(self, group: str) -> PodGroupState:
        """The state of a group. Raises LookupError. Upstream: podGroupStateSnapshotLister.Get"""
        state = self.pod_groups.get(group)
        if state is None:
            raise LookupError(f"pod group state not found for pod group {group}")
        return state

    @property
    def num_nodes_in_placement(self) -> int:
        """The number of nodes that can be considered. Upstream: NumNodesInPlacement"""
        return self.num_nodes if self.placement is None else len(self.placement)

    def rows_in_placement(self, start: int) -> Rows:
        """The nodes of the placement in the order of `node_info_list`, from this position on."""
        placement = self.placement
        index = [row for row, name in enumerate(self.columns.names) if placement is None or name in placement]
        return self.rows(np.roll(np.array(index, dtype=np.intp), -(start % len(index)) if index else 0))

    # Copies for dry runs

    def copy(self) -> Snapshot:
        """A copy with NodeInfos of its own, for a dry run. The states of pod groups are shared. Upstream: BackupSnapshot"""
        copy = Snapshot()
        copy.generation = self.generation
        copy.node_info_map = {name: info.clone() for name, info in self.node_info_map.items()}
        copy.rebuild([info.name for info in self.node_info_list])
        copy.pod_groups = self.pod_groups
        return copy

    def add_pod(self, pod: PodInfo) -> None:
        """Put a pod on its node, in a copy."""
        self._change_node(pod, self.node_info_map[pod.pod.spec.node_name].add_pod)

    def remove_pod(self, pod: PodInfo) -> None:
        """Take a pod off its node, in a copy."""
        self._change_node(pod, self.node_info_map[pod.pod.spec.node_name].remove_pod)

    def _change_node(self, pod: PodInfo, change: Callable[[PodInfo], None]) -> None:
        change(pod)
        self.columns.mark(pod.pod.spec.node_name, node_changed=False)

    # Rows and claims

    @property
    def used_pvc_set(self) -> AbstractSet[str]:
        """`namespace/claim` of claims in use."""
        return self._claims.keys()

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """Whether some pod in the snapshot uses this claim. Upstream: internal/cache/snapshot.go Snapshot.IsPVCUsedByPods"""
        return key in self._claims

    @property
    def row_of(self) -> dict[str, int]:
        """Node name -> its place in `node_info_list`."""
        return self.columns.row_of

    def rows(self, index: IntArray | None = None) -> Rows:
        """All nodes in the order of `node_info_list`, or those at `index` in that order."""
        return Rows(self.columns, index)

    # The lists, after an update

    def rebuild(self, order: list[str]) -> None:
        """Rebuild the lists over nodes in this order. Upstream: cache.go updateNodeInfoSnapshotList"""
        self.node_info_list = [info for name in order if (info := self.node_info_map.get(name)) is not None]
        self.columns.reorder(self.node_info_list)
        self.have_pods_with_affinity_node_info_list = [info for info in self.node_info_list if info.pods_with_affinity]
        self.have_pods_with_required_anti_affinity_node_info_list = [
            info for info in self.node_info_list if info.pods_with_required_anti_affinity
        ]
        self._count_claims()

    def update_lists(self, changes: ListChanges) -> None:
        """Update the lists for some nodes. The caller must rebuild them instead if a node was added or removed.

        Upstream rebuilds them over all nodes. At 5,000 nodes that took 1 ms of every cycle in which a node got its first pod with affinity;
        this takes a few microseconds.
        """
        for info in changes.affinity:
            self._list_or_unlist(self.have_pods_with_affinity_node_info_list, info, wanted=bool(info.pods_with_affinity))
        for info in changes.anti_affinity:
            should_be_listed = bool(info.pods_with_required_anti_affinity)
            self._list_or_unlist(self.have_pods_with_required_anti_affinity_node_info_list, info, wanted=should_be_listed)
        for info, claims, delta in changes.claims:
            for claim in claims if info.name in self.row_of else ():
                self._claims[claim] += delta
                if not self._claims[claim]:
                    del self._claims[claim]

    def _list_or_unlist(self, nodes: list[NodeInfo], info: NodeInfo, *, wanted: bool) -> None:
        """Insert a node into a list in row order, or remove it."""
        row_of = self.row_of
        if info.name not in row_of:
            return
        index = bisect_left(nodes, row_of[info.name], key=lambda other: row_of[other.name])
        is_there = index < len(nodes) and nodes[index] is info
        if wanted and not is_there:
            nodes.insert(index, info)
        elif is_there and not wanted:
            del nodes[index]

    def _count_claims(self) -> None:
        self._claims = Counter(claim for info in self.node_info_list for claim in info.pvc_ref_counts)

    # Views and checkpoints

    def to_view(self, cached: dict[str, int]) -> SnapshotView:
        """The snapshot as a view shows it; `cached` is the cache's generation of each NodeInfo."""
        return SnapshotView(
            generation=self.generation,
            node_info_list=_names(self.node_info_list),
            node_generations={name: info.generation for name, info in self.node_info_map.items()},
            have_pods_with_affinity=_names(self.have_pods_with_affinity_node_info_list),
            have_pods_with_required_anti_affinity=_names(self.have_pods_with_required_anti_affinity_node_info_list),
            used_pvc_set=sorted(self.used_pvc_set),
            stale={
                name: node_item(self._without_assumed_pods(info))
                for name, info in self.node_info_map.items()
                if cached.get(name) != info.generation
            },
            assumed_pods={pod.key: pod.pod.spec.node_name for pod in self.assumed_pods.values()},
            pod_groups={group: state.to_view() for group, state in sorted(self.pod_groups.items())},
        )

    def _without_assumed_pods(self, info: NodeInfo) -> NodeInfo:
        pods = [pod for pod in self.assumed_pods.values() if pod.pod.spec.node_name == info.name]
        if not pods:
            return info
        copy = info.clone()
        copy.generations = Generations()
        for pod in reversed(pods):
            copy.remove_pod(pod)
        copy.generation = info.generation
        return copy

    def to_state(self, cached: Mapping[str, NodeInfo], table: ObjectTable) -> SnapshotState:
        """The state for a checkpoint; `cached` are the cache's NodeInfos by name."""
        with_assumed = {pod.pod.spec.node_name for pod in self.assumed_pods.values()}
        known = {
            name: info
            for name, info in self.node_info_map.items()
            if name in cached and cached[name].generation == info.generation and name not in with_assumed
        }
        return SnapshotState(
            generation=self.generation,
            nodes=list(self.node_info_map),
            stale=[node_info_state(info, table) for name, info in self.node_info_map.items() if name not in known],
            node_info_list=_names(self.node_info_list),
            have_pods_with_affinity=_names(self.have_pods_with_affinity_node_info_list),
            have_pods_with_required_anti_affinity=_names(self.have_pods_with_required_anti_affinity_node_info_list),
            used_pvc_set=sorted(self.used_pvc_set),
            image_nodes={
                name: [image.num_nodes for image in info.image_states.values()]
                for name, info in known.items()
                if isinstance(info.image_states, SharedImages) and info.image_states != _present_images(cached[name])
            },
            assumed_pods=[table.pod_info_ref(pod) for pod in self.assumed_pods.values()],
            pod_groups=records_of(self.pod_groups, table),
            placement=None if self.placement is None else sorted(self.placement),
        )

    @classmethod
    def from_state(cls, state: SnapshotState, cached: dict[str, NodeInfo], table: ObjectTable, generations: Generations) -> Snapshot:
        """The snapshot of a state and of the cache's NodeInfos by name."""
        snapshot = cls()
        snapshot.generation = state.generation
        stale = {own.name: node_info_of(own, table, generations) for own in state.stale}
        infos = snapshot.node_info_map = {name: stale.get(name) or cached[name].clone() for name in state.nodes}
        for name, counts in state.image_nodes.items():
            images = infos[name].image_states.items()
            infos[name].image_states = SharedImages(
                {image: ImageStateSummary(states.size, count) for (image, states), count in zip(images, counts, strict=True)}
            )
        snapshot.node_info_list = [infos[name] for name in state.node_info_list]
        snapshot.have_pods_with_affinity_node_info_list = [infos[name] for name in state.have_pods_with_affinity]
        snapshot.have_pods_with_required_anti_affinity_node_info_list = [
            infos[name] for name in state.have_pods_with_required_anti_affinity
        ]
        snapshot.columns.reorder(snapshot.node_info_list)
        snapshot._count_claims()
        snapshot.assumed_pods = {pod.uid: pod for pod in map(table.pod_info, state.assumed_pods)}
        snapshot.pod_groups = groups_of(state.pod_groups, table)
        snapshot.placement = None if state.placement is None else frozenset(state.placement)
        return snapshot


def _present_images(info: NodeInfo) -> Mapping[str, ImageStateSummary]:
    images = info.image_states
    return images.current() if isinstance(images, SharedImages) else images


def _names(infos: list[NodeInfo]) -> list[str]:
    return [info.name for info in infos]
