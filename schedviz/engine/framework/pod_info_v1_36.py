"""`PodInfo` as v1.36 computes it: sidecars, requests of the whole pod, and resizes in place.

Upstream: framework/types.go PodInfo.CalculateResource, component-helpers/resource/helpers.go PodRequests, util/utils.go GetHostPorts
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, Final

import msgspec

from schedviz.engine.features import Features
from schedviz.engine.framework.resource import (
    DEFAULT_MEMORY_REQUEST,
    DEFAULT_MILLI_CPU_REQUEST,
    PodRequests,
    exact_amount,
    pod_requests,
    requests_of,
)
from schedviz.engine.framework.types import HostPort, PodInfo, host_ports_of
from schedviz.kube.core import Container, ContainerStatus, Pod, ResourceList
from schedviz.kube.pod_level_resources import ALWAYS, is_supported

#: Billionths, the precision limit of quantities, by resource.
Amounts = dict[str, int]

#: What a container without a request counts as, for scores.
_NON_MISSING: Final[Mapping[str, int]] = {"cpu": DEFAULT_MILLI_CPU_REQUEST * 10**6, "memory": DEFAULT_MEMORY_REQUEST * 10**9}


class ResourceOptions(msgspec.Struct, frozen=True):
    """What counts as a pod's request. Upstream: component-helpers/resource/helpers.go PodResourcesOptions"""

    use_status_resources: bool = True
    use_pod_level_status: bool = True
    skip_pod_level_resources: bool = False


class PodInfoV136(PodInfo):
    """A pod with the data that the scheduler computes from it."""

    __slots__ = ()

    options: ClassVar[ResourceOptions] = ResourceOptions()
    is_removed_as_added: ClassVar[bool] = True

    @property
    def requests(self) -> PodRequests:
        """The pod's requests."""
        if self._requests is None:
            self._requests = pod_requests(self.pod) if _is_plain(self.pod) else _requests(self.pod, self.options)
        return self._requests

    @property
    def spec_requests(self) -> PodRequests:
        """The requests of a pod that is to be scheduled. Upstream: noderesources/fit.go computePodResourceRequest"""
        if _is_plain(self.pod):
            return self.requests
        return _requests(self.pod, msgspec.structs.replace(self.options, use_status_resources=False))

    @property
    def container_requests(self) -> PodRequests:
        """NodeResourcesFit scores by these: upstream does not pass the gates to its scorer."""
        if _is_plain(self.pod):
            return self.requests
        options = ResourceOptions(use_status_resources=False, skip_pod_level_resources=True)
        non_zero = pod_request_amounts(self.pod, options, _NON_MISSING)
        return requests_of(pod_request_amounts(self.pod, options), non_zero.get("cpu", 0), non_zero.get("memory", 0))

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The host ports of the pod's sidecars and containers."""
        if self._host_ports is None:
            sidecars = [container for container in self.pod.spec.init_containers if _is_sidecar(container)]
            self._host_ports = host_ports_of([*sidecars, *self.pod.spec.containers])
        return self._host_ports

    def _computes_the_same(self, pod: Pod) -> bool:
        own, others = self.pod, pod
        return (
            super()._computes_the_same(pod)
            and own.spec.resources == others.spec.resources
            and (own.status is others.status or _status_resources(own) == _status_resources(others))
        )


@lru_cache(maxsize=16)
def pod_info_class(features: Features) -> type[PodInfo]:
    """The class of PodInfos under these feature gates."""
    chosen = msgspec.structs.replace(_resize_options(features), skip_pod_level_resources=not features.pod_level_resources)

    class Chosen(PodInfoV136):
        __slots__ = ()
        options = chosen

    return Chosen


def is_scaled_down(new: Pod, old: Pod, features: Features) -> bool:
    """Whether any request became smaller or vanished. Pod-level requests count whether or not their gate is on.

    Upstream: framework/events.go extractPodScaleDown
    """
    if new.spec is old.spec and _status_resources(new) == _status_resources(old):
        # Most updates are of a status without resources.
        return False
    options = _resize_options(features)
    now, before = pod_request_amounts(new, options), pod_request_amounts(old, options)
    return any(name not in now or _milli_value(amount) > _milli_value(now[name]) for name, amount in before.items())


def _resize_options(features: Features) -> ResourceOptions:
    return ResourceOptions(
        use_status_resources=features.in_place_pod_vertical_scaling,
        use_pod_level_status=features.in_place_pod_level_resources_vertical_scaling,
    )


def _milli_value(billionths: int) -> int:
    """Thousandths, rounded up."""
    return -(-billionths // 10**6)


def _is_plain(pod: Pod) -> bool:
    """Whether v1.27.1's sum is the pod's request."""
    spec, status = pod.spec, pod.status
    return (
        spec.resources is None
        and not status.container_statuses
        and not status.init_container_statuses
        and not any(_is_sidecar(container) for container in spec.init_containers)
    )


def _status_resources(pod: Pod) -> object:
    status = pod.status
    return (
        status.container_statuses,
        status.init_container_statuses,
        status.resources,
        status.allocated_resources,
        [condition.reason for condition in status.conditions if condition.type == "PodResizePending"],
    )


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == ALWAYS


def _requests(pod: Pod, options: ResourceOptions) -> PodRequests:
    """Upstream: PodInfo.CalculateResource"""
    requests = pod_request_amounts(pod, options)
    has_pod_level = not options.skip_pod_level_resources and _has_pod_level_requests(pod)
    missing = {name: amount for name, amount in _NON_MISSING.items() if not (has_pod_level and name in requests)}
    non_zero = pod_request_amounts(pod, options, missing) if missing else requests
    return requests_of(requests, non_zero.get("cpu", 0), non_zero.get("memory", 0))


def pod_request_amounts(pod: Pod, options: ResourceOptions, missing: Mapping[str, int] = {}) -> Amounts:
    """The pod's requests; `missing` replaces what a container does not request. Upstream: PodRequests"""
    totals = _container_amounts(pod, options, missing)
    level = pod.spec.resources
    if not options.skip_pod_level_resources and level is not None and _has_pod_level_requests(pod):
        spec = _amounts(level.requests)
        effective = spec
        if options.use_status_resources and options.use_pod_level_status and pod.status.resources is not None:
            effective = _effective(pod, spec, _amounts(pod.status.resources.requests), _amounts(pod.status.allocated_resources))
        for name in spec:
            if is_supported(name):
                totals[name] = effective.get(name, 0)
    for name, amount in _amounts(pod.spec.overhead).items():
        totals[name] = totals.get(name, 0) + amount
    return totals


def _container_amounts(pod: Pod, options: ResourceOptions, missing: Mapping[str, int]) -> Amounts:
    """The sum over containers and sidecars, at least what the init containers need in their turn. Upstream: AggregateContainerRequests"""
    statuses: dict[str, ContainerStatus] = {}
    if options.use_status_resources:
        statuses = {status.name: status for status in (*pod.status.container_statuses, *pod.status.init_container_statuses)}

    def of(container: Container, *, with_status: bool) -> Amounts:
        amounts = _amounts(container.resources.requests)
        status = statuses.get(container.name) if with_status else None
        if status is not None and status.resources is not None:
            amounts = _effective(pod, amounts, _amounts(status.resources.requests), _amounts(status.allocated_resources))
        return {**{name: amount for name, amount in missing.items() if name not in amounts}, **amounts} if missing else amounts

    totals: Amounts = {}
    for container in pod.spec.containers:
        _add(totals, of(container, with_status=True))
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in pod.spec.init_containers:
        amounts = of(container, with_status=_is_sidecar(container))
        if _is_sidecar(container):
            _add(totals, amounts)
            _add(sidecars, amounts)
            _raise_to(most, sidecars)
        else:
            turn = dict(amounts)
            _add(turn, sidecars)
            _raise_to(most, turn)
    _raise_to(totals, most)
    return totals


def _effective(pod: Pod, spec: Amounts, actuated: Amounts, allocated: Amounts) -> Amounts:
    """The greatest of the requested, actual and allocated amounts; the request of an infeasible resize does not count. Upstream:
    determineEffectiveRequests
    """
    effective = dict(actuated)
    _raise_to(effective, allocated)
    if not _is_resize_infeasible(pod):
        _raise_to(effective, spec)
    return effective


def _is_resize_infeasible(pod: Pod) -> bool:
    reasons = [condition.reason for condition in pod.status.conditions if condition.type == "PodResizePending"]
    return bool(reasons) and reasons[0] == "Infeasible"


def _has_pod_level_requests(pod: Pod) -> bool:
    return pod.spec.resources is not None and any(map(is_supported, pod.spec.resources.requests))


def _amounts(listed: ResourceList) -> Amounts:
    return {name: exact_amount(quantity) for name, quantity in listed.items()}


def _add(totals: Amounts, amounts: Mapping[str, int]) -> None:
    for name, amount in amounts.items():
        totals[name] = totals.get(name, 0) + amount


def _raise_to(totals: Amounts, amounts: Mapping[str, int]) -> None:
    """Raise each total to at least this amount."""
    for name, amount in amounts.items():
        totals[name] = max(totals[name], amount) if name in totals else amount
