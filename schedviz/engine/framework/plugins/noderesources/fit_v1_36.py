"""NodeResourcesFit of v1.36: only what the pod requests is compared, and a request above a node's size is not helped by preemption.

Upstream: framework/plugins/noderesources/fit.go
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from schedviz.engine.config.plugin_args import NodeResourcesFitArgs, ScoringStrategy
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.formulas import POD_COUNT, Amount, Amounts, Formula
from schedviz.engine.framework.interface import Handle, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.device_classes import IMPLICIT_PREFIX, is_provided
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, has_place, queue_if
from schedviz.engine.framework.plugins.noderesources.fit import (
    PRE_FILTER_STATE_KEY,
    PRE_SCORE_STATE_KEY,
    Fit,
    PreFilterState,
    compute_pod_resource_request,
    mask_dtype,
    request_of,
)
from schedviz.engine.framework.plugins.noderesources.resource_allocation import (
    Allocation,
    PodRequestsState,
    is_scored,
    pod_request,
    pod_requests,
    with_devices,
)
from schedviz.engine.framework.plugins.noderesources.strategies import strategy_of
from schedviz.engine.framework.pod_groups import PodGroupAssignments, PodGroupInfo
from schedviz.engine.framework.resource import Resource, is_scalar_resource_name
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.verdicts import CODE_TYPE, Verdicts
from schedviz.kube.core import Node, Pod
from schedviz.kube.devices import DeviceClass
from schedviz.kube.meta import KubeObject

#: The bit of "Too many pods"; each compared resource has two bits: too little is free, and too little exists.
_PODS_BIT: Final = 1
#: Resource -> the member of `Resource` and of `PreFilterState` that has its amount; the others are scalar resources.
_MEMBERS: Final = (("cpu", "milli_cpu"), ("memory", "memory"), ("ephemeral-storage", "ephemeral_storage"))


@lru_cache(maxsize=1024)
def _shortages(checked: tuple[tuple[str, int], ...]) -> Formula:
    """What each row has too little of, as bits."""
    dtype = mask_dtype(2 * len(checked) + 1)

    def compute(pods: Amounts, max_pods: Amounts, *columns: Amounts) -> IntArray:
        short: IntArray = (pods + 1 > max_pods).astype(dtype)
        for index, (_, amount) in enumerate(checked):
            allocatable, requested = columns[2 * index], columns[2 * index + 1]
            short |= np.multiply(amount > allocatable - requested, 2 << 2 * index, dtype=dtype)
            short |= np.multiply(amount > allocatable, 4 << 2 * index, dtype=dtype)
        return short

    amounts = [POD_COUNT, Amount("allocatable", "pods")]
    for resource, _ in checked:
        amounts += (Amount("allocatable", resource), Amount("requested", resource))
    return Formula((names.NODE_RESOURCES_FIT, "v1.36", checked), amounts, compute)


class FitV136(Fit):
    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._handle = handle
        self._delegates_to_dra = handle.features.dra_extended_resource
        self._most_allocated = strategy_of(ScoringStrategy(type="MostAllocated"))

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        events = [
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN), _after_pod_event),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE), self._after_node_change),
        ]
        if self._delegates_to_dra:
            event = ClusterEvent(GVK.DEVICE_CLASS, ActionType.ADD | ActionType.UPDATE)
            events.append(ClusterEventWithHint(event, _after_device_class_event))
        return events

    def _after_node_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterNodeChange"""
        old_node, _ = before_and_after(Node, old, new)
        allocatable = Resource.of(after(Node, old, new).status.allocatable)
        request = compute_pod_resource_request(pod)
        if not self._fits_empty_node(request, allocatable):
            return QueueingHint.QUEUE_SKIP
        return queue_if(old_node is None or self._has_more(request, Resource.of(old_node.status.allocatable), allocatable))

    def _fits_empty_node(self, request: PreFilterState, allocatable: Resource) -> bool:
        """Upstream: isFit"""
        if allocatable.allowed_pod_number < 1:
            return False
        return not any(
            amount > _amount_of(allocatable, name) and not self._is_delegated_to_dra(name, _amount_of(allocatable, name))
            for name, amount in _requested(request)
        )

    def _has_more(self, request: PreFilterState, old: Resource, new: Resource) -> bool:
        """Upstream: haveAnyRequestedResourcesIncreased"""
        if new.allowed_pod_number > old.allowed_pod_number:
            return True
        return any(
            _amount_of(new, name) > _amount_of(old, name) or self._is_delegated_to_dra(name, _amount_of(new, name))
            for name, _ in _requested(request)
        )

    def _is_delegated_to_dra(self, resource: str, allocatable: int) -> bool:
        """Whether devices provide a scalar resource that the node does not have. Upstream: shouldDelegateResourceToDRA"""
        return self._delegates_to_dra and allocatable <= 0 and is_provided(self._handle, resource)

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        """Each row's shortages as bits, and one status for each combination of them. Upstream: fitsRequest"""
        try:
            request = state.read(PRE_FILTER_STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'error reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}'))
        checked = self._checked(request)
        shortages = rows.formula(_shortages(tuple(checked)))
        if not shortages.any():
            return None
        shortages = self._without_devices(shortages, checked, rows)
        statuses = [SUCCESS]
        if shortages.dtype != np.int16:
            masks, shortages = np.unique(shortages, return_inverse=True)
        else:
            # Sorting all rows takes longer than a table of all masks.
            masks = np.arange(int(shortages.max()) + 1)
        table = np.zeros(len(masks), CODE_TYPE)
        for code in np.flatnonzero(np.bincount(shortages, minlength=len(masks))).tolist():
            mask = int(masks[code])
            if mask:
                table[code] = len(statuses)
                statuses.append(self._status_of(mask, checked))
        return Verdicts(table[shortages], statuses)

    def sums_key(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """None if devices may provide a resource that nodes lack."""
        key = super().sums_key(state, pod)
        if key is None or not self._delegates_to_dra:
            return key
        return None if any("/" in name for name, _ in self._checked(state.read(PRE_FILTER_STATE_KEY))) else key

    def _checked(self, request: PreFilterState) -> list[tuple[str, int]]:
        return [(name, amount) for name, amount in _requested(request) if not self._is_ignored(name)]

    def _without_devices(self, shortages: IntArray, checked: Sequence[tuple[str, int]], rows: Rows) -> IntArray:
        """Clear the shortages of resources that devices provide on nodes that have none of them."""
        if not self._delegates_to_dra or not any("/" in name for name, _ in checked):
            return shortages
        for index, (name, _) in enumerate(checked):
            if is_provided(self._handle, name):
                shortages = np.where(rows.allocatable(name) > 0, shortages, shortages & ~(6 << 2 * index))
        return shortages

    def _status_of(self, mask: int, checked: Sequence[tuple[str, int]]) -> Status:
        reasons = ["Too many pods"] if mask & _PODS_BIT else []
        reasons += [f"Insufficient {name}" for index, (name, _) in enumerate(checked) if mask >> 2 * index & 2]
        is_too_large = any(mask >> 2 * index & 4 for index in range(len(checked)))
        key = (*reasons, "unresolvable") if is_too_large else tuple(reasons)
        if key not in self._statuses:
            self._statuses[key] = unresolvable(*reasons) if is_too_large else unschedulable(*reasons)
        return self._statuses[key]

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        state.write(PRE_SCORE_STATE_KEY, self._requests(pod, rows))
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:
        try:
            requests = state.read(PRE_SCORE_STATE_KEY)
        except NotFoundError:  # PreScore is disabled.
            requests = self._requests(pod, rows)
        return self._scorer.score(rows, requests.requests, requests.devices)

    def _requests(self, pod: PodInfo, rows: Rows) -> PodRequestsState:
        return with_devices(pod_requests(pod, self._resources, use_requested=False), self._handle, self._resources, rows)

    def score_placement(self, group: PodGroupInfo, assignments: PodGroupAssignments) -> int | Status:  # noqa: ARG002
        """The MostAllocated score of the placement's nodes together, with the group's pods. Upstream: scorePlacement"""
        snapshot, nodes = self._handle.snapshot, assignments.placement.nodes
        rows = snapshot.rows(None if nodes is None else np.array([snapshot.row_of[name] for name in nodes], dtype=np.intp))
        allocations = []
        for resource in self._resources:
            name = resource.name
            own = sum(pod_request(pod, name, use_requested=False) for pod, _ in assignments.proposed)
            if not is_scored(name) or (not own and is_scalar_resource_name(name)):
                continue
            used = rows.non_zero_requested(name) if name in ("cpu", "memory") else rows.requested(name)
            allocatable = rows.allocatable(name)
            total = np.array([allocatable.sum()], np.int64)
            # What pods use on nodes that have none of the resource does not count.
            requested = np.array([used[allocatable != 0].sum() + own], np.int64)
            allocations.append(Allocation(resource.weight, total, requested, own))
        return int(self._most_allocated(allocations, 1)[0])

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        return sign_requests(pod, self._handle)


def sign_requests(pod: PodInfo, handle: Handle) -> Sequence[tuple[str, object]] | None:
    """The requests; None if devices may provide one of them."""
    request = compute_pod_resource_request(pod)
    if handle.features.dra_extended_resource and any(amount and is_provided(handle, name) for name, amount in request.scalar):
        return None
    return ((signers.RESOURCES, _signed(request)),)


def _signed(request: PreFilterState) -> dict[str, Any]:
    """The requests as upstream's Resource is written to JSON."""
    return {
        "MilliCPU": request.milli_cpu,
        "Memory": request.memory,
        "EphemeralStorage": request.ephemeral_storage,
        "AllowedPodNumber": 0,
        "ScalarResources": dict(request.scalar) or None,
    }


def _requested(request: PreFilterState) -> list[tuple[str, int]]:
    """The resources that the pod requests, with their amounts."""
    own = [(name, getattr(request, member)) for name, member in _MEMBERS]
    return [(name, amount) for name, amount in (*own, *request.scalar) if amount > 0]


def _amount_of(resource: Resource, name: str) -> int:
    member = dict(_MEMBERS).get(name)
    amount: int = resource.scalar.get(name, 0) if member is None else getattr(resource, member)
    return amount


def _after_pod_event(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodEvent, isSchedulableAfterPodScaleDown"""
    old_pod, new_pod = before_and_after(Pod, old, new)
    if new_pod is None:
        return queue_if(old_pod is not None and has_place(old_pod))
    if new_pod.uid == pod.uid:
        return QueueingHint.QUEUE
    if not new_pod.spec.node_name or old_pod is None:
        return QueueingHint.QUEUE_SKIP
    old_requests, new_requests = pod.info_of(old_pod).requests.resource, pod.info_of(new_pod).requests.resource
    requested = request_of(pod.requests.resource)
    return queue_if(any(_amount_of(old_requests, name) > _amount_of(new_requests, name) for name, _ in _requested(requested)))


def _after_device_class_event(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterDeviceClassEvent"""
    requested = {name for name, _ in compute_pod_resource_request(pod).scalar}
    old_class, _ = before_and_after(DeviceClass, old, new)
    new_class = after(DeviceClass, old, new)
    provided = new_class.spec.extended_resource_name or ""
    if old_class is not None and (old_class.spec.extended_resource_name or "") == provided:
        return QueueingHint.QUEUE_SKIP
    return queue_if(provided in requested or (old_class is None and f"{IMPLICIT_PREFIX}{new_class.name}" in requested))
