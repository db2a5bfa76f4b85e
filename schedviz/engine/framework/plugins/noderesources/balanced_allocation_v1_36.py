"""NodeResourcesBalancedAllocation of v1.36: prefers nodes whose balance the pod improves.

Upstream: framework/plugins/noderesources/balanced_allocation.go balancedResourceScorer
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedviz.engine.config.plugin_args import NodeResourcesBalancedAllocationArgs
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, Scores
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.noderesources.balanced_allocation import BalancedAllocation, balance
from schedviz.engine.framework.plugins.noderesources.fit import compute_pod_resource_request
from schedviz.engine.framework.plugins.noderesources.fit_v1_36 import signed_requests
from schedviz.engine.framework.plugins.noderesources.resource_allocation import Allocation, ResourceScorer, pod_requests
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, Status
from schedviz.engine.framework.types import PodInfo

_HALF = MAX_NODE_SCORE // 2


class BalancedAllocationV136(BalancedAllocation):
    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._scorer = ResourceScorer(_improvement, args.resources, use_requested=True)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        """Skip for a pod that requests none of the resources."""
        if not any(pod_requests(pod, self._resources, use_requested=True).requests):
            return SKIP
        return super().pre_score(state, pod, rows)

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        if not any(pod_requests(pod, self._resources, use_requested=True).requests):
            return np.zeros(len(rows), np.int64)
        return super().score(state, pod, rows)

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.RESOURCES, signed_requests(compute_pod_resource_request(pod))),)


def _improvement(counted: Sequence[Allocation], rows: int) -> Scores:
    """50 (worse) to 100 (better), 75 if the pod changes nothing."""
    without = [
        Allocation(allocation.weight, allocation.allocatable, allocation.requested - np.int64(allocation.request)) for allocation in counted
    ]
    difference = balance(counted, rows) - balance(without, rows)
    return _HALF + (_HALF + difference) // 2
