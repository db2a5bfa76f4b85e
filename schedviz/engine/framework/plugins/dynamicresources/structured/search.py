"""The search for devices: every device for every request, with backtracking, until a combination satisfies all claims.

The order of the search decides which devices a claim gets, so it is upstream's, including what it leaves behind when it gives a device up
(see `Search._take`).

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go allocateOne, allocateDevice
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from schedviz.engine.framework.plugins.dynamicresources.structured.constraints import Constraint
from schedviz.engine.framework.plugins.dynamicresources.structured.consumable_capacity import consumed_by, fits
from schedviz.engine.framework.plugins.dynamicresources.structured.counters import Amounts, TakenCounters
from schedviz.engine.framework.plugins.dynamicresources.structured.pools import Pool, SliceDevice, is_long, node_matches
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import ALL, Request
from schedviz.engine.framework.plugins.dynamicresources.structured.results import FoundDevice
from schedviz.engine.framework.plugins.dynamicresources.structured.selectors import SelectorError, Selectors
from schedviz.engine.framework.plugins.dynamicresources.structured.state import (
    AllocatedState,
    AllocatorFeatures,
    ConsumedCapacities,
    DeviceID,
)
from schedviz.engine.framework.plugins.dynamicresources.structured.tolerations import prevents_allocation
from schedviz.kube.core import Node
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.quantity import Quantity
from schedviz.kube.selectors import SelectorError as NodeSelectorError

#: The limit of a search that has no timeout, so that no session runs for ever.
MAX_STEPS: Final = 200_000
#: Devices that are visited in the time of a step. Work that grows with a device or a claim counts as visits, too.
VISITS_PER_STEP: Final = 10
#: Visits in the time that it takes to compile a character of an expression.
_VISITS_PER_CHARACTER: Final = 20
#: Upstream: resource/v1 AllocationResultsMaxSize
MAX_RESULTS: Final = 32


class AllocationError(Exception):
    """Claims, classes or slices are wrong. It ends the scheduling cycle of the pod. The text is upstream's."""


class TooLongError(Exception):
    """The search took more steps than allowed."""


class _TooManyDevicesError(Exception):
    """A claim would get more devices than fit its status. Upstream: errAllocationResultMaxSizeExceeded"""


class PlannedRequest(NamedTuple):
    """A request on a node: how many devices it needs; for all devices, which."""

    request: Request
    wanted: int
    every: Sequence[tuple[SliceDevice, Pool]] = ()


class PlannedClaim(NamedTuple):
    """A claim, the alternatives of each of its requests, and its constraints."""

    claim: ResourceClaim
    requests: Sequence[Sequence[PlannedRequest]]
    constraints: Sequence[Constraint]


class Rules(NamedTuple):
    """What a search reads and does not change."""

    features: AllocatorFeatures
    allocated: AllocatedState
    selectors: Selectors
    #: What is left of the counters of a pool.
    available_counters: Callable[[Pool], Amounts]


class Search:
    """One search on one node."""

    def __init__(self, rules: Rules, node: Node, pools: Sequence[Pool], *, max_steps: int) -> None:
        """`max_steps`: a search that takes longer (`steps`) ends with `TooLongError`."""
        self._rules = rules
        self._max_visits = max_steps * VISITS_PER_STEP
        self._node = node
        self._pools = pools
        self._claims: Sequence[PlannedClaim] = ()
        self._allocating: dict[DeviceID, set[int]] = {}
        self._capacity = ConsumedCapacities()
        self._counters = TakenCounters()
        self._node_matches: dict[int, bool] = {}
        self.results: list[list[FoundDevice]] = []
        #: Visits, including those of the steps.
        self._visits = 0
        #: Selectors that have been counted.
        self._counted: set[tuple[str, DeviceID | None]] = set()

    def run(self, claims: Sequence[PlannedClaim]) -> bool:
        """Whether there are devices for all claims; then `results` has them, by claim. Raises `AllocationError` or `TooLongError`."""
        self._claims = claims
        self.results = [[] for _ in claims]
        try:
            return self._claim(0)
        except _TooManyDevicesError:
            # Upstream returns this error of the last request to its caller, too.
            raise AllocationError("allocation max size exceeded") from None

    @property
    def steps(self) -> int:
        """The time that the search has taken, in steps: those of upstream's allocateOne, and what else takes as long."""
        return self._visits // VISITS_PER_STEP

    # The steps. Upstream: allocateOne

    def _step(self) -> None:
        self._count_visits(VISITS_PER_STEP)

    def _count_visits(self, parts: int) -> None:
        """Count the parts of a device, or of a claim, that the search goes through."""
        self._visits += parts
        if self._visits > self._max_visits:
            raise TooLongError

    def _claim(self, claim: int) -> bool:
        self._step()
        if claim >= len(self._claims):
            return True
        return self._request(claim, 0)

    def _request(self, claim: int, request: int) -> bool:
        """Start with a request, or continue with the next claim after the last request."""
        requests = self._claims[claim].requests
        if request >= len(requests):
            try:
                return self._claim(claim + 1)
            except _TooManyDevicesError:
                return False
        alternatives = requests[request]
        if not alternatives[0].request.parent:
            return self._device(claim, request, alternatives[0], 0, (0, 0))
        exceeded = True
        for alternative in alternatives:
            self._step()
            try:
                success = self._device(claim, request, alternative, 0, (0, 0))
            except _TooManyDevicesError:
                continue
            exceeded = False
            if success:
                return True
        if exceeded:
            raise _TooManyDevicesError
        return False

    def _device(self, claim: int, request: int, planned: PlannedRequest, index: int, start: tuple[int, int]) -> bool:
        """Find the next device of a request, from a pool and a device on."""
        if planned.request.mode == ALL and not planned.every:
            return False
        if index >= planned.wanted:
            self._step()
            return self._request(claim, request + 1)
        if len(self.results[claim]) + planned.wanted - index > MAX_RESULTS:
            raise _TooManyDevicesError
        if planned.request.mode == ALL:
            return self._every(claim, request, planned, index)
        device_request = planned.request
        for pool_index in range(start[0], len(self._pools)):
            pool = self._pools[pool_index]
            if pool.is_incomplete or pool.invalid_reason:
                continue
            first = start[1] if pool_index == start[0] else 0
            for device_index in range(first, len(pool.devices)):
                self._visits += 1
                device = pool.devices[device_index]
                if not self._is_candidate(claim, device_request, device):
                    continue
                if not self._take(claim, device_request, device, pool, must=False):
                    continue
                if self._next(claim, request, planned, index, (pool_index, device_index + 1), device, pool):
                    return True
        return False

    def _every(self, claim: int, request: int, planned: PlannedRequest, index: int) -> bool:
        device, pool = planned.every[index]
        if not self._take(claim, planned.request, device, pool, must=True):
            return False
        return self._next(claim, request, planned, index, (0, 0), device, pool)

    def _next(
        self, claim: int, request: int, planned: PlannedRequest, index: int, start: tuple[int, int], device: SliceDevice, pool: Pool
    ) -> bool:
        """Go on after a device was taken; give it back if there is no solution with it."""
        self._step()
        try:
            done = self._device(claim, request, planned, index + 1, start)
        except _TooManyDevicesError:
            self._give_back(claim, planned.request, device, pool)
            raise
        if not done:
            self._give_back(claim, planned.request, device, pool)
        return done

    # Devices.

    def _is_candidate(self, claim: int, request: Request, device: SliceDevice) -> bool:
        claims_with_device = self._allocating.get(device.id)
        if request.admin_access:
            if claims_with_device and claim in claims_with_device:
                return False
        elif claims_with_device or device.id in self._rules.allocated.devices:
            return False
        return self.is_selectable(self._claims[claim].claim, request, device) and self.has_capacity(request, device)

    def why_excluded(self, claim: ResourceClaim, request: Request, device: SliceDevice, pool: Pool) -> str:
        """What keeps a device from a request, before anything is taken: "class", "selectors", "in use", "taints", "capacity" or "counters".

        "": nothing. Raises `AllocationError`.
        """
        features, own = self._rules.features, device.device
        if not self._are_satisfied(request.class_expressions, device, f"class {request.device_class_name}"):
            return "class"
        if not self.is_selectable(claim, request, device):
            return "selectors"
        if not request.admin_access and device.id in self._rules.allocated.devices:
            return "in use"
        if own.taints and features.device_taints and prevents_allocation(own.taints, request.tolerations):
            return "taints"
        if not self.has_capacity(request, device):
            return "capacity"
        if own.consumes_counters and not TakenCounters().take(pool, device, self._rules.available_counters(pool)):
            return "counters"
        return ""

    def is_selectable(self, claim: ResourceClaim, request: Request, device: SliceDevice) -> bool:
        """Whether selectors and the node allow a device. Raises `AllocationError` or `TooLongError`. Upstream: isSelectable"""
        if device.device.binding_conditions and not self._rules.features.device_binding_and_status:
            return False
        if not self._are_satisfied(request.class_expressions, device, f"class {request.device_class_name}"):
            return False
        if not self._are_satisfied(request.expressions, device, f"claim {claim.key}"):
            return False
        return not device.slice.spec.per_device_node_selection or self._is_for_node(device)

    def _are_satisfied(self, expressions: Sequence[str], device: SliceDevice, where: str) -> bool:
        if len(expressions) > 1:
            self._count_visits(len(expressions) - 1)
        for index, expression in enumerate(expressions):
            if is_long(expression):
                self._count(expression, None, len(expression) * _VISITS_PER_CHARACTER)
            result = device.result(expression, self._rules.selectors)
            self._count(expression, device.id, result.visits)
            if isinstance(result.value, SelectorError):
                raise AllocationError(f"{where}: selector #{index}: {result.value}")
            if not result.value:
                return False
        return True

    def _count(self, expression: str, device: DeviceID | None, visits: int) -> None:
        """Count the work for a selector once, whether it has been done before or not: a search takes the same steps after a restore."""
        if (expression, device) not in self._counted:
            self._counted.add((expression, device))
            self._count_visits(visits)

    def _is_for_node(self, device: SliceDevice) -> bool:
        matches = self._node_matches.get(id(device))
        if matches is None:
            own = device.device
            if own.node_selector is not None:
                self._count_visits(len(own.node_selector.node_selector_terms))
            try:
                matches = node_matches(self._node, own.node_name, own.all_nodes, own.node_selector)
            except NodeSelectorError as error:
                raise AllocationError(str(error)) from None
            self._node_matches[id(device)] = matches
        return matches

    def has_capacity(self, request: Request, device: SliceDevice) -> bool:
        """Whether the device has the capacity that the request takes. Upstream: CmpRequestOverCapacity"""
        if not self._rules.features.consumable_capacity:
            return True
        consumed = self._rules.allocated.capacities.get(device.id)
        allocating = self._capacity.get(device.id)
        if request.capacity is None and not device.has_request_policy and consumed is None and allocating is None:
            # It takes the whole of every capacity.
            return True
        self._count_visits(8 * device.amounts)
        return fits(request.capacity, device.device.capacity, consumed=consumed or _NOTHING, allocating=allocating or _NOTHING)

    def _take(self, claim: int, request: Request, device: SliceDevice, pool: Pool, *, must: bool) -> bool:
        """Take a device, if it is free and no taint, counter or constraint prevents it. Upstream: allocateDevice

        As upstream, a device that is refused after its counters were taken does not give them back.
        """
        features, own = self._rules.features, device.device
        allows_multiple = device.allows_multiple and features.consumable_capacity
        claims_with_device = self._allocating.get(device.id)
        if request.admin_access:
            if not allows_multiple and claims_with_device and claim in claims_with_device:
                return False
        elif claims_with_device or device.id in self._rules.allocated.devices:
            return False
        if own.consumes_counters:
            if not features.partitionable_devices:
                return False
            in_use = allows_multiple and (device.id in self._rules.allocated.capacities or device.id in self._capacity)
            available = self._rules.available_counters(pool)
            self._count_visits(4 * sum(map(len, available.values())) + 8 * sum(len(counter.counters) for counter in own.consumes_counters))
            if not in_use and not self._counters.take(pool, device, available):
                return False
        if own.taints and features.device_taints:
            self._count_visits(len(own.taints) * (1 + len(request.tolerations)))
            if prevents_allocation(own.taints, request.tolerations):
                return False
        if not self._satisfy(claim, request, device, must=must):
            return False
        if not allows_multiple:
            self._allocating.setdefault(device.id, set()).add(claim)
        consumed: Mapping[str, Quantity] | None = None
        if features.consumable_capacity:
            if not self.has_capacity(request, device):
                return False
            if allows_multiple:
                consumed = consumed_by(request.capacity, own.capacity)
                self._capacity.insert(device.id, consumed)
        self.results[claim].append(FoundDevice(request, device, consumed))
        return True

    def _satisfy(self, claim: int, request: Request, device: SliceDevice, *, must: bool) -> bool:
        """Add a device to the constraints of its claim, or to none."""
        constraints = self._claims[claim].constraints
        if constraints:
            self._count_visits(4 * len(constraints))
        for index, constraint in enumerate(constraints):
            if constraint.add(request.base_name, request.sub_name, device):
                continue
            if must:
                raise AllocationError(
                    f"claim {self._claims[claim].claim.key}, request {request.name}: cannot add device {device.id} because a claim "
                    "constraint would not be satisfied"
                )
            for earlier in constraints[:index]:
                earlier.remove(request.base_name, request.sub_name, device)
            return False
        return True

    def _give_back(self, claim: int, request: Request, device: SliceDevice, pool: Pool) -> None:
        """Undo `_take`. As upstream, a device that allows multiple allocations keeps its counters."""
        for constraint in self._claims[claim].constraints:
            constraint.remove(request.base_name, request.sub_name, device)
        result = self.results[claim].pop()
        self._allocating.get(device.id, set()).discard(claim)
        if device.allows_multiple and self._rules.features.consumable_capacity:
            if result.consumed:
                self._capacity.remove(device.id, result.consumed)
        elif self._rules.features.partitionable_devices and device.device.consumes_counters:
            self._counters.give_back(pool, device)


_NOTHING: Final[Mapping[str, Quantity]] = {}
