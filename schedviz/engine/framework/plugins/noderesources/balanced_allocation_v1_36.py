"""NodeResourcesBalancedAllocation of v1.36: prefers nodes whose balance the pod improves.

Upstream: framework/plugins/noderesources/balanced_allocation.go balancedResourceScorer
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedviz.engine.config.plugin_args import NodeResourcesBalancedAllocationArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, Scores
from schedviz.engine.framework.plugins.noderesources.balanced_allocation import PRE_SCORE_STATE_KEY, BalancedAllocation, balance
from schedviz.engine.framework.plugins.noderesources.fit_v1_36 import sign_requests
from schedviz.engine.framework.plugins.noderesources.resource_allocation import (
    Allocation,
    PodRequestsState,
    ResourceScorer,
    pod_requests,
    with_devices,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status
from schedviz.engine.framework.types import PodInfo

_HALF = MAX_NODE_SCORE // 2


class BalancedAllocationV136(BalancedAllocation):
    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._handle = handle
        self._scorer = ResourceScorer(_improvement, args.resources, use_requested=True)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        """Skip for a pod that requests none of the resources."""
        requests = self._requests(pod, rows)
        if requests is None:
            return SKIP
        state.write(PRE_SCORE_STATE_KEY, requests)
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        requests: PodRequestsState | None
        try:
            requests = state.read(PRE_SCORE_STATE_KEY)
        except NotFoundError:  # PreScore is disabled.
            requests = self._requests(pod, rows)
            if requests is None:
                return np.zeros(len(rows), np.int64)
        return self._scorer.score(rows, requests.requests, requests.devices)

    def _requests(self, pod: PodInfo, rows: Rows) -> PodRequestsState | None:
        """None if the pod requests none of the resources."""
        requests = pod_requests(pod, self._resources, use_requested=True)
        return with_devices(requests, self._handle, self._resources, rows) if any(requests.requests) else None

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        return sign_requests(pod, self._handle)


def _improvement(counted: Sequence[Allocation], rows: int) -> Scores:
    """50 (worse) to 100 (better), 75 if the pod changes nothing."""
    without = [
        Allocation(allocation.weight, allocation.allocatable, allocation.requested - np.int64(allocation.request)) for allocation in counted
    ]
    difference = balance(counted, rows) - balance(without, rows)
    return _HALF + (_HALF + difference) // 2
