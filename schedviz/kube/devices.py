# ruff: noqa: RUF012  (msgspec copies the empty defaults)
"""Dynamic resource allocation: claims, their templates, device classes, slices (`resource.k8s.io/v1`) and rules for taints (`v1beta2`).

Configuration for drivers (`config`) is not kept: the scheduler only copies it.
"""

from __future__ import annotations

import msgspec

from schedviz.kube.affinity import NodeSelector
from schedviz.kube.meta import Condition, Int64, KubeObject, ObjectMeta, ObjectPart
from schedviz.kube.quantity import Quantity


class CELDeviceSelector(ObjectPart, frozen=True, gc=False):
    """A CEL expression over a device."""

    expression: str = ""


class DeviceSelector(ObjectPart, frozen=True, gc=False):
    """A condition that a device must satisfy."""

    cel: CELDeviceSelector | None = None


class DeviceToleration(ObjectPart, frozen=True, gc=False):
    """A device taint that a request tolerates."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(ObjectPart, frozen=True, gc=False):
    """How much of a device's capacities a request consumes, by the capacity's qualified name."""

    requests: dict[str, Quantity] = {}


class ExactDeviceRequest(ObjectPart, frozen=True, gc=False):
    """Devices of one class."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(ObjectPart, frozen=True, gc=False):
    """One alternative of a prioritized list."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None


class DeviceRequest(ObjectPart, frozen=True, gc=False):
    """A request of a claim: exactly these devices, or the first alternative that is available."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(ObjectPart, frozen=True, gc=False):
    """What the devices of several requests must have in common, or must differ in. No requests: all of the claim."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(ObjectPart, frozen=True, gc=False):
    """The devices that a claim asks for."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(ObjectPart, frozen=True, gc=False):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(ObjectPart, frozen=True, gc=False):
    """A device that was allocated for a request (`request` or `request/subrequest`)."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] = {}


class DeviceAllocationResult(ObjectPart, frozen=True, gc=False):
    """The allocated devices."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(ObjectPart, frozen=True, gc=False):
    """An allocation: the devices, and the nodes that can use them. No node selector: all nodes."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(ObjectPart, frozen=True, gc=False):
    """A pod, or a pod group, that may use the claim."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(ObjectPart, frozen=True, gc=False):
    """What a driver reports of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(ObjectPart, frozen=True, gc=False):
    """What was allocated, and who uses it."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaimMeta(ObjectMeta, frozen=True, gc=False):
    """The metadata of a claim. The scheduler reads and adds its finalizer."""

    finalizers: tuple[str, ...] = ()


class ResourceClaim(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceClaim"):
    """A claim on devices."""

    metadata: ResourceClaimMeta = ResourceClaimMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ObjectPart, frozen=True, gc=False):
    """The spec of the claims that are created from a template."""

    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceClaimTemplate"):
    """A template from which each pod gets its own claim. The scheduler does not read it."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceClassSpec(ObjectPart, frozen=True, gc=False):
    """Which devices belong to a class, and the extended resource that stands for it."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(KubeObject, frozen=True, kw_only=True, gc=False, tag="DeviceClass"):
    """A class of devices."""

    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(
    ObjectPart,
    frozen=True,
    gc=False,
    rename={
        "int_value": "int",
        "bool_value": "bool",
        "string_value": "string",
        "version_value": "version",
        "int_values": "ints",
        "bool_values": "bools",
        "string_values": "strings",
        "version_values": "versions",
    },
):
    """An attribute of a device: one of these members is set."""

    int_value: Int64 | None = None
    bool_value: bool | None = None
    string_value: str | None = None
    version_value: str | None = None
    int_values: tuple[Int64, ...] = ()
    bool_values: tuple[bool, ...] = ()
    string_values: tuple[str, ...] = ()
    version_values: tuple[str, ...] = ()


class CapacityRequestPolicyRange(ObjectPart, frozen=True, gc=False):
    """The amounts that can be consumed: from `min` to `max` in steps."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(ObjectPart, frozen=True, gc=False):
    """How much of a capacity one request can consume."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(ObjectPart, frozen=True, gc=False):
    """A capacity of a device."""

    value: Quantity | None = None
    request_policy: CapacityRequestPolicy | None = None


class Counter(ObjectPart, frozen=True, gc=False):
    """An amount that devices share."""

    value: Quantity | None = None


class CounterSet(ObjectPart, frozen=True, gc=False):
    """Counters of a pool, from which its devices take."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(ObjectPart, frozen=True, gc=False):
    """What a device takes from a counter set."""

    counter_set: str = ""
    counters: dict[str, Counter] = {}


class DeviceTaint(ObjectPart, frozen=True, gc=False):
    """What keeps claims off a device."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class NodeAllocatableResourceMapping(ObjectPart, frozen=True, gc=False):
    """How much of a node's allocatable resource a device takes."""

    capacity_key: str | None = None
    allocation_multiplier: Quantity | None = None


class Device(ObjectPart, frozen=True, gc=False):
    """A device. Attributes and capacities are by qualified name."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = {}


class ResourcePool(ObjectPart, frozen=True, gc=False):
    """The pool that a slice belongs to. Only slices of its highest generation count, and only if there are as many as it says."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(ObjectPart, frozen=True, gc=False):
    """Devices of one pool, and the nodes that can use them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(KubeObject, frozen=True, kw_only=True, gc=False, tag="ResourceSlice"):
    """The devices that a driver publishes."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceTaintSelector(ObjectPart, frozen=True, gc=False):
    """The devices that a rule is for. A member that is None selects all."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(ObjectPart, frozen=True, gc=False):
    """One taint, and the devices to which it is added."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(KubeObject, frozen=True, kw_only=True, gc=False, tag="DeviceTaintRule"):
    """A taint that is added to devices which are already published."""

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
