"""Images in the cache of v1.36, which keeps one number of nodes for each image; v1.27.1 had a copy of it in every NodeInfo.

Upstream: backend/cache/cache.go addNodeImageStates, framework/types.go ImageStateSummary.Snapshot
"""

from __future__ import annotations

from schedviz.engine.cache.image_states import ImageState, ImageStates
from schedviz.engine.framework.types import ImageStateSummary, NodeInfo, SharedImages
from schedviz.kube.core import Node
from schedviz.trace.events import ImageChange


class LiveImages(SharedImages):
    """The images of a node in the cache; their counts are those of the cache."""

    def __init__(self, images: dict[str, ImageStateSummary], states: dict[str, ImageState]) -> None:
        super().__init__({name: ImageStateSummary(image.size, 0) for name, image in images.items()})
        #: An image without nodes, which the cache has forgotten, is missing: only ghosts have such images.
        self._states = {name: states[name] for name in images if name in states}

    def current(self) -> SharedImages:
        """The images with the present counts."""
        states = self._states
        return SharedImages(
            {name: ImageStateSummary(image.size, len(states[name].nodes) if name in states else 0) for name, image in self.items()}
        )


class ImageStatesV136(ImageStates):
    """All images on nodes, by name."""

    def replace_node(self, old: Node | None, new: Node) -> tuple[dict[str, ImageStateSummary], list[ImageChange]]:
        """Replace the images of a node's old version by those of the new one. Returns them and the changes."""
        images, changes = super().replace_node(old, new)
        return LiveImages(images, self._states) if images else images, changes

    def share_with(self, info: NodeInfo) -> None:
        """Make the counts of a restored NodeInfo those of the cache."""
        if info.image_states:
            info.image_states = LiveImages(dict(info.image_states), self._states)
