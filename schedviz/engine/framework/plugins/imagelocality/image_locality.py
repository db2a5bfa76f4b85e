"""ImageLocality: prefers nodes that already have the pod's images. Upstream: framework/plugins/imagelocality/image_locality.go"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import ImageStateSummary, NodeInfo, PodInfo
from schedviz.engine.framework.uniform import uniform

_MB: Final = 1024 * 1024
MIN_THRESHOLD: Final = 23 * _MB
MAX_CONTAINER_THRESHOLD: Final = 1000 * _MB

_ABSENT: Final = ImageStateSummary(0, 0)


class ImageLocality:
    name = names.IMAGE_LOCALITY

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores:  # noqa: ARG002 - the extension point's shape
        """The sizes of the pod's images on each node, each scaled by the share of nodes that have it, between two thresholds."""
        if not rows.any_node((self.name, "any"), lambda info: bool(info.image_states), np.bool_):
            return uniform(len(rows), 0)
        sums = np.zeros(len(rows), np.int64)
        total_nodes = len(self._handle.snapshot.node_info_list)
        for container in pod.pod.spec.containers:
            sums += scaled_sizes(rows, normalized_image_name(container.image), total_nodes)
        return scores_of(sums, len(pod.pod.spec.containers))


def scaled_sizes(rows: Rows, image: str, total_nodes: int, *, by_node: bool = True) -> Scores:
    """Upstream: scaledImageScore. In floats, as there: sizes above 2**53 lose precision in the same way.

    `by_node`: the number of nodes changes only with the Node object (v1.27.1), otherwise with the NodeInfo.
    """

    def size(node_info: NodeInfo) -> int:
        return node_info.image_states.get(image, _ABSENT).size

    def num_nodes(node_info: NodeInfo) -> int:
        return node_info.image_states.get(image, _ABSENT).num_nodes

    column = rows.node_column if by_node else rows.info_column
    sizes = rows.node_column((names.IMAGE_LOCALITY, "size", image), size, np.int64)
    spread = column((names.IMAGE_LOCALITY, "nodes", image), num_nodes, np.int64) / float(total_nodes)
    return (sizes.astype(np.float64) * spread).astype(np.int64)


def scores_of(sums: Scores, num_containers: int) -> Scores:
    """The scores of sums of scaled sizes. Upstream: calculatePriority"""
    max_threshold = MAX_CONTAINER_THRESHOLD * num_containers
    # As upstream compares: a sum below the minimum becomes the minimum, even if the maximum is lower.
    clamped = np.where(sums < MIN_THRESHOLD, MIN_THRESHOLD, np.minimum(sums, max_threshold))
    return MAX_NODE_SCORE * (clamped - MIN_THRESHOLD) // (max_threshold - MIN_THRESHOLD)


def normalized_image_name(name: str) -> str:
    """The name, with `:latest` if it has no tag. Upstream: normalizedImageName"""
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name
