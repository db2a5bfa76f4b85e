"""What a search found, and the allocation that is written to a claim.

Upstream: dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go internalDeviceResult, createNodeSelector
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from schedviz.engine.framework.plugins.dynamicresources.structured.pools import SliceDevice
from schedviz.engine.framework.plugins.dynamicresources.structured.requests import Request
from schedviz.engine.framework.plugins.dynamicresources.structured.state import AllocatorFeatures
from schedviz.kube.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from schedviz.kube.devices import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult, ResourceClaim
from schedviz.kube.quantity import Quantity


class FoundDevice(NamedTuple):
    """A device for a request."""

    request: Request
    device: SliceDevice
    #: What is consumed of a device that allows multiple allocations; None: the device is the claim's alone.
    consumed: Mapping[str, Quantity] | None = None


class UnsupportedSelectorError(ValueError):
    """A slice has a node selector with several terms, which validation forbids."""


def allocation_result(
    claim: ResourceClaim, devices: Sequence[FoundDevice], node_name: str, features: AllocatorFeatures
) -> AllocationResult:
    """The allocation of a claim. Raises `UnsupportedSelectorError`."""
    binding_conditions = features.device_binding_and_status
    results = tuple(_result(claim, index, device, binding_conditions=binding_conditions) for index, device in enumerate(devices))
    selector = _node_selector((device.device for device in devices), node_name, binds_to_node=not features.is_stable)
    return AllocationResult(devices=DeviceAllocationResult(results), node_selector=selector)


def _result(claim: ResourceClaim, index: int, found_device: FoundDevice, *, binding_conditions: bool) -> DeviceRequestAllocationResult:
    request, device = found_device.request, found_device.device.device
    return DeviceRequestAllocationResult(
        request=request.full_name,
        driver=found_device.device.id.driver,
        pool=found_device.device.id.pool,
        device=found_device.device.id.device,
        admin_access=True if request.admin_access else None,
        tolerations=tuple(request.tolerations),
        binding_conditions=device.binding_conditions if binding_conditions else (),
        binding_failure_conditions=device.binding_failure_conditions if binding_conditions else (),
        share_id=None if found_device.consumed is None else _share_id(claim, index, found_device),
        consumed_capacity=dict(found_device.consumed or {}),
    )


def _share_id(claim: ResourceClaim, index: int, device: FoundDevice) -> str:
    """The name of a share of a device. Deviation: upstream draws it at random; here, equal sessions give equal names."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{claim.uid} {index} {device.device.id}"))


def _node_selector(devices: Iterable[SliceDevice], node_name: str, *, binds_to_node: bool) -> NodeSelector | None:
    """The nodes that can use the devices; None: all. `binds_to_node`: devices may demand their node. Raises `UnsupportedSelectorError`.

    Upstream: createNodeSelector
    """
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for device in devices:
        source = device.device if device.slice.spec.per_device_node_selection else device.slice.spec
        if source.node_name is not None or (binds_to_node and device.device.binds_to_node):
            name = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
            return NodeSelector((NodeSelectorTerm(match_fields=(name,)),))
        terms = source.node_selector.node_selector_terms if source.node_selector is not None else ()
        if len(terms) > 1:
            raise UnsupportedSelectorError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for term in terms:
            _add_new(fields, term.match_fields)
            _add_new(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    return NodeSelector((NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions)),))


def _add_new(requirements: list[NodeSelectorRequirement], more: Sequence[NodeSelectorRequirement]) -> None:
    """Upstream: addNewNodeSelectorRequirements"""
    for requirement in more:
        if not any(
            (own.key, own.operator, set(own.values)) == (requirement.key, requirement.operator, set(requirement.values))
            for own in requirements
        ):
            requirements.append(requirement)
