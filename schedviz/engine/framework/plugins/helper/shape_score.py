"""A piecewise linear function, given by points. Upstream: framework/plugins/helper/shape_score.go"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.interface import Scores

#: (utilization, score), in order of utilization.
ShapePoint = tuple[int, int]


def broken_linear(shape: Sequence[ShapePoint], utilization: npt.NDArray[np.int64]) -> Scores:
    """The function's values, rounded towards 0 like Go's integer division; constant before the first point and after the last."""
    table = np.array([_value(shape, point) for point in range(101)], np.int64)
    return table[np.clip(utilization, 0, 100)]


def _value(shape: Sequence[ShapePoint], point: int) -> int:
    for index, (utilization, score) in enumerate(shape):
        if point <= utilization:
            if index == 0:
                return score
            before, score_before = shape[index - 1]
            rise = (score - score_before) * (point - before)
            width = utilization - before
            return score_before + (rise // width if rise >= 0 else -(-rise // width))
    return shape[-1][1]
