"""Extended resources that devices provide: the special claim of a pod, and the requests that it has on a node.

Upstream: framework/plugins/dynamicresources/extendeddynamicresources.go
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from schedviz.engine.framework.plugins.dynamicresources.device_class_resolver import DeviceClassResolver
from schedviz.engine.framework.plugins.helper.device_classes import IMPLICIT_PREFIX
from schedviz.kube.core import Container, ContainerExtendedResourceRequest, Pod
from schedviz.kube.devices import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimMeta,
    ResourceClaimSpec,
)
from schedviz.kube.meta import OwnerReference
from schedviz.kube.pod_level_resources import ALWAYS

#: The name of a special claim that is not created yet; no claim can have it.
IN_MEMORY: Final = "<extended-resources>"
ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"

#: Requests, and which of them serves which resource of which container.
Requests = tuple[tuple[DeviceRequest, ...], tuple[ContainerExtendedResourceRequest, ...]]


def is_extended(resource: str) -> bool:
    """Whether devices may provide a resource of this name. Upstream: IsDRAExtendedResourceName"""
    if resource.startswith(IMPLICIT_PREFIX):
        return True
    return "/" in resource and "kubernetes.io/" not in resource and not resource.startswith("requests.")


def find_special_claim(pod: Pod, claims: Iterable[ResourceClaim]) -> ResourceClaim | None:
    """The special claim that an earlier cycle created. Upstream: findExtendedResourceClaim"""
    for claim in claims:
        if claim.metadata.annotations.get(ANNOTATION) != "true":
            continue
        if any(owner.name == pod.name and owner.controller and owner.uid == pod.uid for owner in claim.metadata.owner_references):
            return claim
    return None


def new_special_claim(pod: Pod) -> ResourceClaim:
    """The special claim, without requests, which depend on the node.

    Deviation: upstream draws its temporary uid at random; here, equal sessions give equal uids.
    """
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    metadata = ResourceClaimMeta(
        name=IN_MEMORY,
        namespace=pod.namespace,
        uid=f"{pod.uid}/{IN_MEMORY}",
        generate_name=f"{pod.name}-extended-resources-",
        owner_references=(owner,),
        annotations={ANNOTATION: "true"},
    )
    return ResourceClaim(metadata=metadata)


def is_in_memory(claim: ResourceClaim) -> bool:
    """Whether the claim is not created yet. Upstream: isSpecialClaimName"""
    return claim.name == IN_MEMORY


def with_requests(claim: ResourceClaim, requests: Sequence[DeviceRequest]) -> ResourceClaim:
    """The special claim of a node."""
    return replace(claim, spec=ResourceClaimSpec(DeviceClaim(tuple(requests))))


def requests_of(pod: Pod, resources: Iterable[str], resolver: DeviceClassResolver) -> Requests:
    """The requests for resources that a node has no other source for. Upstream: createRequestsAndMappings"""
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(resources):
        device_class = resolver.class_name_for(resource)
        if device_class is None:
            continue
        more_requests, more_mappings = _requests_of_resource(pod, resource, device_class)
        requests += more_requests
        mappings += more_mappings
    return tuple(sorted(requests, key=lambda request: request.name)), tuple(mappings)


def _requests_of_resource(pod: Pod, resource: str, device_class: str) -> tuple[list[DeviceRequest], list[ContainerExtendedResourceRequest]]:
    """Init containers that end use devices of later containers first; what they need besides is requested once, for the one
    that needs most.
    """
    init_count = len(pod.spec.init_containers)
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    is_short = [index < init_count and container.restart_policy != ALWAYS for index, container in enumerate(containers)]
    long_lived: list[DeviceRequest | None] = [None] * len(containers)
    mappings: list[ContainerExtendedResourceRequest] = []
    for index, container in enumerate(containers):
        if not is_short[index]:
            long_lived[index], more = _request_of_container(index, container, resource, device_class, ())
            mappings += more
    largest: DeviceRequest | None = None
    of_short: list[ContainerExtendedResourceRequest] = []
    short_names: set[str] = set()
    for index, container in enumerate(containers):
        if not is_short[index]:
            continue
        request, more = _request_of_container(index, container, resource, device_class, long_lived[index:])
        of_short += more
        if request is not None:
            short_names.add(request.name)
            largest = request if largest is None or _count(largest) < _count(request) else largest
    if largest is not None:
        name = largest.name
        of_short = [replace(result, request_name=name) if result.request_name in short_names else result for result in of_short]
    requests = [request for request in (largest, *long_lived) if request is not None]
    return requests, [*mappings, *of_short]


def _request_of_container(
    index: int, container: Container, resource: str, device_class: str, reusable: Sequence[DeviceRequest | None]
) -> tuple[DeviceRequest | None, list[ContainerExtendedResourceRequest]]:
    """The request of one container, minus the devices that it can share with others. Upstream: createResourceRequestAndMappings"""
    requested: Mapping[str, object] = container.resources.requests
    amount = container.resources.requests.get(resource)
    if amount is None or not amount.value:
        return None, []
    mappings: list[ContainerExtendedResourceRequest] = []

    def mapped(request: str) -> None:
        mappings.append(ContainerExtendedResourceRequest(container_name=container.name, resource_name=resource, request_name=request))

    available = 0
    for reusable_request in reusable:
        if reusable_request is None:
            continue
        available += _count(reusable_request)
        mapped(reusable_request.name)
        if available >= amount.value:
            return None, mappings
    name = f"container-{index}-request-{sorted(requested).index(resource)}"
    mapped(name)
    exactly = ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=amount.value - available)
    return DeviceRequest(name=name, exactly=exactly), mappings


def _count(request: DeviceRequest) -> int:
    return 0 if request.exactly is None else request.exactly.count
