"""The defaults that an API server sets when an object is written.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/resource/v1/defaults.go. Admission (uid, timestamps, priority) is not done here.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from schedviz.kube import pod_level_resources
from schedviz.kube.core import Container, ContainerPort, Namespace, Node, Pod, ReplicationController, ResourceList
from schedviz.kube.devices import (
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from schedviz.kube.kinds import kind_of
from schedviz.kube.meta import KubeObject, ObjectMeta
from schedviz.kube.quantity import MILLI, Quantity
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

DEFAULT_NAMESPACE: Final = "default"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"
DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS: Final = 30
LABEL_METADATA_NAME: Final = "kubernetes.io/metadata.name"

#: The default allocation mode of a request for a number of devices.
EXACT_COUNT: Final = "ExactCount"

Object = TypeVar("Object", bound=KubeObject)
Request = TypeVar("Request", ExactDeviceRequest, DeviceSubRequest)


def default_object(obj: Object) -> Object:
    """The object as the API server stores it; the same object if it already has all defaults."""
    metadata = obj.metadata
    if kind_of(obj).namespaced:
        if not metadata.namespace:
            obj = replace(obj, metadata=replace(metadata, namespace=DEFAULT_NAMESPACE))
    elif metadata.namespace:
        obj = replace(obj, metadata=replace(metadata, namespace=""))
    filled: Object = _default(obj)
    return filled


@singledispatch
def _default(obj: Any) -> Any:
    return obj


@_default.register
def _pod(pod: Pod) -> Pod:
    spec = pod.spec
    changes: dict[str, Any] = {}
    containers = tuple(_container(container, host_network=spec.host_network) for container in spec.containers)
    if containers != spec.containers:
        changes["containers"] = containers
    if spec.init_containers:
        init_containers = tuple(_container(container, host_network=spec.host_network) for container in spec.init_containers)
        if init_containers != spec.init_containers:
            changes["init_containers"] = init_containers
    if spec.overhead:
        changes["overhead"] = _rounded(spec.overhead)
    if not spec.scheduler_name:
        changes["scheduler_name"] = DEFAULT_SCHEDULER_NAME
    if spec.termination_grace_period_seconds is None:
        changes["termination_grace_period_seconds"] = DEFAULT_TERMINATION_GRACE_PERIOD_SECONDS
    if changes:
        pod = replace(pod, spec=replace(spec, **changes))
    if spec.resources is not None:
        # Requests are added up before they are rounded.
        completed = pod_level_resources.completed(spec, spec.resources)
        own = replace(completed, limits=_rounded(completed.limits), requests=_rounded(completed.requests))
        pod = replace(pod, spec=replace(pod.spec, resources=own))
    return pod if pod.status.phase else replace(pod, status=replace(pod.status, phase="Pending"))


def _container(container: Container, *, host_network: bool) -> Container:
    resources = container.resources
    limits, requests = _rounded(resources.limits), _rounded(resources.requests)
    if not limits.keys() <= requests.keys():
        requests = {**requests, **{name: amount for name, amount in limits.items() if name not in requests}}
    if limits is not resources.limits or requests is not resources.requests:
        container = replace(container, resources=replace(resources, limits=limits, requests=requests))
    if container.ports:
        container = replace(container, ports=tuple(_port(port, host_network=host_network) for port in container.ports))
    return container


def _port(port: ContainerPort, *, host_network: bool) -> ContainerPort:
    host_port = port.container_port if host_network and not port.host_port else port.host_port
    return replace(port, protocol=port.protocol or "TCP", host_port=host_port)


def _rounded(amounts: ResourceList) -> ResourceList:
    """Amounts rounded up to thousandths; the same map if none needed rounding. Upstream: SetDefaults_ResourceList"""
    if all(amount.exponent >= MILLI for amount in amounts.values()):
        return amounts
    return {name: _round(amount) for name, amount in amounts.items()}


def _round(amount: Quantity) -> Quantity:
    return amount.round_up(MILLI)


@_default.register
def _node(node: Node) -> Node:
    status = node.status
    capacity = _rounded(status.capacity)
    allocatable = _rounded(status.allocatable) or capacity
    if capacity is status.capacity and allocatable is status.allocatable:
        return node
    return replace(node, status=replace(status, capacity=capacity, allocatable=allocatable))


@_default.register
def _namespace(namespace: Namespace) -> Namespace:
    metadata = namespace.metadata
    if not metadata.name or metadata.labels.get(LABEL_METADATA_NAME) == metadata.name:
        return namespace
    return replace(namespace, metadata=_with_labels(metadata, {**metadata.labels, LABEL_METADATA_NAME: metadata.name}))


@_default.register
def _replication_controller(controller: ReplicationController) -> ReplicationController:
    labels = controller.spec.template.metadata.labels if controller.spec.template else {}
    if labels and not controller.spec.selector:
        controller = replace(controller, spec=replace(controller.spec, selector=labels))
    if labels and not controller.metadata.labels:
        controller = replace(controller, metadata=_with_labels(controller.metadata, labels))
    return controller


@_default.register
def _persistent_volume(volume: PersistentVolume) -> PersistentVolume:
    spec, status = volume.spec, volume.status
    if spec.volume_mode is None:
        spec = replace(spec, volume_mode="Filesystem")
    capacity = _rounded(spec.capacity)
    if capacity is not spec.capacity:
        spec = replace(spec, capacity=capacity)
    if not status.phase:
        status = replace(status, phase="Bound" if spec.claim_ref else "Available")
    return volume if spec is volume.spec and status is volume.status else replace(volume, spec=spec, status=status)


@_default.register
def _persistent_volume_claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    spec, status = claim.spec, claim.status
    if spec.volume_mode is None:
        spec = replace(spec, volume_mode="Filesystem")
    requests = _rounded(spec.resources.requests)
    if requests is not spec.resources.requests:
        spec = replace(spec, resources=replace(spec.resources, requests=requests))
    if not status.phase:
        status = replace(status, phase="Bound" if spec.volume_name else "Pending")
    return claim if spec is claim.spec and status is claim.status else replace(claim, spec=spec, status=status)


@_default.register
def _storage_class(storage_class: StorageClass) -> StorageClass:
    return storage_class if storage_class.volume_binding_mode else replace(storage_class, volume_binding_mode="Immediate")


@_default.register
def _resource_claim(claim: ResourceClaim) -> ResourceClaim:
    spec = _claim_spec(claim.spec)
    return claim if spec == claim.spec else replace(claim, spec=spec)


@_default.register
def _resource_claim_template(template: ResourceClaimTemplate) -> ResourceClaimTemplate:
    spec = _claim_spec(template.spec.spec)
    return template if spec == template.spec.spec else replace(template, spec=replace(template.spec, spec=spec))


def _claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    return replace(spec, devices=replace(spec.devices, requests=tuple(map(_device_request, spec.devices.requests))))


def _device_request(request: DeviceRequest) -> DeviceRequest:
    exactly = None if request.exactly is None else _counted(request.exactly)
    return replace(request, exactly=exactly, first_available=tuple(map(_counted, request.first_available)))


def _counted(request: Request) -> Request:
    """Upstream: SetDefaults_ExactDeviceRequest, SetDefaults_DeviceSubRequest"""
    mode = request.allocation_mode or EXACT_COUNT
    return replace(request, allocation_mode=mode, count=request.count or (1 if mode == EXACT_COUNT else 0))


def _with_labels(metadata: ObjectMeta, labels: dict[str, str]) -> ObjectMeta:
    return replace(metadata, labels=labels)
