"""The cache and the snapshot of a view, in a form in which the cost of an event depends on its changes, not on the cluster's size."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from schedviz.trace.events import (
    CacheNode,
    CachePod,
    ImageChange,
    NodeChange,
    PodGroupChanged,
    SnapshotPod,
    SnapshotUpdated,
    TreeChange,
)
from schedviz.trace.view import CacheImage, CacheView, NodeItem, NodeTree, PodGroupMembers, PodState, SnapshotView


class CacheFold:
    """A CacheView and a SnapshotView to which events are applied. Views that it returned never change."""

    def __init__(self, cache: CacheView, snapshot: SnapshotView) -> None:
        #: By name, head first.
        self._items: OrderedDict[str, NodeItem] = OrderedDict((item.name, item) for item in cache.list)
        self._assumed_pods = set(cache.assumed_pods)
        self._pod_states: dict[str, PodState] = dict(cache.pod_states)
        self._num_nodes = cache.node_tree.num_nodes
        self._zones = list(cache.node_tree.zones)
        self._tree = {zone: list(names) for zone, names in cache.node_tree.tree.items()}
        self._images: dict[str, CacheImage] = dict(cache.image_states)
        self._pod_groups: dict[str, PodGroupMembers] = dict(cache.pod_groups)
        self._snapshot = snapshot
        self._node_generations = dict(snapshot.node_generations)
        self._stale: dict[str, NodeItem] = dict(snapshot.stale)

    def cache_view(self) -> CacheView:
        """The cache's present view."""
        return CacheView(
            list=list(self._items.values()),
            assumed_pods=sorted(self._assumed_pods),
            pod_states=dict(self._pod_states),
            node_tree=NodeTree(
                num_nodes=self._num_nodes,
                zones=list(self._zones),
                tree={zone: list(names) for zone, names in self._tree.items()},
            ),
            image_states=dict(self._images),
            pod_groups=dict(self._pod_groups),
        )

    def snapshot_view(self) -> SnapshotView:
        """The snapshot's present view."""
        return replace(self._snapshot, node_generations=dict(self._node_generations), stale=dict(self._stale))

    def cache_pod(self, event: CachePod) -> None:
        """Apply a change of a pod in the cache."""
        for change in event.nodes:
            self._change(change)
        self._pod_states.pop(event.instead_of, None)
        self._assumed_pods.discard(event.uid)
        if event.state is None:
            self._pod_states.pop(event.uid, None)
            return
        self._pod_states[event.uid] = event.state
        if event.state.assumed:
            self._assumed_pods.add(event.uid)

    def cache_node(self, event: CacheNode) -> None:
        """Apply a change of a node in the cache."""
        for change in event.nodes:
            self._change(change)
        if event.tree is not None:
            self._move_in_tree(event.node, event.tree)
        for image in event.images:
            self._change_image(event.node, image)

    def snapshot_updated(self, event: SnapshotUpdated) -> None:
        """Apply an update of the snapshot."""
        for name in event.cloned:
            self._node_generations[name] = self._items[name].generation
            self._stale.pop(name, None)
        for name in event.removed:
            self._node_generations.pop(name, None)
            self._stale.pop(name, None)
        changes: dict[str, Any] = {
            "node_info_list": event.node_info_list,
            "have_pods_with_affinity": event.have_pods_with_affinity,
            "have_pods_with_required_anti_affinity": event.have_pods_with_required_anti_affinity,
            "used_pvc_set": event.used_pvc_set,
        }
        rebuilt = {member: names for member, names in changes.items() if names is not None}
        groups = _with_groups(self._snapshot.pod_groups, event.pod_groups) if event.pod_groups else self._snapshot.pod_groups
        self._snapshot = replace(self._snapshot, generation=event.generation, pod_groups=groups, **rebuilt)

    def pod_group_changed(self, event: PodGroupChanged) -> None:
        """Apply a change of a pod group in the cache."""
        self._pod_groups = _with_groups(self._pod_groups, {event.group: event.members})

    def snapshot_pod(self, event: SnapshotPod) -> None:
        """Apply the placement of a pod in the snapshot alone, or its end."""
        pods = {pod: node for pod, node in self._snapshot.assumed_pods.items() if pod != event.pod}
        if event.op == "assume":
            pods[event.pod] = event.node
        groups = _with_groups(self._snapshot.pod_groups, {event.group: event.members})
        self._snapshot = replace(self._snapshot, assumed_pods=pods, pod_groups=groups)

    def _change(self, change: NodeChange) -> None:
        name = change.node
        before = self._items.get(name)
        if before is not None and name in self._node_generations and name not in self._stale:
            # Up to now the snapshot's value equalled the cache's.
            self._stale[name] = before
        if change.dropped:
            self._items.pop(name, None)
            return
        self._items[name] = _changed(NodeItem(name=name) if before is None else before, change)
        self._items.move_to_end(name, last=False)

    def _move_in_tree(self, node: str, change: TreeChange) -> None:
        if change.left is not None:
            names = self._tree[change.left]
            names.remove(node)
            self._num_nodes -= 1
            if not names:
                del self._tree[change.left]
                self._zones.remove(change.left)
        if change.joined is not None:
            if change.joined not in self._tree:
                self._zones.append(change.joined)
            self._tree.setdefault(change.joined, []).append(node)
            self._num_nodes += 1

    def _change_image(self, node: str, change: ImageChange) -> None:
        image = self._images.get(change.image)
        nodes = [name for name in image.nodes if name != node] if image is not None else []
        if change.on_node:
            insort(nodes, node)
        if nodes:
            self._images[change.image] = CacheImage(size=change.size, nodes=nodes)
        else:
            self._images.pop(change.image, None)


#: Members that a NodeItem and a NodeChange have in the same form: the change has the new value, or None.
_SAME_MEMBERS = (
    "has_node",
    "unschedulable",
    "taints",
    "zone",
    "requested",
    "non_zero_requested",
    "allocatable",
    "used_ports",
    "image_states",
    "declared_features",
    "pvc_ref_counts",
    "pod_order",
    "pods_with_affinity",
    "pods_with_required_anti_affinity",
)


def _changed(item: NodeItem, change: NodeChange) -> NodeItem:
    """The item after a change; the previous item is not modified."""
    values: dict[str, Any] = {}
    if change.removed or change.added:
        pods = item.pod_order.copy()
        with_affinity = item.pods_with_affinity.copy()
        with_anti_affinity = item.pods_with_required_anti_affinity.copy()
        for key in change.removed:
            for pods_of_a_kind in (pods, with_affinity, with_anti_affinity):
                _swap_remove(pods_of_a_kind, key)
        for pod in change.added:
            pods.append(pod.pod)
            if pod.affinity:
                with_affinity.append(pod.pod)
            if pod.required_anti_affinity:
                with_anti_affinity.append(pod.pod)
        values.update(pod_order=pods, pods_with_affinity=with_affinity, pods_with_required_anti_affinity=with_anti_affinity)
    for member in _SAME_MEMBERS:
        value = getattr(change, member)
        if value is not None:
            values[member] = value
    return replace(item, generation=change.generation, **values)


def _swap_remove(keys: list[str], key: str) -> None:
    """Remove a key and move the last one to its position, as `NodeInfo.Pods` does."""
    if key in keys:
        index = keys.index(key)
        last = keys.pop()
        if index < len(keys):
            keys[index] = last


def _with_groups(groups: dict[str, PodGroupMembers], changes: Mapping[str, PodGroupMembers | None]) -> dict[str, PodGroupMembers]:
    """The groups with these changes, in order of name; None removes one."""
    after = {**groups, **changes}
    return {group: members for group, members in sorted(after.items()) if members is not None}
