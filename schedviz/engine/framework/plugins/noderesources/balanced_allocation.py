"""NodeResourcesBalancedAllocation: prefers nodes whose resources would be used in equal fractions.

Floats are added in upstream's order, so that scores are equal after truncation. Upstream:
framework/plugins/noderesources/balanced_allocation.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from schedviz.engine.config.plugin_args import NodeResourcesBalancedAllocationArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.noderesources.resource_allocation import (
    Allocation,
    PodRequestsState,
    ResourceScorer,
    pod_requests,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.types import PodInfo

Floats = npt.NDArray[np.float64]

PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.NODE_RESOURCES_BALANCED_ALLOCATION}", PodRequestsState)


class BalancedAllocation:
    name = names.NODE_RESOURCES_BALANCED_ALLOCATION

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, _handle: Handle) -> None:
        self._resources = args.resources
        self._scorer = ResourceScorer(balance, args.resources, use_requested=True)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:  # noqa: ARG002 - the extension point's shape
        state.write(PRE_SCORE_STATE_KEY, pod_requests(pod, self._resources, use_requested=True))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        try:
            requests = state.read(PRE_SCORE_STATE_KEY).requests
        except NotFoundError:  # PreScore is disabled.
            requests = pod_requests(pod, self._resources, use_requested=True).requests
        return self._scorer.score(rows, requests)


def balance(counted: Sequence[Allocation], rows: int) -> Scores:
    """100 if the resources of a node are used in equal fractions, less the more these differ."""
    return ((1 - _deviation(counted, rows)) * float(MAX_NODE_SCORE)).astype(np.int64)


def _deviation(counted: Sequence[Allocation], rows: int) -> Floats:
    """The standard deviation of the used fractions of the resources that each node has. Upstream: balancedResourceScorer"""
    if len(counted) == 2 and all(bool(allocation.allocatable.all()) for allocation in counted):
        # Every node has both resources, the usual case: no masks.
        first, second = (np.minimum(allocation.requested / allocation.allocatable, 1.0) for allocation in counted)
        return np.abs((first - second) / 2)
    has = [allocation.allocatable != 0 for allocation in counted]
    fractions = [_fraction(allocation, present) for allocation, present in zip(counted, has, strict=True)]
    number = np.zeros(rows, np.int64)
    total = np.zeros(rows, np.float64)
    for present, fraction in zip(has, fractions, strict=True):
        number += present
        total += fraction
    mean = total / np.maximum(number, 1)
    squares = np.zeros(rows, np.float64)
    for present, fraction in zip(has, fractions, strict=True):
        squares += np.where(present, (fraction - mean) * (fraction - mean), 0.0)
    several = np.sqrt(squares / np.maximum(number, 1))
    return np.where(number > 2, several, np.where(number == 2, _half_difference(has, fractions, rows), 0.0))


def _half_difference(has: Sequence[npt.NDArray[np.bool_]], fractions: Sequence[Floats], rows: int) -> Floats:
    """Half of the difference between each node's two fractions: upstream's shortcut for two resources."""
    difference = np.zeros(rows, np.float64)
    seen = np.zeros(rows, np.int64)
    for present, fraction in zip(has, fractions, strict=True):
        difference = np.where(present & (seen == 0), fraction, np.where(present & (seen == 1), difference - fraction, difference))
        seen += present
    return np.abs(difference / 2)


def _fraction(allocation: Allocation, present: npt.NDArray[np.bool_]) -> Floats:
    """The used fraction, at most 1; 0 if the node has none of the resource."""
    capacity = np.where(present, allocation.allocatable, 1).astype(np.float64)
    fraction = np.minimum(allocation.requested.astype(np.float64) / capacity, 1.0)
    return np.where(present, fraction, 0.0)
