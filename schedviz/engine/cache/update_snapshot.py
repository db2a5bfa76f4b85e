"""UpdateSnapshot: updates a snapshot from the cache, at the cost of what changed since the last update.

Upstream: internal/cache/cache.go UpdateSnapshot
"""

from __future__ import annotations

import msgspec

from schedviz.engine.cache.node_info_list import NodeInfoList
from schedviz.engine.cache.node_tree import NodeTree
from schedviz.engine.cache.snapshot import ListChanges, Snapshot, SnapshotUpdate
from schedviz.engine.framework.types import NodeInfo


class _Copied:
    """The result of the walk from the head."""

    __slots__ = ("changes", "cloned", "joined", "visited")

    def __init__(self) -> None:
        self.visited: list[str] = []
        self.cloned: list[str] = []
        #: NodeInfos that are new to the snapshot.
        self.joined: list[NodeInfo] = []
        #: Changes to the lists by the other NodeInfos.
        self.changes = ListChanges()


def update_snapshot(snapshot: Snapshot, nodes: NodeInfoList, node_tree: NodeTree) -> tuple[SnapshotUpdate, bool]:
    """Copy newer NodeInfos, remove deleted ones, update the lists. Returns the result, and whether all lists were rebuilt."""
    copied = _copy_newer(snapshot, nodes)
    if nodes.head is not None:
        snapshot.generation = nodes.head.info.generation
    removed = _remove_deleted(snapshot, nodes, node_tree)
    nodes_came_or_went = bool(copied.joined or removed or len(snapshot.node_info_map) > node_tree.num_nodes)
    changes, joined = copied.changes, copied.joined
    update = SnapshotUpdate(
        visited=copied.visited,
        cloned=copied.cloned,
        removed=removed,
        update_all_lists=nodes_came_or_went,
        update_nodes_have_pods_with_affinity=bool(changes.affinity) or any(info.pods_with_affinity for info in joined),
        update_nodes_have_pods_with_required_anti_affinity=(
            bool(changes.anti_affinity) or any(info.pods_with_required_anti_affinity for info in joined)
        ),
        update_used_pvc_set=bool(changes.claims) or any(info.pvc_ref_counts for info in joined),
    )
    if nodes_came_or_went:
        snapshot.rebuild(node_tree.list())
    else:
        snapshot.update_lists(changes)
    if len(snapshot.node_info_list) == node_tree.num_nodes:
        return update, nodes_came_or_went
    update = msgspec.structs.replace(update, error=_inconsistency(snapshot, nodes, node_tree))
    snapshot.rebuild(node_tree.list())
    return update, True


def _copy_newer(snapshot: Snapshot, nodes: NodeInfoList) -> _Copied:
    """Walk from the head to the first item that the snapshot already has: no later item is newer."""
    copied = _Copied()
    item = nodes.head
    while item is not None and item.info.generation > snapshot.generation:
        info, item = item.info, item.next
        copied.visited.append(info.name)
        if info.node is None:
            continue
        copied.cloned.append(info.name)
        existing = snapshot.node_info_map.get(info.name)
        if existing is None:
            new = snapshot.node_info_map[info.name] = info.clone()
            copied.joined.append(new)
            continue
        node_changed = existing.node is not info.node
        copied.changes.overwrite(existing, info)
        snapshot.columns.mark(info.name, node_changed=node_changed)
    return copied


def _remove_deleted(snapshot: Snapshot, nodes: NodeInfoList, node_tree: NodeTree) -> list[str]:
    """Upstream: cache.go removeDeletedNodesFromSnapshot"""
    surplus = len(snapshot.node_info_map) - node_tree.num_nodes
    if surplus <= 0:
        return []
    deleted = [name for name in snapshot.node_info_map if (info := nodes.get(name)) is None or info.node is None]
    for name in deleted[:surplus]:
        del snapshot.node_info_map[name]
    return deleted[:surplus]


def _inconsistency(snapshot: Snapshot, nodes: NodeInfoList, node_tree: NodeTree) -> str:
    return (
        f"snapshot state is not consistent, length of NodeInfoList={len(snapshot.node_info_list)} not equal to length of nodes in "
        f"tree={node_tree.num_nodes} , length of NodeInfoMap={len(snapshot.node_info_map)}, "
        f"length of nodes in cache={len(nodes)}, trying to recover"
    )
