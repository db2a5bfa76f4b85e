"""ImageLocality of v1.36: init containers and image volumes count too. Upstream: framework/plugins/imagelocality/image_locality.go"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Scores
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.imagelocality.image_locality import (
    ImageLocality,
    normalized_image_name,
    scaled_sizes,
    scores_of,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.uniform import uniform


class ImageLocalityV136(ImageLocality):
    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores:  # noqa: ARG002 - the extension point's shape
        """The sizes of the pod's images on each node, each scaled by the share of nodes that have it, between two thresholds."""
        if not rows.any_node((self.name, "any"), lambda info: bool(info.image_states), np.bool_):
            return uniform(len(rows), 0)
        total_nodes = len(self._handle.snapshot.node_info_list)
        sums = np.zeros(len(rows), np.int64)
        for image in _images(pod):
            sums += scaled_sizes(rows, image, total_nodes, by_node=False)
        return scores_of(sums, len(pod.pod.spec.init_containers) + len(pod.pod.spec.containers))

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        spec = pod.pod.spec
        images = {normalized_image_name(container.image) for container in spec.all_containers}
        return ((signers.IMAGE_NAMES, sorted(images)),)


def _images(pod: PodInfo) -> list[str]:
    """Upstream: sumImageScores"""
    spec = pod.pod.spec
    images = [container.image for container in (*spec.init_containers, *spec.containers)]
    images += [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return [normalized_image_name(image) for image in images]
