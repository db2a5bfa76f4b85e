"""`Allocator`: allocates the claims of one pod on one node after the other.

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go Allocate
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from schedviz.engine.framework.plugins.dynamicresources.structured.constraints import Constraint, constraint_of
from schedviz.engine.framework.plugins.dynamicresources.structured.counters import Amounts, available_in
from schedviz.engine.framework.plugins.dynamicresources.structured.free_devices import PlainRequest
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import (
    Pool,
    PoolError,
    PoolIndex,
    SliceDevice,
    device_count,
    selected_devices,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import ALL, EXACT_COUNT, Request, alternatives_of
from schedviz.engine.framework.plugins.dynamicresources.structured.results import (
    FoundDevice,
    UnsupportedSelectorError,
    allocation_result,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.search import (
    MAX_RESULTS,
    VISITS_PER_STEP,
    AllocationError,
    PlannedClaim,
    PlannedRequest,
    Rules,
    Search,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import Selectors
from schedviz.engine.framework.plugins.dynamicresources.structured.state import AllocatedState, AllocatorFeatures
from schedviz.kube.core import Node
from schedviz.kube.devices import AllocationResult, DeviceClass, DeviceRequest, ResourceClaim


class NodeAllocationError(Exception):
    """Allocation is impossible on this node alone; other nodes may do. Upstream: ErrFailedAllocationOnNode"""


#: Upstream: the text of ErrFailedAllocationOnNode
INVALID_POOLS: Final = "invalid resource pools were encountered"
#: Steps that each node adds to the time for all of them.
_STEPS_PER_NODE: Final = 100

#: The devices that a search found for each claim.
Found = Sequence[Sequence[FoundDevice]]


class Allocator:
    """Allocates for one pod. The state of the cluster must not change meanwhile."""

    def __init__(
        self,
        features: AllocatorFeatures,
        allocated: AllocatedState,
        device_class: Callable[[str], DeviceClass | None],
        pools: PoolIndex,
        selectors: Selectors,
        *,
        max_steps: int,
    ) -> None:
        """`max_steps`: a search that needs more on a node ends with `TooLongError`."""
        self.features = features
        self.device_class = device_class
        self._allocated = allocated
        self._pools = pools
        self._counters: dict[str, Amounts] = {}
        self._rules = Rules(features, allocated, selectors, self._available_counters)
        self.max_steps = max_steps
        #: Steps that are left for the searches of this pod.
        self.steps_left = max_steps

    def end_search(self, search: Search) -> None:
        """Count the time that a search took."""
        self.steps_left -= search.steps

    def for_claims(self, claims: Sequence[ResourceClaim]) -> ClaimsAllocator:
        """The allocator of these claims, for one node or for many."""
        return ClaimsAllocator(self, claims)

    def find(self, node: Node, claims: Sequence[ResourceClaim]) -> Found | None:
        """Devices for each claim; None: there are none. Raises `AllocationError`, `NodeAllocationError` or `TooLongError`."""
        return self.for_claims(claims).find(node)

    def pools_of(self, node: Node) -> Sequence[Pool]:
        """The pools that the node sees. Raises `AllocationError`."""
        try:
            return self._pools.pools_of(node)
        except PoolError as error:
            raise AllocationError(f"gather pool information: {error}") from None

    def is_quick(self, request: PlainRequest, pools: Sequence[Pool]) -> bool:
        """Whether `free` takes no longer than each node may. A search ends with the first devices that are free; `free` looks at all."""
        return request.visits_for(device_count(pools)) <= _STEPS_PER_NODE * VISITS_PER_STEP

    def free(self, request: PlainRequest, pools: Sequence[Pool]) -> Sequence[SliceDevice] | None:
        """The devices that a plain request gets; (): there are too few. None: it takes a search."""
        devices = selected_devices(pools, request.expressions, self._rules.selectors)
        return None if devices is None else request.choose(devices, device_count(pools), self._rules.allocated.devices)

    def add_time_for(self, nodes: int) -> None:
        """Deviation: all searches for a pod may take little more time than one of them, not each as much."""
        self.steps_left = self.steps_for(nodes)

    def steps_for(self, nodes: int) -> int:
        """The steps that are left for the searches of this pod, if so many more nodes are searched."""
        return self.steps_left + nodes * _STEPS_PER_NODE

    def search(self, node: Node, pools: Sequence[Pool]) -> Search:
        """A search on a node."""
        self.add_time_for(1)
        return Search(self._rules, node, pools, max_steps=min(self.max_steps, self.steps_left))

    def result(self, claim: ResourceClaim, devices: Sequence[FoundDevice], node_name: str) -> AllocationResult:
        """What is written to a claim. Raises `AllocationError`."""
        try:
            return allocation_result(claim, devices, node_name, self.features)
        except UnsupportedSelectorError as error:
            raise AllocationError(f"create NodeSelector for claim {claim.name}: {error}") from None

    def _available_counters(self, pool: Pool) -> Amounts:
        # As upstream, by the name of the pool alone, for all nodes and drivers.
        counters = self._counters.get(pool.id.pool)
        if counters is None:
            counters = self._counters[pool.id.pool] = available_in(pool, self._allocated)
        return counters


class ClaimsAllocator:
    """Allocates some claims on one node after the other. What does not depend on the node is computed once."""

    def __init__(self, allocator: Allocator, claims: Sequence[ResourceClaim]) -> None:
        self._allocator = allocator
        self._features = allocator.features
        self._device_class = allocator.device_class
        self._claims = claims
        self._is_by_node = any(_is_for_all(request) for claim in claims for request in claim.spec.devices.requests)
        self._requests: Sequence[Sequence[Sequence[PlannedRequest]]] | None = None
        self._only: Request | None = None
        #: The only request, if nothing but selectors decides which devices it gets; known after the first node.
        self.plain: PlainRequest | None = None

    def find(self, node: Node) -> Found | None:
        """Devices for each claim; None: there are none. Raises `AllocationError`, `NodeAllocationError` or `TooLongError`."""
        pools = self._allocator.pools_of(node)
        search = self._allocator.search(node, pools)
        try:
            return self._find(search, pools)
        finally:
            self._allocator.end_search(search)

    def _find(self, search: Search, pools: Sequence[Pool]) -> Found | None:
        if self._requests is None or self._is_by_node:
            self._requests = [self._planned(search, claim, pools) for claim in self._claims]
            self._only, self.plain = self._only_request() or (None, None)
        if self.plain is not None:
            free = self._allocator.free(self.plain, pools) if self._allocator.is_quick(self.plain, pools) else None
            if free is not None:
                if free:
                    return self._found(free)
                _refuse_invalid(pools)
                return None
        planned = [
            PlannedClaim(claim, requests, self._constraints(claim)) for claim, requests in zip(self._claims, self._requests, strict=True)
        ]
        if search.run(planned):
            return search.results
        _refuse_invalid(pools)
        return None

    def find_free(self, node: Node) -> Found:
        """The devices for `plain`, which the node has."""
        assert self.plain is not None
        free = self._allocator.free(self.plain, self._allocator.pools_of(node))
        assert free
        return self._found(free)

    def _found(self, devices: Sequence[SliceDevice]) -> Found:
        assert self._only is not None
        return (tuple(FoundDevice(self._only, device) for device in devices),)

    def _only_request(self) -> tuple[Request, PlainRequest] | None:
        assert self._requests is not None
        if len(self._requests) != 1 or len(self._requests[0]) != 1 or len(self._requests[0][0]) != 1:
            return None
        planned = self._requests[0][0][0]
        request = planned.request
        if self._is_by_node or request.admin_access or request.capacity is not None or request.parent or planned.wanted < 1:
            return None
        if self._claims[0].spec.devices.constraints:
            return None
        return request, PlainRequest(request.all_expressions, planned.wanted, self._allocator.max_steps)

    def _planned(self, search: Search, claim: ResourceClaim, pools: Sequence[Pool]) -> Sequence[Sequence[PlannedRequest]]:
        """The claim's requests. Raises `AllocationError`."""
        planned: list[Sequence[PlannedRequest]] = []
        least = 0
        for request in claim.spec.devices.requests:
            if request.first_available and not self._features.prioritized_list:
                raise AllocationError(
                    f"claim {claim.key}, request {request.name}: has subrequests, but the DRAPrioritizedList feature is disabled"
                )
            alternatives = alternatives_of(request)
            self._check_capacity(claim, alternatives)
            options = tuple(self._planned_request(search, claim, alternative, pools) for alternative in alternatives)
            least += min(option.wanted for option in options)
            planned.append(options)
        if least > MAX_RESULTS:
            raise AllocationError(f"claim {claim.key}: number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}")
        self._constraints(claim)
        return planned

    def _constraints(self, claim: ResourceClaim) -> Sequence[Constraint]:
        """The claim's constraints, for one search. Raises `AllocationError`."""
        constraints: list[Constraint] = []
        for number, constraint in enumerate(claim.spec.devices.constraints):
            made = constraint_of(constraint, lists=self._features.list_type_attributes, distinct=not self._features.is_stable)
            if made is None:
                raise AllocationError(f"claim {claim.key}, constraint #{number}: empty constraint (unsupported constraint type?)")
            constraints.append(made)
        return constraints

    def _check_capacity(self, claim: ResourceClaim, alternatives: Sequence[Request]) -> None:
        if self._features.consumable_capacity or self._features.is_stable:
            return
        for alternative in alternatives:
            if alternative.capacity is not None:
                kind = "subrequest" if alternative.parent else "request"
                message = f"{kind} {alternative.name}: has capacity requests, but the DRAConsumableCapacity feature is disabled"
                raise AllocationError(f"claim {claim.key}, {message}")

    def _planned_request(self, search: Search, claim: ResourceClaim, request: Request, pools: Sequence[Pool]) -> PlannedRequest:
        """Upstream: validateDeviceRequest"""
        where = f"claim {claim.key}, request {request.name}"
        for number, selector in enumerate(request.selectors):
            if selector.cel is None:
                raise AllocationError(f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)")
        if request.has_admin_access and not self._features.admin_access:
            raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
        if not request.device_class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self._device_class(request.device_class_name)
        if device_class is None:
            missing = f'deviceclass.resource.k8s.io "{request.device_class_name}" not found'
            raise AllocationError(f"{where}: could not retrieve device class {request.device_class_name}: {missing}")
        request.set_class(device_class)
        if request.mode == EXACT_COUNT:
            return PlannedRequest(request, request.count)
        if request.mode != ALL:
            raise AllocationError(f"{where}: unsupported count mode {request.mode}")
        every = self._every(search, claim, request, pools)
        return PlannedRequest(request, len(every), every)

    def _every(self, search: Search, claim: ResourceClaim, request: Request, pools: Sequence[Pool]) -> Sequence[tuple[SliceDevice, Pool]]:
        """All devices that a request for all of them gets."""
        every: list[tuple[SliceDevice, Pool]] = []
        for pool in pools:
            if pool.is_incomplete or pool.invalid_reason:
                state = "being updated" if pool.is_incomplete else "invalid"
                raise AllocationError(
                    f"claim {claim.key}, request {request.name}: asks for all devices, but resource pool {pool.id} is currently {state}"
                )
            every += [
                (device, pool)
                for device in pool.devices
                if search.is_selectable(claim, request, device) and search.has_capacity(request, device)
            ]
        return every


def _refuse_invalid(pools: Sequence[Pool]) -> None:
    """Raises `NodeAllocationError` if a pool could not be used."""
    if any(pool.invalid_reason for pool in pools):
        raise NodeAllocationError(INVALID_POOLS)


def _is_for_all(request: DeviceRequest) -> bool:
    requests = request.first_available or (request.exactly,)
    return any(exact_request is not None and exact_request.allocation_mode == ALL for exact_request in requests)
