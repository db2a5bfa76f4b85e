"""DynamicResources of v1.36: allocates the devices that a pod's claims request.

Deviations: the time that a search takes is counted in steps (`NANOS_PER_STEP`), because virtual time passes between cycles only. The gates
DRAWorkloadResourceClaims and DRANodeAllocatableResources, which are off by default, have no effect here.

Upstream: framework/plugins/dynamicresources/dynamicresources.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec.structs import replace

from schedviz.engine.clock import EPOCH_SECONDS
from schedviz.engine.config.durations import parse_duration
from schedviz.engine.config.plugin_args import DynamicResourcesArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import PRE_BIND_WAIT_KEY, Handle, PostFilterResult, PreBindWait, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.dynamicresources.binding_conditions import (
    BindingConditionError,
    has_conditions,
    is_ready,
    is_timed_out,
)
from schedviz.engine.framework.plugins.dynamicresources.claim_binder import BindError, ClaimBinder
from schedviz.engine.framework.plugins.dynamicresources.claim_tracker import ClaimNotFoundError, ClaimTracker
from schedviz.engine.framework.plugins.dynamicresources.claims import (
    ClaimError,
    claims_of,
    is_reserved_for,
    with_allocation,
    with_finalizer,
)
from schedviz.engine.framework.plugins.dynamicresources.dra_manager import DRAManager
from schedviz.engine.framework.plugins.dynamicresources.extended_resources import (
    Requests,
    find_special_claim,
    is_extended,
    is_in_memory,
    new_special_claim,
    requests_of,
    with_requests,
)
from schedviz.engine.framework.plugins.dynamicresources.state import STATE_KEY, NodeAllocation, StateData
from schedviz.engine.framework.plugins.dynamicresources.structured import AllocationError, NodeAllocationError
from schedviz.engine.framework.plugins.dynamicresources.structured.allocator import INVALID_POOLS, ClaimsAllocator
from schedviz.engine.framework.plugins.dynamicresources.structured.free_devices import FREE, SEARCH
from schedviz.engine.framework.plugins.dynamicresources.structured.search import MAX_STEPS, TooLongError
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.helper.normalize_score import default_normalize_score
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import (
    GVK,
    NANOS_PER_SECOND,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    NodeInfo,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.devices import AllocationResult, DeviceRequest, ResourceClaim
from schedviz.kube.meta import KubeObject
from schedviz.kube.selectors import SelectorError

#: Upstream: apis/config DynamicResourcesBindingTimeoutDefault
_BINDING_TIMEOUT: Final = "600s"
#: What a step of the search counts as against the filter timeout, in nanoseconds.
NANOS_PER_STEP: Final = 10_000
#: Upstream: resource/v1 FirstAvailableDeviceRequestMaxSize
FIRST_AVAILABLE_MAX_SIZE: Final = 8
#: How many pods can use a claim. Upstream: resource/v1 ResourceClaimReservedForMaxSize
MAX_USERS: Final = 256

_CANNOT_ALLOCATE: Final = unresolvable("cannot allocate all claims")
_IN_USE: Final = unresolvable("resourceclaim in use")
_NOT_ON_NODE: Final = unresolvable("resourceclaim not available on the node")
_STALE_SPECIAL_CLAIM: Final = unresolvable("cannot schedule extended resource claim")
_CANNOT_FIT: Final = unresolvable("cannot fit resource")
#: By the results of `FreeDevices`.
_FREE_STATUSES: Final = (SUCCESS, _CANNOT_ALLOCATE, unresolvable(INVALID_POOLS))


class DynamicResources:
    name = names.DYNAMIC_RESOURCES

    def __init__(self, args: DynamicResourcesArgs, handle: Handle) -> None:
        self._handle = handle
        self._max_steps = _max_steps(args, handle)
        self._binding_timeout = parse_duration(args.binding_timeout or _BINDING_TIMEOUT)
        self._binder = ClaimBinder(handle, lambda: self._tracker, self._now_seconds)

    @property
    def _manager(self) -> DRAManager:
        manager = self._handle.dra_manager
        assert isinstance(manager, DRAManager)
        return manager

    @property
    def _tracker(self) -> ClaimTracker:
        return self._manager.claims

    def _now_seconds(self) -> float:
        return EPOCH_SECONDS + self._handle.clock() / NANOS_PER_SECOND

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.NODE, nodes)),
            ClusterEventWithHint(ClusterEvent(GVK.RESOURCE_CLAIM, add_or_update), self._after_claim_change),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM), self._after_pod_change),
            ClusterEventWithHint(ClusterEvent(GVK.DEVICE_CLASS, add_or_update)),
            ClusterEventWithHint(ClusterEvent(GVK.RESOURCE_SLICE, add_or_update)),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """The pod's claims must exist."""
        try:
            claims_of(pod.pod, self._tracker)
        except ClaimError as error:
            return unresolvable(str(error))
        return SUCCESS

    # PreFilter.

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        data = StateData()
        state.write(STATE_KEY, data)
        try:
            claims = claims_of(pod.pod, self._tracker)
        except ClaimError as error:
            return None, unresolvable(str(error))
        special = self._special_claim(pod, data)
        user_claim_count = len(claims)
        if special is not None:
            claims.append(special)
        if not claims:
            return None, SKIP
        allocations: list[AllocationResult | None] = []
        for index, claim in enumerate(claims):
            shared = self._tracker.allocation_of_group(claim.uid) if state.is_pod_group_scheduling_cycle else None
            allocations.append(None if claim.status.allocation is not None else shared)
            status = SUCCESS if allocations[-1] is not None else self._check_claim(pod, claim, is_special=index >= user_claim_count)
            if not status.is_success:
                return None, status
        data.claims, data.user_claim_count = claims, user_claim_count
        data.special_uid = "" if special is None else special.uid
        data.allocations = allocations
        data.needs_allocator = any(claim.status.allocation is None for claim in claims)
        try:
            data.selectors()
        except SelectorError as error:
            return None, as_status(str(error))
        if data.needs_allocator:
            data.inputs = self._manager.inputs()
            data.allocator = self._manager.allocator(data.inputs, max_steps=self._max_steps)
        return None, SUCCESS

    def _special_claim(self, pod: PodInfo, data: StateData) -> ResourceClaim | None:
        """The claim for the pod's extended resources; None: device classes provide none. Upstream: preFilterExtendedResources"""
        if not self._handle.features.dra_extended_resource:
            return None
        scalar_requests = pod.spec_requests.resource.scalar
        if not any(
            amount and is_extended(name) and self._manager.device_classes.class_name_for(name) is not None
            for name, amount in scalar_requests.items()
        ):
            return None
        data.scalar_resources = dict(scalar_requests)
        return find_special_claim(pod.pod, self._tracker) or new_special_claim(pod.pod)

    def _check_claim(self, pod: PodInfo, claim: ResourceClaim, *, is_special: bool) -> Status:
        """Whether a claim can be allocated, or the pod can use its allocation."""
        if claim.status.allocation is not None:
            return SUCCESS if len(claim.status.reserved_for) < MAX_USERS or is_reserved_for(pod.pod, claim) else _IN_USE
        if self._tracker.pending_allocation(claim.uid) is not None:
            return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
        if is_special:
            return SUCCESS
        for request in claim.spec.devices.requests:
            status = self._check_request(claim, request)
            if not status.is_success:
                return status
        return SUCCESS

    def _check_request(self, claim: ResourceClaim, request: DeviceRequest) -> Status:
        name = request.name
        if request.exactly is not None:
            return self._check_device_class(request.exactly.device_class_name, name)
        where = f"resource claim {claim.key}, request {name}"
        if not request.first_available:
            return unresolvable(f"{where}: unknown request type")
        if not self._handle.features.dra_prioritized_list:
            return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for subrequest in request.first_available:
            status = self._check_device_class(subrequest.device_class_name, f"{name}/{subrequest.name}")
            if not status.is_success:
                return status
        return SUCCESS

    def _check_device_class(self, device_class: str, request: str) -> Status:
        """Upstream: validateDeviceClass"""
        if not device_class:
            return as_status(f"request {request}: unsupported request type")
        if self._manager.device_class(device_class) is None:
            return unresolvable(f"request {request}: device class {device_class} does not exist")
        return SUCCESS

    # Filter.

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        """Look for devices on each node; after an error, which ends the cycle, on none."""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(str(error)))
        if not data.claims:
            return None
        self._restore_allocator(data, pod)
        statuses: list[Status] = []
        for info in rows.infos:
            status = self._filter_node(data, pod, info)
            statuses.append(status)
            if not status.is_success and not status.is_unschedulable:
                statuses += [SUCCESS] * (len(rows) - len(statuses))
                break
            if len(statuses) == 1 and len(rows) > 1:
                # After the search of the first node, it is known whether arrays decide about the others.
                verdicts = self._read_free(data, rows)
                if verdicts is not None:
                    return None if verdicts.rejects_none else verdicts
        return None if all(status is SUCCESS for status in statuses) else Verdicts.of(statuses)

    def _read_free(self, data: StateData, rows: Rows) -> Verdicts | None:
        """The verdicts on all rows for a pod with one plain request; None: at least one node must be searched."""
        request = None if data.for_claims is None or len(data.claims) > 1 else data.for_claims.plain
        if request is None or data.special_claim is not None:
            return None
        assert data.allocator is not None
        assert data.inputs is not None
        if not self._manager.is_quick(request, len(rows), steps=data.allocator.steps_for(len(rows) - 1)):
            return None
        free = self._manager.free_devices(request, data.inputs)
        codes = rows.node_column(("free devices", request), free.code_of, version=free.version)
        results = free.results_of(codes)
        if (results == SEARCH).any():
            return None
        data.allocator.add_time_for(len(rows) - 1)
        data.free.append((rows, results == FREE))
        return Verdicts(results, _FREE_STATUSES if results.any() else (SUCCESS,))

    def _restore_allocator(self, data: StateData, pod: PodInfo) -> None:
        if data.needs_allocator and data.allocator is None:
            data.inputs = self._manager.restored_inputs(pod.uid)
            data.allocator = self._manager.allocator(data.inputs, max_steps=self._max_steps)
            if data.steps_left is not None:
                data.allocator.steps_left = data.steps_left

    def _filter_node(self, data: StateData, pod: PodInfo, info: NodeInfo) -> Status:
        """Upstream: Filter"""
        special = data.special_claim
        requests: Requests | None = None
        if special is not None:
            status, requests = self._extended_requests(data, special, pod, info)
            if not status.is_success:
                return status
            if requests is None and not data.user_claim_count:
                return SUCCESS
        unavailable = self._unavailable(data, info)
        if data.allocator is not None:
            status = self._allocate(data, info, requests)
            if not status.is_success:
                return status
        if unavailable:
            data.unavailable.update(unavailable)
            data.found.pop(info.name, None)
            return _NOT_ON_NODE
        return SUCCESS

    def _extended_requests(self, data: StateData, special: ResourceClaim, pod: PodInfo, info: NodeInfo) -> tuple[Status, Requests | None]:
        """What the special claim requests on a node; None: nothing has to be allocated for it. Upstream: filterExtendedResources"""
        if special.spec.devices.requests:
            return _STALE_SPECIAL_CLAIM, None
        needed: list[str] = []
        allocatable = info.allocatable.scalar
        for resource, amount in data.scalar_resources.items():
            if not amount or not is_extended(resource):
                continue
            if self._manager.device_classes.class_name_for(resource) is not None and not allocatable.get(resource, 0):
                needed.append(resource)
            elif resource not in allocatable:
                return _CANNOT_FIT, None
        if (not needed and not data.user_claim_count) or special.status.allocation is not None:
            return SUCCESS, None
        return SUCCESS, requests_of(pod.pod, needed, self._manager.device_classes)

    def _unavailable(self, data: StateData, info: NodeInfo) -> list[int]:
        """The places of allocated claims that the node cannot use."""
        indices: list[int] = []
        if not any(claim.status.allocation is not None for claim in data.claims):
            return indices
        assert info.node is not None
        for index, (claim, selector) in enumerate(zip(data.claims, data.selectors(), strict=True)):
            if claim.status.allocation is None:
                continue
            is_elsewhere = selector is not None and not selector.match(info.node)
            if is_elsewhere or (self._handle.features.waits_for_binding_conditions and self._has_failed(claim)):
                indices.append(index)
        return indices

    def _has_failed(self, claim: ResourceClaim) -> bool:
        """Whether the devices of a claim were not prepared in time, or cannot be."""
        try:
            return not is_ready(claim) and self._is_timed_out(claim)
        except BindingConditionError:
            return True

    def _is_timed_out(self, claim: ResourceClaim) -> bool:
        return is_timed_out(claim, now_seconds=self._now_seconds(), timeout=self._binding_timeout)

    def _allocate(self, data: StateData, info: NodeInfo, requests: Requests | None) -> Status:
        """Look for devices for all claims without any on a node.

        Pods of the node do not matter, so dry runs of preemption, which try a node with fewer and fewer of them, search it once. Deviation:
        upstream searches each time, and finds the same.
        """
        if requests is not None:
            return self._search(data, info, requests)
        if info.name not in data.searched:
            data.searched[info.name] = self._search(data, info, None)
        return data.searched[info.name]

    def _search(self, data: StateData, info: NodeInfo, requests: Requests | None) -> Status:
        assert data.allocator is not None
        assert info.node is not None
        finder, allocation = self._finder(data, requests)
        try:
            result = finder.find(info.node)
        except TooLongError:
            return as_status(f"node {info.name}: timed out trying to allocate devices")
        except NodeAllocationError as error:
            return unresolvable(str(error))
        except AllocationError as error:
            return as_status(str(error))
        if result is None:
            return _CANNOT_ALLOCATE
        data.found[info.name] = (result, allocation)
        return SUCCESS

    def _finder(self, data: StateData, requests: Requests | None) -> tuple[ClaimsAllocator, NodeAllocation]:
        """The allocator for a node, and the form of its result: the same for all nodes, unless the special claim depends on the node."""
        assert data.allocator is not None
        special = data.special_claim
        if requests is not None and special is not None and special.status.allocation is None:
            claims = (*(claim for index, claim in data.to_search() if index < data.user_claim_count), with_requests(special, requests[0]))
            allocation = NodeAllocation(claims=claims, has_special=True, mappings=requests[1], pending=data.pending)
            return data.allocator.for_claims(claims), allocation
        if data.for_claims is None:
            claims = tuple(claim for _, claim in data.to_search())
            data.for_claims, data.common_allocation = data.allocator.for_claims(claims), NodeAllocation(claims=claims, pending=data.pending)
        return data.for_claims, data.common_allocation

    # PostFilter.

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:  # noqa: ARG002
        """Deallocate one claim that keeps the pod from a node."""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return None, as_status(str(error))
        if not data.claims:
            return None, unschedulable("no new claims to deallocate")
        special = data.special_claim
        is_stale = special is not None and not is_in_memory(special)
        for index in sorted(data.unavailable):
            if index >= data.user_claim_count:
                if is_stale:
                    break
                continue
            claim = data.claims[index]
            reserved_for = claim.status.reserved_for
            if not reserved_for or (len(reserved_for) == 1 and reserved_for[0].uid == pod.uid):
                freed = replace(claim, status=replace(claim.status, reserved_for=(), allocation=None, devices=()))
                updated = self._handle.client.update_claim_status(freed)
                if not isinstance(updated, ResourceClaim):
                    return None, as_status(updated)
                return None, unschedulable("deallocation of ResourceClaim completed")
        if special is not None and is_stale:
            failure = self._binder.delete(special)
            return None, unschedulable("deletion of ResourceClaim completed") if failure is None else as_status(failure)
        return None, unschedulable("still not schedulable")

    # Score.

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        """How early in prioritized lists the devices of each node stand."""
        if not self._handle.features.dra_prioritized_list:
            return uniform(len(rows), 0)
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        if not any(request.first_available for claim in data.claims for request in claim.spec.devices.requests):
            return uniform(len(rows), 0)
        return np.array([self._score_node(data, name) for name in rows.names], np.int64)

    def _score_node(self, data: StateData, name: str) -> int:
        """Upstream: computeScore"""
        node = data.on_node(name)
        if node is None:
            return 0
        score = 0
        results = iter(node.results)
        for claim in data.claims:
            allocation = claim.status.allocation or next(results)
            used = {result.request for result in allocation.devices.results}
            for request in claim.spec.devices.requests:
                for index, subrequest in enumerate(request.first_available):
                    if f"{request.name}/{subrequest.name}" in used:
                        score += FIRST_AVAILABLE_MAX_SIZE - index
        return score

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return default_normalize_score(scores)

    # Reserve.

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        """Take the devices that Filter found, so that no other pod gets them."""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        to_allocate = list(data.to_allocate())
        if not to_allocate:
            return SUCCESS
        try:
            node = data.on_node(node_name)
        except AllocationError as error:
            return as_status(str(error))
        data.found = {node_name: data.found[node_name]} if node is not None else {}
        data.free = []
        data.needs_allocator = False
        data.allocator = data.for_claims = data.inputs = None
        if node is None or not node.results:
            # A device plugin provides all extended resources.
            if all(index >= data.user_claim_count for index, _ in to_allocate):
                return SUCCESS
            return as_status("claim allocation not found for node")
        # As upstream, results are assigned in this order, although those of claims that the group shares stand at their end.
        for (index, claim), allocation in zip(to_allocate, node.results, strict=True):
            data.allocations[index] = allocation
            reserved = node.special_claim if index >= data.user_claim_count else claim
            assert reserved is not None
            in_flight = with_allocation(with_finalizer(reserved), allocation)
            self._tracker.signal_pending_allocation(claim.uid, in_flight, in_group_cycle=state.is_pod_group_scheduling_cycle)
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:  # noqa: ARG002 - the extension point's shape
        """Give the devices back, and the claims that list the pod as their user."""
        if STATE_KEY not in state:
            return
        data = state.read(STATE_KEY)
        for claim in data.claims[: data.user_claim_count]:
            if self._tracker.remove_pending_allocation(claim.uid):
                self._tracker.restore(claim.key)
            if claim.status.allocation is not None and is_reserved_for(pod.pod, claim):
                self._handle.client.unreserve_claim(claim, pod.pod)
        special = data.special_claim
        if special is None:
            return
        if self._tracker.remove_pending_allocation(data.special_uid):
            self._tracker.restore(special.key)
        if not is_in_memory(special):
            self._binder.delete(special)

    # PreBind.

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        try:
            return SUCCESS if state.read(STATE_KEY).claims else SKIP
        except NotFoundError as error:
            return as_status(str(error))

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write the claims, and wait for the conditions of their devices (None: not yet)."""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        if data.waits:
            return self._wait(state, data)
        for index, claim in enumerate(data.claims):
            if is_reserved_for(pod.pod, claim):
                continue
            try:
                data.claims[index] = self._binder.bind(data, index, pod.pod, node_name)
            except BindError as error:
                return as_status(str(error))
        if not self._handle.features.waits_for_binding_conditions or not has_conditions(data.claims):
            return SUCCESS
        data.waits = True
        self._handle.client.record_event(
            pod.pod,
            profile=self._handle.profile_name,
            type_="Normal",
            reason="BindingConditionsPending",
            action="Scheduling",
            note=f"waiting for binding conditions for device on node {node_name}",
        )
        state.write(PRE_BIND_WAIT_KEY, PreBindWait(self._handle.clock() + self._binding_timeout))
        return self._wait(state, data)

    def _wait(self, state: CycleState, data: StateData) -> Status | None:
        """Upstream polls every five seconds; here the check runs after every change."""
        try:
            if self._are_ready(data):
                return SUCCESS
        except (BindingConditionError, ClaimNotFoundError) as error:
            return as_status(str(error))
        if self._handle.clock() < state.read(PRE_BIND_WAIT_KEY).deadline:
            return None
        return as_status("device binding timeout: context deadline exceeded")

    def _are_ready(self, data: StateData) -> bool:
        """Whether all devices are prepared. Raises `BindingConditionError` or `ClaimNotFoundError`. Upstream: isPodReadyForBinding"""
        for index, claim in enumerate(data.claims):
            now = data.claims[index] = self._tracker.get(claim.key)
            if is_ready(now):
                continue
            if self._is_timed_out(now):
                raise BindingConditionError(f"device binding timeout: claim={now.name}")
            return False
        return True

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        return None if pod.pod.spec.resource_claims else ()

    # Hints.

    def _after_claim_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterClaimChange"""
        was, _ = before_and_after(ResourceClaim, old, new)
        now = after(ResourceClaim, old, new)
        try:
            uses = any(claim.uid == now.uid for claim in claims_of(pod.pod, self._tracker))
        except ClaimError:
            return QueueingHint.QUEUE_SKIP
        if was is not None and was.status.allocation is not None and now.status.allocation is None:
            return QueueingHint.QUEUE
        return queue_if(uses and (was is None or was.status != now.status))

    def _after_pod_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterPodChange"""
        now = after(Pod, old, new)
        if now.uid != pod.uid:
            return QueueingHint.QUEUE_SKIP
        try:
            claims_of(now, self._tracker)
        except ClaimError:
            return QueueingHint.QUEUE_SKIP
        return QueueingHint.QUEUE


def _max_steps(args: DynamicResourcesArgs, handle: Handle) -> int:
    """How many steps a search on one node may take."""
    timeout = 0 if args.filter_timeout is None else parse_duration(args.filter_timeout)
    if not handle.features.dra_scheduler_filter_timeout or timeout <= 0:
        return MAX_STEPS
    return max(1, min(MAX_STEPS, timeout // NANOS_PER_STEP))
