"""The scoring strategies of NodeResourcesFit: one function each, for all rows at once.

Upstream: framework/plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio}.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from schedviz.engine.config.plugin_args import ScoringStrategy
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Scores
from schedviz.engine.framework.plugins.helper.shape_score import ShapePoint, broken_linear
from schedviz.engine.framework.plugins.noderesources.resource_allocation import Allocation, Amounts

Strategy = Callable[[Sequence[Allocation], int], Scores]
#: (requested, capacity, which is not 0) -> score
ResourceScore = Callable[[Amounts, Amounts], Scores]

#: Shapes use scores up to 10. Upstream: config.MaxCustomPriorityScore
_SHAPE_SCALE = MAX_NODE_SCORE // 10


def strategy_of(strategy: ScoringStrategy) -> Strategy:
    """The function of a strategy. Raises `ValueError` for an unknown one."""
    match strategy.type:
        case "LeastAllocated":
            return lambda counted, rows: _weighted_mean(_least_requested, counted, rows)
        case "MostAllocated":
            return lambda counted, rows: _weighted_mean(_most_requested, counted, rows)
        case "RequestedToCapacityRatio":
            points = strategy.requested_to_capacity_ratio.shape if strategy.requested_to_capacity_ratio is not None else ()
            shape = [(point.utilization, point.score * _SHAPE_SCALE) for point in points]
            return lambda counted, rows: _requested_to_capacity_ratio(shape, counted, rows)
        case _:
            raise ValueError(f"scoring strategy {strategy.type} is not supported")


def _least_requested(requested: Amounts, capacity: Amounts) -> Scores:
    """Upstream: leastRequestedScore"""
    return np.where(requested > capacity, 0, (capacity - requested) * MAX_NODE_SCORE // capacity)


def _most_requested(requested: Amounts, capacity: Amounts) -> Scores:
    """Upstream: mostRequestedScore"""
    return np.minimum(requested, capacity) * MAX_NODE_SCORE // capacity


def _weighted_mean(score: ResourceScore, counted: Sequence[Allocation], rows: int) -> Scores:
    """The mean of the resources that a node has, rounded down. Upstream: leastResourceScorer, mostResourceScorer"""
    total = np.zeros(rows, np.int64)
    weights = np.zeros(rows, np.int64)
    if counted and all(bool(allocation.allocatable.all()) for allocation in counted):
        # Every node has every resource, the usual case: no masks.
        for allocation in counted:
            scores = score(allocation.requested, allocation.allocatable)
            total += scores if allocation.weight == 1 else scores * allocation.weight
        return total // sum(allocation.weight for allocation in counted)
    for allocation in counted:
        has, capacity = _capacity(allocation)
        scores = score(allocation.requested, capacity)
        total += np.where(has, scores * allocation.weight, 0)
        weights += has * np.int64(allocation.weight)
    return np.where(weights > 0, total // np.maximum(weights, 1), 0)


def _requested_to_capacity_ratio(shape: Sequence[ShapePoint], counted: Sequence[Allocation], rows: int) -> Scores:
    """The mean of the scores above 0, rounded half up. Upstream: buildRequestedToCapacityRatioScorerFunction"""
    total = np.zeros(rows, np.int64)
    weights = np.zeros(rows, np.int64)
    for allocation in counted:
        has, capacity = _capacity(allocation)
        utilization = np.where(allocation.requested > capacity, 100, allocation.requested * 100 // capacity)
        scores = broken_linear(shape, utilization)
        counts = has & (scores > 0)
        total += np.where(counts, scores * allocation.weight, 0)
        weights += counts * np.int64(allocation.weight)
    # math.Round rounds halves away from zero; scores are not negative.
    return np.floor(total / np.maximum(weights, 1) + 0.5).astype(np.int64)


def _capacity(allocation: Allocation) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.bool_]], Amounts]:
    """The nodes that have the resource, and how much of it (1 where there is none, to avoid dividing by 0)."""
    has = allocation.allocatable != 0
    return has, np.where(has, allocation.allocatable, 1)
