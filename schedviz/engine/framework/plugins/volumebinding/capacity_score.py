"""Scores nodes by the storage that is left on them (feature gate StorageCapacityScoring).

Upstream: framework/plugins/volumebinding/scorer.go, volume_binding.go Score
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from schedviz.engine.config.plugin_args import UtilizationShapePoint
from schedviz.engine.framework.interface import MAX_NODE_SCORE
from schedviz.engine.framework.listers import ObjectLister
from schedviz.engine.framework.plugins.helper.shape_score import ShapePoint, broken_linear
from schedviz.engine.framework.plugins.volumebinding.provisioning import node_capacity
from schedviz.engine.framework.plugins.volumebinding.state import PodVolumes
from schedviz.kube.claims import class_of_claim, requested_storage, storage_capacity
from schedviz.kube.core import Node

#: Shapes use scores up to 10. Upstream: config.MaxCustomPriorityScore
_SHAPE_SCALE: Final = MAX_NODE_SCORE // 10
#: The emptier the better. Upstream: SetDefaults_VolumeBindingArgs
_DEFAULT_SHAPE: Final = ((0, MAX_NODE_SCORE), (100, 0))


def shape_of(points: Sequence[UtilizationShapePoint] | None) -> Sequence[ShapePoint]:
    """The configured function from utilization to score."""
    return [(point.utilization, point.score * _SHAPE_SCALE) for point in points] if points else _DEFAULT_SHAPE


def capacity_score(volumes: PodVolumes, node: Node | None, objects: ObjectLister, shape: Sequence[ShapePoint]) -> int:
    """The mean over storage classes, of matched volumes, or of volumes to provision if none is matched."""
    #: Class -> requested, capacity.
    classes: dict[str, tuple[int, int]] = {}
    if volumes.static_bindings:
        for binding in volumes.static_bindings:
            name = binding.volume.spec.storage_class_name
            requested, capacity = classes.get(name, (0, 0))
            classes[name] = requested + requested_storage(binding.claim).value, capacity + storage_capacity(binding.volume).value
    else:
        for claim in volumes.dynamic_provisions or ():
            published = None if node is None else node_capacity(claim, node, objects)
            if published is not None:
                name = class_of_claim(claim)
                total = 0 if published.capacity is None else published.capacity.value
                classes[name] = classes.get(name, (0, 0))[0] + requested_storage(claim).value, total
    if not classes:
        return 0
    utilizations = [
        100 if not capacity or requested > capacity else requested * 100 // capacity for requested, capacity in classes.values()
    ]
    scores = broken_linear(shape, np.array(utilizations, np.int64))
    # math.Round rounds halves away from zero; scores are not negative.
    return int(int(scores.sum()) / len(classes) + 0.5)
