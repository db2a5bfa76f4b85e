"""The snapshot: one scheduling cycle's copy of the cache. Upstream: internal/cache/snapshot.go"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from schedviz.engine.cache.node_item import NodeInfoState, node_info_of, node_info_state, node_item
from schedviz.engine.framework.columns import Columns, IntArray
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import Generations, ImageStateSummary, NodeInfo, SharedImages
from schedviz.trace.view import SnapshotView


class SnapshotUpdate(msgspec.Struct, frozen=True):
    """The result of UpdateSnapshot; the flags are those before the lists were rebuilt."""

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


class Snapshot:
    """Copies of the NodeInfos that have a node, and lists of them. Only `Cache.update_snapshot` changes it.

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

    def rebuild(self, order: list[str]) -> None:
        """Rebuild the lists over nodes in this order. Upstream: cache.go updateNodeInfoSnapshotList"""
        self.node_info_list = [info for name in order if (info := self.node_info_map.get(name)) is not None]
        self.columns.reorder(self.node_info_list)
        self.have_pods_with_affinity_node_info_list = [info for info in self.node_info_list if info.pods_with_affinity]
        self.have_pods_with_required_anti_affinity_node_info_list = [
            info for info in self.node_info_list if info.pods_with_required_anti_affinity
        ]
        self._count_claims()

    def refile(self, changes: ListChanges) -> None:
        """Update the lists for some nodes, if no node was added or removed.

        Upstream rebuilds them over all nodes. At 5,000 nodes that took 1 ms of every cycle in which a node got its first pod with affinity;
        this takes a few microseconds.
        """
        for info in changes.affinity:
            self._refile(self.have_pods_with_affinity_node_info_list, info, wanted=bool(info.pods_with_affinity))
        for info in changes.anti_affinity:
            wanted = bool(info.pods_with_required_anti_affinity)
            self._refile(self.have_pods_with_required_anti_affinity_node_info_list, info, wanted=wanted)
        for info, claims, delta in changes.claims:
            for claim in claims if info.name in self.row_of else ():
                self._claims[claim] += delta
                if not self._claims[claim]:
                    del self._claims[claim]

    def _refile(self, nodes: list[NodeInfo], info: NodeInfo, *, wanted: bool) -> None:
        """Insert a node into a list in row order, or remove it."""
        row_of = self.row_of
        if info.name not in row_of:
            return
        place = bisect_left(nodes, row_of[info.name], key=lambda other: row_of[other.name])
        is_there = place < len(nodes) and nodes[place] is info
        if wanted and not is_there:
            nodes.insert(place, info)
        elif is_there and not wanted:
            del nodes[place]

    def _count_claims(self) -> None:
        self._claims = Counter(claim for info in self.node_info_list for claim in info.pvc_ref_counts)

    def to_view(self, cached: dict[str, int]) -> SnapshotView:
        """The snapshot as a view shows it; `cached` is the cache's generation of each NodeInfo."""
        return SnapshotView(
            generation=self.generation,
            node_info_list=_names(self.node_info_list),
            node_generations={name: info.generation for name, info in self.node_info_map.items()},
            have_pods_with_affinity=_names(self.have_pods_with_affinity_node_info_list),
            have_pods_with_required_anti_affinity=_names(self.have_pods_with_required_anti_affinity_node_info_list),
            used_pvc_set=sorted(self.used_pvc_set),
            stale={name: node_item(info) for name, info in self.node_info_map.items() if cached.get(name) != info.generation},
        )

    def to_state(self, cached: Mapping[str, NodeInfo], table: ObjectTable) -> SnapshotState:
        """The state for a checkpoint; `cached` are the cache's NodeInfos by name."""
        known = {name: info for name, info in self.node_info_map.items() if name in cached and cached[name].generation == info.generation}
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
        return snapshot


def _present_images(info: NodeInfo) -> Mapping[str, ImageStateSummary]:
    images = info.image_states
    return images.current() if isinstance(images, SharedImages) else images


def _names(infos: list[NodeInfo]) -> list[str]:
    return [info.name for info in infos]
