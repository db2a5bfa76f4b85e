"""What a score by resources looks at: how much of each resource nodes have, and how much would be requested with the pod.

Upstream: framework/plugins/noderesources/resource_allocation.go
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.config.plugin_args import ResourceSpec
from schedviz.engine.framework.resource import is_scalar_resource_name
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo

Amounts = npt.NDArray[np.int64]


class PodRequestsState(msgspec.Struct, frozen=True):
    """What the pod requests of each scored resource, in the order of the plugin's arguments."""

    requests: tuple[int, ...]

    def clone(self) -> PodRequestsState:
        return self


class Allocation(msgspec.Struct, frozen=True):
    """One resource over many nodes. Where a node has none, both are 0 and the resource does not count."""

    weight: int
    allocatable: Amounts
    requested: Amounts


def pod_request(pod: PodInfo, resource: str, *, use_requested: bool) -> int:
    """What the pod requests of a resource; not `use_requested`: at least the default of cpu and memory, for each container.

    Upstream: calculatePodResourceRequest
    """
    requests = pod.requests
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


def allocations(rows: Rows, resources: Sequence[ResourceSpec], requests: Sequence[int], *, use_requested: bool) -> list[Allocation]:
    """The resources that count for this pod: not those that it does not request and that are scalar.

    Upstream: resourceAllocationScorer.score, calculateResourceAllocatableRequest
    """
    counted = []
    for resource, request in zip(resources, requests, strict=True):
        if request == 0 and is_scalar_resource_name(resource.name):
            continue
        allocatable = rows.allocatable(resource.name)
        non_zero = not use_requested and resource.name in ("cpu", "memory")
        requested = rows.non_zero_requested(resource.name) if non_zero else rows.requested(resource.name)
        counted.append(Allocation(resource.weight, allocatable.astype(np.int64, copy=False), requested + np.int64(request)))
    return counted
