"""Inputs of resource scores: each node's allocatable resources, and what would be requested with the pod.

Upstream: framework/plugins/noderesources/resource_allocation.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.config.plugin_args import ResourceSpec
from schedviz.engine.framework.formulas import Amount, Formula
from schedviz.engine.framework.interface import Scores
from schedviz.engine.framework.resource import is_scalar_resource_name
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo

Amounts = npt.NDArray[np.int64]


class PodRequestsState(msgspec.Struct, frozen=True):
    """The pod's request of each scored resource, in the order of the plugin's arguments."""

    requests: tuple[int, ...]

    def clone(self) -> PodRequestsState:
        return self


class Allocation(msgspec.Struct, frozen=True):
    """One resource over many nodes. If a node has none of it, `allocatable` is 0 and the resource does not count there."""

    weight: int
    allocatable: Amounts
    #: With the pod's own request.
    requested: Amounts
    request: int = 0


def pod_request(pod: PodInfo, resource: str, *, use_requested: bool) -> int:
    """The pod's request of a resource. Without `use_requested`, a container without a request for cpu or memory counts as the default.

    Upstream: calculatePodResourceRequest
    """
    requests = pod.requests if use_requested else pod.container_requests
    match resource:
        case "cpu":
            return requests.resource.milli_cpu if use_requested else requests.non_zero_milli_cpu
        case "memory":
            return requests.resource.memory if use_requested else requests.non_zero_memory
        case "ephemeral-storage":
            return requests.resource.ephemeral_storage
        case _:
            return requests.resource.scalar.get(resource, 0)


def pod_requests(pod: PodInfo, resources: Sequence[ResourceSpec], *, use_requested: bool) -> PodRequestsState:
    """Upstream: calculatePodResourceRequestList"""
    return PodRequestsState(tuple(pod_request(pod, resource.name, use_requested=use_requested) for resource in resources))


#: Turns allocations over this many rows into scores.
ScoreOfAllocations = Callable[[Sequence[Allocation], int], Scores]


class ResourceScorer:
    """The resource scores of one plugin, kept for every request it has scored: see `formulas`.

    Scalar resources that the pod does not request do not count. Upstream: resourceAllocationScorer.score,
    calculateResourceAllocatableRequest
    """

    def __init__(self, score: ScoreOfAllocations, resources: Sequence[ResourceSpec], *, use_requested: bool) -> None:
        self._score = score
        self._resources = resources
        self._use_requested = use_requested
        #: Building the formula of a request takes longer than reading its column.
        self._formula = lru_cache(maxsize=1024)(self._formula_of)

    def score(self, rows: Rows, requests: tuple[int, ...]) -> Scores:
        """The scores for a pod with these requests, in the order of the resources."""
        formula = self._formula(requests)
        return self._score((), len(rows)) if formula is None else rows.formula(formula)

    def _formula_of(self, requests: tuple[int, ...]) -> Formula | None:
        counted = [
            (resource, request)
            for resource, request in zip(self._resources, requests, strict=True)
            if request or not is_scalar_resource_name(resource.name)
        ]
        if not counted:
            return None
        amounts: list[Amount] = []
        for resource, _ in counted:
            non_zero = not self._use_requested and resource.name in ("cpu", "memory")
            amounts += (Amount("allocatable", resource.name), Amount("non-zero-requested" if non_zero else "requested", resource.name))

        def compute(*columns: Amounts) -> Scores:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            allocations = [
                Allocation(resource.weight, allocatable, requested + np.int64(request), request)
                for (resource, request), (allocatable, requested) in zip(counted, pairs, strict=True)
            ]
            return self._score(allocations, len(columns[0]))

        return Formula((self, requests), amounts, compute)
