"""Conditions of allocated devices that must be true before a pod is bound.

Upstream: framework/plugins/dynamicresources/dynamicresources.go isClaimReadyForBinding, isClaimTimeout
"""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.engine.framework.types import NANOS_PER_SECOND
from schedviz.kube.devices import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim
from schedviz.kube.meta import condition_of
from schedviz.kube.selectors import quote
from schedviz.kube.timestamps import parse_timestamp


class BindingConditionError(Exception):
    """A device cannot be prepared, or not in time. The text is upstream's."""


def has_conditions(claims: Iterable[ResourceClaim]) -> bool:
    """Whether a device of the claims has conditions. Upstream: hasBindingConditions"""
    return any(result.binding_conditions for claim in claims for result in _results(claim))


def is_ready(claim: ResourceClaim) -> bool:
    """Whether all conditions of the claim's devices are true. Raises `BindingConditionError`. Upstream: isClaimReadyForBinding"""
    if claim.status.allocation is None:
        return False
    for result in _results(claim):
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return False
        for name in result.binding_failure_conditions:
            failed = condition_of(status.conditions, name)
            if failed is not None and failed.status == "True":
                raise BindingConditionError(
                    f"device binding failed: claim={claim.name}, reason={failed.reason}, message={quote(failed.message)}"
                )
        if not all(
            (condition := condition_of(status.conditions, name)) is not None and condition.status == "True"
            for name in result.binding_conditions
        ):
            return False
    return True


def is_timed_out(claim: ResourceClaim, *, now_seconds: float, timeout: int) -> bool:
    """Whether the claim's devices have had `timeout` nanoseconds. Upstream: isClaimTimeout"""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None or not has_conditions((claim,)):
        return False
    return parse_timestamp(allocation.allocation_timestamp) + timeout / NANOS_PER_SECOND < now_seconds


def _results(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    return () if claim.status.allocation is None else claim.status.allocation.devices.results


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    name = (result.driver, result.pool, result.device)
    return next((device for device in claim.status.devices if (device.driver, device.pool, device.device) == name), None)
