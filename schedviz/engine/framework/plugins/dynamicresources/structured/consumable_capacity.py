"""Capacities of devices that several claims share: how much a request takes, and whether that much is left.

Upstream: dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go
"""

from __future__ import annotations

from collections.abc import Mapping

from schedviz.engine.framework.plugins.dynamicresources.structured.state import ConsumedCapacity
from schedviz.kube.devices import CapacityRequestPolicy, CapacityRequestPolicyRange, CapacityRequirements, DeviceCapacity
from schedviz.kube.quantity import Quantity, of_int

_ZERO = of_int(0)


def fits(
    request: CapacityRequirements | None,
    capacities: Mapping[str, DeviceCapacity],
    *,
    consumed: ConsumedCapacity,
    allocating: ConsumedCapacity,
) -> bool:
    """Whether a device has what a request takes, besides what others have and this search has taken. Upstream: CmpRequestOverCapacity"""
    requests = {} if request is None else request.requests
    if any(name not in capacities for name in requests):
        return False
    for name, capacity in capacities.items():
        amount = _taken(requests.get(name), capacity)
        if _violates(amount, capacity.request_policy):
            return False
        for other in (consumed.get(name), allocating.get(name)):
            if other is not None:
                amount = other.plus(amount)
        if amount.compare(capacity.value or _ZERO) > 0:
            return False
    return True


def consumed_by(request: CapacityRequirements | None, capacities: Mapping[str, DeviceCapacity]) -> dict[str, Quantity]:
    """What a request takes of each capacity. Upstream: GetConsumedCapacityFromRequest"""
    requests = {} if request is None else request.requests
    return {name: _taken(requests.get(name), capacity) for name, capacity in capacities.items()}


def _taken(requested: Quantity | None, capacity: DeviceCapacity) -> Quantity:
    """Upstream: calculateConsumedCapacity"""
    policy = capacity.request_policy
    if requested is None:
        default = None if policy is None else policy.default
        return capacity.value or _ZERO if default is None else default
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded(requested, policy.valid_range.min, policy.valid_range.step)
    return next((value for value in policy.valid_values if requested.compare(value) <= 0), requested)


def _rounded(requested: Quantity, least: Quantity, step: Quantity | None) -> Quantity:
    """Upstream: roundUpRange"""
    if requested.compare(least) < 0:
        return least
    if step is None or not step.value:
        return requested
    steps = -(-(requested.value - least.value) // step.value)
    return of_int(least.value + step.value * steps, "BinarySI")


def _violates(amount: Quantity, policy: CapacityRequestPolicy | None) -> bool:
    """Upstream: violatesPolicy"""
    if policy is None or amount == policy.default:
        return False
    if policy.valid_range is not None:
        return _is_outside(amount, policy.valid_range)
    return bool(policy.valid_values) and all(amount.compare(value) for value in policy.valid_values)


def _is_outside(amount: Quantity, valid: CapacityRequestPolicyRange) -> bool:
    """Upstream: violateValidRange"""
    if valid.max is not None and amount.compare(valid.max) > 0:
        return True
    if valid.step is None or not valid.step.value:
        return False
    least = 0 if valid.min is None else valid.min.value
    return (amount.value - least) % valid.step.value != 0
