"""Inputs of resource scores: each node's allocatable resources, and what would be requested with the pod.

Upstream: framework/plugins/noderesources/resource_allocation.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from schedviz.engine.config.plugin_args import ResourceSpec
from schedviz.engine.framework.formulas import Amount, Formula
from schedviz.engine.framework.interface import DeviceTotals, Handle, Scores
from schedviz.engine.framework.resource import is_scalar_resource_name
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo

Amounts = npt.NDArray[np.int64]

_NO_DEVICES: Final = DeviceTotals(0, 0)


class PodRequestsState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pod's request of each scored resource, in the order of the plugin's arguments."""

    requests: tuple[int, ...]
    #: v1.36: the devices behind extended resources, by resource and node name. Other resources and nodes are absent.
    devices: dict[str, dict[str, DeviceTotals]] = {}

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


def is_scored(resource: str) -> bool:
    """Whether nodes have amounts of the resource for scores: upstream does not look up `pods`."""
    return resource != "pods"


def pod_requests(pod: PodInfo, resources: Sequence[ResourceSpec], *, use_requested: bool) -> PodRequestsState:
    """Upstream: calculatePodResourceRequestList"""
    return PodRequestsState(tuple(pod_request(pod, resource.name, use_requested=use_requested) for resource in resources))


def with_devices(requests: PodRequestsState, handle: Handle, resources: Sequence[ResourceSpec], rows: Rows) -> PodRequestsState:
    """The requests with the devices behind those of them that device classes provide. Upstream: getDRAPreScoredParams"""
    if not handle.features.dra_extended_resource or handle.dra_manager is None:
        return requests
    names = [resource.name for resource, request in zip(resources, requests.requests, strict=True) if request and "/" in resource.name]
    if not names:
        return requests
    devices = handle.dra_manager.device_totals(names, [info.node for info in rows.infos if info.node is not None])
    return replace(requests, devices=devices) if devices else requests


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

    def score(self, rows: Rows, requests: tuple[int, ...], devices: Mapping[str, Mapping[str, DeviceTotals]] | None = None) -> Scores:
        """The scores for a pod with these requests, in the order of the resources; `devices` as in `PodRequestsState`."""
        if devices:
            return self._score_with_devices(rows, requests, devices)
        formula = self._formula(requests)
        return self._score((), len(rows)) if formula is None else rows.formula(formula)

    def _score_with_devices(self, rows: Rows, requests: tuple[int, ...], devices: Mapping[str, Mapping[str, DeviceTotals]]) -> Scores:
        """The scores where nodes that lack a resource may have devices for it. Upstream: calculateDRAExtendedResourceAllocatableRequest"""
        allocations = []
        for resource, request in self._counted(requests):
            allocatable = rows.allocatable(resource.name)
            requested = rows.non_zero_requested(resource.name) if self._is_non_zero(resource) else rows.requested(resource.name)
            of_node = devices.get(resource.name)
            if of_node:
                totals = [of_node.get(name, _NO_DEVICES) for name in rows.names]
                counts = np.array([total.devices for total in totals], np.int64)
                stands_in = (allocatable == 0) & (counts > 0)
                allocatable = np.where(stands_in, counts, allocatable)
                requested = np.where(stands_in, np.array([total.allocated for total in totals], np.int64), requested)
            allocations.append(Allocation(resource.weight, allocatable, requested + np.int64(request), request))
        return self._score(allocations, len(rows))

    def _counted(self, requests: tuple[int, ...]) -> list[tuple[ResourceSpec, int]]:
        return [
            (resource, request)
            for resource, request in zip(self._resources, requests, strict=True)
            if is_scored(resource.name) and (request or not is_scalar_resource_name(resource.name))
        ]

    def _is_non_zero(self, resource: ResourceSpec) -> bool:
        return not self._use_requested and resource.name in ("cpu", "memory")

    def _formula_of(self, requests: tuple[int, ...]) -> Formula | None:
        counted = self._counted(requests)
        if not counted:
            return None
        amounts: list[Amount] = []
        for resource, _ in counted:
            kind: Literal["non-zero-requested", "requested"] = "non-zero-requested" if self._is_non_zero(resource) else "requested"
            amounts += (Amount("allocatable", resource.name), Amount(kind, resource.name))

        def compute(*columns: Amounts) -> Scores:
            pairs = zip(columns[::2], columns[1::2], strict=True)
            allocations = [
                Allocation(resource.weight, allocatable, requested + np.int64(request), request)
                for (resource, request), (allocatable, requested) in zip(counted, pairs, strict=True)
            ]
            return self._score(allocations, len(columns[0]))

        return Formula((self, requests), amounts, compute)
