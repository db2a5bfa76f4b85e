"""Which nodes have which images. Upstream: internal/cache/cache.go imageState"""

from __future__ import annotations

from schedviz.engine.cache.cache_state import ImageRecord, ImagesRecord
from schedviz.engine.framework.types import ImageStateSummary
from schedviz.kube.core import Node
from schedviz.trace.events import ImageChange
from schedviz.trace.view import CacheImage


class ImageState:
    """One image."""

    __slots__ = ("nodes", "size")

    def __init__(self, size: int, nodes: set[str]) -> None:
        #: Size in bytes, as reported by the first node that had it.
        self.size = size
        #: The nodes that have it; never empty.
        self.nodes = nodes


class ImageStates:
    """All images on nodes, by name. Upstream: cacheImpl.imageStates"""

    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}

    def replace_node(self, old: Node | None, new: Node) -> tuple[dict[str, ImageStateSummary], list[ImageChange]]:
        """Replace the images of a node's old version by those of the new one. Returns the summary and the changes.

        Upstream: internal/cache/cache.go removeNodeImageStates, addNodeImageStates
        """
        before = {name: state.size for name in _images(old) if (state := self._states.get(name)) and new.name in state.nodes}
        self._remove(old)
        summary: dict[str, ImageStateSummary] = {}
        changes: list[ImageChange] = []
        for name, size in _images(new).items():
            state = self._states.get(name)
            if state is None:
                state = self._states[name] = ImageState(size, {new.name})
            else:
                state.nodes.add(new.name)
            summary[name] = ImageStateSummary(state.size, len(state.nodes))
            if before.pop(name, None) != state.size:
                changes.append(ImageChange(image=name, size=state.size, on_node=True))
        changes += [ImageChange(image=name, size=size, on_node=False) for name, size in before.items()]
        return summary, changes

    def remove_node(self, node: Node) -> list[ImageChange]:
        """Remove a node's images. Returns the changes. Upstream: internal/cache/cache.go removeNodeImageStates"""
        changes = [
            ImageChange(image=name, size=state.size, on_node=False)
            for name in _images(node)
            if (state := self._states.get(name)) and node.name in state.nodes
        ]
        self._remove(node)
        return changes

    def to_view(self) -> dict[str, CacheImage]:
        """The images as a view shows them."""
        return {name: CacheImage(size=state.size, nodes=sorted(state.nodes)) for name, state in self._states.items()}

    def to_state(self) -> ImagesRecord:
        """The state for a checkpoint."""
        nodes = sorted(set().union(*(state.nodes for state in self._states.values())))
        index_of = {name: index for index, name in enumerate(nodes)}
        return ImagesRecord(
            nodes, [ImageRecord(name, state.size, sorted(map(index_of.__getitem__, state.nodes))) for name, state in self._states.items()]
        )

    def load(self, saved: ImagesRecord) -> None:
        """Load the state of `to_state`."""
        self._states = {image.name: ImageState(image.size, {saved.nodes[index] for index in image.nodes}) for image in saved.images}

    def _remove(self, node: Node | None) -> None:
        for name in _images(node):
            state = self._states.get(name)
            if state is not None:
                state.nodes.discard(node.name)  # type: ignore[union-attr]
                if not state.nodes:
                    del self._states[name]


def _images(node: Node | None) -> dict[str, int]:
    """A node's image names and sizes, in its order; of duplicate names the first counts."""
    images: dict[str, int] = {}
    for image in node.status.images if node is not None else ():
        for name in image.names:
            images.setdefault(name, image.size_bytes)
    return images
