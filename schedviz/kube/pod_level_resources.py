"""The defaults that an API server of v1.36 sets for pods with pod-level resources.

Upstream: pkg/apis/core/v1/defaults.go defaultHugePagePodLimits, defaultPodRequests
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from schedviz.kube.core import Container, PodSpec, ResourceList, ResourceRequirements
from schedviz.kube.quantity import Quantity

#: `restartPolicy` of a sidecar.
ALWAYS: Final = "Always"
_HUGE_PAGES: Final = "hugepages-"


def is_supported(name: str) -> bool:
    """Whether the resource can be set at pod level. Upstream: component-helpers/resource/helpers.go IsSupportedPodLevelResource"""
    return name in ("cpu", "memory") or name.startswith(_HUGE_PAGES)


def completed(spec: PodSpec, resources: ResourceRequirements) -> ResourceRequirements:
    """The pod's own resources with defaults for limits of huge pages and for requests."""
    limits, requests = dict(resources.limits), dict(resources.requests)
    if not limits and not requests:
        return resources
    for name, amount in _total(spec, lambda container: container.resources.limits).items():
        if name.startswith(_HUGE_PAGES) and name not in requests:
            limits.setdefault(name, amount)
    if limits:
        for name, amount in _total(spec, _requests).items():
            if is_supported(name) and not name.startswith(_HUGE_PAGES):
                requests.setdefault(name, amount)
        for name, amount in limits.items():
            if is_supported(name):
                requests.setdefault(name, amount)
    return replace(resources, limits=limits, requests=requests)


def _requests(container: Container) -> ResourceList:
    """A container's requests; limits are the defaults."""
    return {**container.resources.limits, **container.resources.requests}


def _total(spec: PodSpec, of: Callable[[Container], ResourceList]) -> ResourceList:
    """The sum over containers and sidecars, but at least the largest need of the init containers, which run one after the other.

    Upstream: component-helpers/resource/helpers.go AggregateContainerRequests
    """
    total = _sum(of(container) for container in spec.containers)
    sidecars: ResourceList = {}
    maximum: ResourceList = {}
    for container in spec.init_containers:
        if container.restart_policy == ALWAYS:
            total, sidecars = _sum((total, of(container))), _sum((sidecars, of(container)))
            maximum = _greatest(maximum, sidecars)
        else:
            maximum = _greatest(maximum, _sum((of(container), sidecars)))
    return _greatest(total, maximum)


def _sum(lists: Iterable[ResourceList]) -> ResourceList:
    total: dict[str, Quantity] = {}
    for amounts in lists:
        for name, amount in amounts.items():
            total[name] = total[name].plus(amount) if name in total else amount
    return total


def _greatest(first: ResourceList, second: ResourceList) -> ResourceList:
    greatest = dict(first)
    for name, amount in second.items():
        if name not in greatest or amount.compare(greatest[name]) > 0:
            greatest[name] = amount
    return greatest
