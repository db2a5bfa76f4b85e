"""The doubly linked list of NodeInfos, the most recently changed first, so that updating a snapshot reads only the changed ones.

Upstream: internal/cache/cache.go nodeInfoListItem
"""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.engine.framework.types import NodeInfo


class NodeInfoListItem:
    """One list item: a NodeInfo and its neighbours."""

    __slots__ = ("info", "next", "prev")

    def __init__(self, info: NodeInfo) -> None:
        self.info = info
        #: The item that changed before this one.
        self.next: NodeInfoListItem | None = None
        #: The item that changed after this one.
        self.prev: NodeInfoListItem | None = None


class NodeInfoList:
    """The items by node name, linked in descending order of generation."""

    def __init__(self) -> None:
        self.items: dict[str, NodeInfoListItem] = {}
        #: The item that changed last. Upstream: cacheImpl.headNode
        self.head: NodeInfoListItem | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[NodeInfo]:
        """NodeInfos, head first."""
        item = self.head
        while item is not None:
            yield item.info
            item = item.next

    def get(self, name: str) -> NodeInfo | None:
        """The NodeInfo of a node."""
        item = self.items.get(name)
        return None if item is None else item.info

    def add(self, info: NodeInfo) -> None:
        """Add a NodeInfo. A `move_to_head` must follow, which links it."""
        self.items[info.name] = NodeInfoListItem(info)

    def move_to_head(self, name: str) -> None:
        """Move an item to the head. Upstream: internal/cache/cache.go moveNodeInfoToHead"""
        item = self.items[name]
        if item is self.head:
            return
        if item.prev is not None:
            item.prev.next = item.next
        if item.next is not None:
            item.next.prev = item.prev
        if self.head is not None:
            self.head.prev = item
        item.next = self.head
        item.prev = None
        self.head = item

    def remove(self, name: str) -> None:
        """Unlink and remove an item. Upstream: internal/cache/cache.go removeNodeInfoFromList"""
        item = self.items.pop(name)
        if item.prev is not None:
            item.prev.next = item.next
        if item.next is not None:
            item.next.prev = item.prev
        if item is self.head:
            self.head = item.next

    def load(self, infos: list[NodeInfo]) -> None:
        """Link these NodeInfos in this order, head first."""
        self.items, self.head = {}, None
        for info in reversed(infos):
            self.add(info)
            self.move_to_head(info.name)
