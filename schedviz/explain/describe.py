"""`describe_node` and `describe_pod`: the sums of `kubectl describe` from the API server's objects, next to those of the scheduler's cache.

They differ if the scheduler knows more (an assumed pod) or less (a watch event in flight, or lost).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.explanation import Part
from schedviz.explain.why import find_pod
from schedviz.kube.core import Container, Node, Pod, PodStatus, ResourceRequirements
from schedviz.trace.view import Resources

replace = msgspec.structs.replace


class NodeUnknownError(LookupError):
    """Neither the API server nor the cache has the node."""


class DescribedPod(Part, frozen=True):
    """A pod on a node, in the API server, the cache, or both."""

    pod: str
    requests: Resources
    limits: Resources
    #: Whether the API server has it bound to the node and not finished: kubectl counts it.
    assigned: bool
    #: "": the cache does not have it there.
    cached: Literal["", "added", "assumed"]


class NodeDescription(Part, frozen=True):
    """Requested and allocatable amounts of a node, as the API server and as the scheduler's cache has them. `pods` are sorted by name."""

    node: str
    #: In the API server; None if it does not have the node.
    allocatable: Resources | None
    requests: Resources
    limits: Resources
    #: In the cache's NodeInfo; None if there is none.
    cache_allocatable: Resources | None
    cache_requested: Resources | None
    pods: tuple[DescribedPod, ...]


class ContainerDescription(Part, frozen=True):
    """The requests of a container."""

    name: str
    init: bool
    requests: Resources
    limits: Resources


class PodDescription(Part, frozen=True):
    """The requests of a pod: the sum over containers, at least the largest init container, plus the overhead."""

    pod: str
    containers: tuple[ContainerDescription, ...]
    overhead: Resources
    requests: Resources
    limits: Resources
    #: Its defaults for scoring: millicores and bytes.
    non_zero_milli_cpu: int
    non_zero_memory: int
    #: The node that it is bound to or assumed on, and its allocatable capacity.
    node: str = ""
    allocatable: Resources | None = None


def describe_node(simulation: Simulation, name: str) -> NodeDescription:
    """The sums of a node. Raises `NodeUnknownError`. Upstream: kubectl pkg/describe/describe.go describeNodeResource"""
    node = simulation.cluster.find("Node", name)
    info = next((node for node in simulation.scheduler.state.cache.nodes if node.name == name), None)
    if node is None and info is None:
        raise NodeUnknownError(f"There is no node {name} at this moment.")
    pod_info = simulation.scheduler.state.pod_info
    assigned = {
        pod.key: pod for pod in simulation.stored_objects() if isinstance(pod, Pod) and pod.spec.node_name == name and not pod.is_finished
    }
    cached = {pod.key: pod for pod in info.pods} if info is not None else {}
    assumed = simulation.scheduler.state.cache.assumed_pods
    pods = tuple(
        DescribedPod(
            key,
            requests=pod_info(pod).requests.resource.to_view(),
            limits=_limits(pod, pod_info).to_view(),
            assigned=key in assigned,
            cached="" if key not in cached else "assumed" if cached[key].pod.uid in assumed else "added",
        )
        for key in sorted(assigned.keys() | cached.keys())
        for pod in [assigned[key] if key in assigned else cached[key].pod]
    )
    return NodeDescription(
        name,
        allocatable=Resource.of(node.status.allocatable).to_view() if isinstance(node, Node) else None,
        requests=_sum(pod_info(pod).requests.resource for pod in assigned.values()),
        limits=_sum(_limits(pod, pod_info) for pod in assigned.values()),
        cache_allocatable=info.allocatable.to_view() if info is not None else None,
        cache_requested=info.requested.to_view() if info is not None else None,
        pods=pods,
    )


def describe_pod(simulation: Simulation, key: str) -> PodDescription:
    """The requests of a pod (`namespace/name`), and the capacity of its node. Raises `PodUnknownError`."""
    pod = find_pod(simulation, key)
    cache = simulation.scheduler.state.cache
    state = cache.pod_states.get(pod.uid)
    where = pod.spec.node_name or (state.info.pod.spec.node_name if state is not None else "")
    info = next((node for node in cache.nodes if node.name == where), None)
    pod_info = simulation.scheduler.state.pod_info
    requests = pod_info(pod).requests
    return PodDescription(
        key,
        containers=(
            *(_container(container, init=True) for container in pod.spec.init_containers),
            *(_container(container) for container in pod.spec.containers),
        ),
        overhead=Resource.of(pod.spec.overhead).to_view(),
        requests=requests.resource.to_view(),
        limits=_limits(pod, pod_info).to_view(),
        non_zero_milli_cpu=requests.non_zero_milli_cpu,
        non_zero_memory=requests.non_zero_memory,
        node=where,
        allocatable=info.allocatable.to_view() if info is not None else None,
    )


def _container(container: Container, *, init: bool = False) -> ContainerDescription:
    resources = container.resources
    return ContainerDescription(container.name, init, Resource.of(resources.requests).to_view(), Resource.of(resources.limits).to_view())


def _limits(pod: Pod, pod_info: type[PodInfo]) -> Resource:
    """Limits add up like requests; overhead counts for resources that have a limit. Upstream: pkg/api/v1/resource/helpers.go PodLimits"""

    def as_requests(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        return tuple(replace(container, resources=_limits_as_requests(container.resources)) for container in containers)

    limited = {name for container in pod.spec.all_containers for name in container.resources.limits}
    overhead = {name: amount for name, amount in pod.spec.overhead.items() if name in limited}
    spec = replace(
        pod.spec,
        containers=as_requests(pod.spec.containers),
        init_containers=as_requests(pod.spec.init_containers),
        resources=None if pod.spec.resources is None else _limits_as_requests(pod.spec.resources),
        overhead=overhead,
    )
    # The status has requests that a kubelet allocated.
    return pod_info(replace(pod, spec=spec, status=PodStatus())).requests.resource


def _limits_as_requests(resources: ResourceRequirements) -> ResourceRequirements:
    return replace(resources, requests=resources.limits)


def _sum(resources: Iterable[Resource]) -> Resources:
    total = Resource()
    for resource in resources:
        total.add(resource, 1)
    return total.to_view()
