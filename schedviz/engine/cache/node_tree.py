"""Nodes by zone, which gives the snapshot its order. Upstream: internal/cache/node_tree.go"""

from __future__ import annotations

from schedviz.kube.core import Node
from schedviz.kube.zones import zone_key
from schedviz.trace.view import NodeTree as NodeTreeView


class NodeTree:
    """Names of nodes in each zone. Upstream: internal/cache/node_tree.go nodeTree"""

    def __init__(self) -> None:
        #: Zones in the order in which they first got a node.
        self.zones: list[str] = []
        #: Zone -> nodes in the order in which they were added. No zone is empty.
        self.tree: dict[str, list[str]] = {}
        self.num_nodes = 0

    def add_node(self, node: Node) -> str | None:
        """Append the node to its zone. Returns the zone, or None if the node was in it. Upstream: node_tree.go addNode"""
        zone = zone_key(node)
        names = self.tree.get(zone)
        if names is None:
            self.zones.append(zone)
            self.tree[zone] = [node.name]
        elif node.name in names:
            return None
        else:
            names.append(node.name)
        self.num_nodes += 1
        return zone

    def remove_node(self, node: Node) -> str | None:
        """Remove the node from its zone. Returns the zone, or None if the node was not in it. Upstream: node_tree.go removeNode"""
        zone = zone_key(node)
        names = self.tree.get(zone, [])
        if node.name not in names:
            return None
        names.remove(node.name)
        if not names:
            del self.tree[zone]
            self.zones.remove(zone)
        self.num_nodes -= 1
        return zone

    def update_node(self, old: Node | None, new: Node) -> tuple[str | None, str | None]:
        """Move the node if its zone changed; if not, it is not added either. Returns the zones that it left and joined.

        Upstream: node_tree.go updateNode
        """
        if (zone_key(old) if old is not None else "") == zone_key(new):
            return None, None
        left_zone = self.remove_node(old) if old is not None else None
        return left_zone, self.add_node(new)

    def list(self) -> list[str]:
        """All nodes: the first of each zone, then the second of each, and so on. Upstream: node_tree.go list"""
        names: list[str] = []
        zones = [self.tree[zone] for zone in self.zones]
        for index in range(max(map(len, zones), default=0)):
            names += [zone[index] for zone in zones if index < len(zone)]
        return names

    def to_view(self) -> NodeTreeView:
        """The tree as a view shows it."""
        return NodeTreeView(
            num_nodes=self.num_nodes, zones=self.zones.copy(), tree={zone: names.copy() for zone, names in self.tree.items()}
        )

    def load(self, view: NodeTreeView) -> None:
        """Load the tree of a view."""
        self.num_nodes, self.zones = view.num_nodes, view.zones.copy()
        self.tree = {zone: names.copy() for zone, names in view.tree.items()}
