"""DynamicResources of v1.36, without its allocator.

Whether a pod's claims and their device classes exist is decided as upstream decides it. A pod that gets further needs devices, which this
version of schedviz does not allocate: it is rejected with a sentence that says so.

Upstream: framework/plugins/dynamicresources/dynamicresources.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import Handle, PostFilterResult, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.device_classes import provided_resources
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod, PodResourceClaim
from schedviz.kube.devices import DeviceRequest, ResourceClaim
from schedviz.kube.meta import KubeObject

_NOT_SUPPORTED: Final = unresolvable("schedviz does not allocate devices: the pod has resource claims")
_NO_DEVICES: Final = unresolvable("schedviz does not allocate devices: a device class provides an extended resource of the pod")


class ClaimError(Exception):
    """A claim of the pod cannot be used. The text is upstream's."""


class StateData(msgspec.Struct, frozen=True):
    """Written by PreFilter, so that PostFilter knows that it ran."""

    #: The extended resources of the pod that only devices can provide, on nodes that have none of them.
    resources: tuple[str, ...] = ()

    def clone(self) -> StateData:
        return self


STATE_KEY: Final = StateKey(names.DYNAMIC_RESOURCES, StateData)


class DynamicResources:
    name = names.DYNAMIC_RESOURCES

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

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
            self._claims(pod.pod)
        except ClaimError as error:
            return unresolvable(str(error))
        return SUCCESS

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        state.write(STATE_KEY, StateData())
        try:
            claims = self._claims(pod.pod)
        except ClaimError as error:
            return None, unresolvable(str(error))
        if not claims:
            resources = self._resources_of_devices(pod)
            if not resources:
                return None, SKIP
            state.write(STATE_KEY, StateData(resources))
            return None, SUCCESS
        for claim in claims:
            for request in claim.spec.devices.requests:
                status = self._validate_request(claim, request)
                if not status.is_success:
                    return None, status
        return None, _NOT_SUPPORTED

    def _resources_of_devices(self, pod: PodInfo) -> tuple[str, ...]:
        """The pod's extended resources for which NodeResourcesFit leaves nodes without them to this plugin."""
        if not self._handle.features.dra_extended_resource or not pod.requests.resource.scalar:
            return ()
        provided = provided_resources(self._handle.objects)
        return tuple(sorted(name for name, amount in pod.requests.resource.scalar.items() if amount and name in provided))

    def _claims(self, pod: Pod) -> list[ResourceClaim]:
        """The pod's claims. Raises `ClaimError`. Upstream: foreachPodResourceClaim"""
        found: list[ResourceClaim] = []
        for wanted in pod.spec.resource_claims:
            name = _claim_name(pod, wanted)
            if name is None:
                continue
            claim: ResourceClaim | None = self._handle.objects.get("ResourceClaim", pod.namespace, name)
            if claim is None:
                raise ClaimError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
            if claim.metadata.deletion_timestamp is not None:
                raise ClaimError(f'resourceclaim "{claim.name}" is being deleted')
            if wanted.resource_claim_name is None and not _is_controlled_by(claim, pod):
                raise ClaimError(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
            found.append(claim)
        return found

    def _validate_request(self, claim: ResourceClaim, request: DeviceRequest) -> Status:
        name = request.name
        if request.exactly is not None:
            return self._validate_device_class(request.exactly.device_class_name, name)
        where = f"resource claim {claim.key}, request {name}"
        if not request.first_available:
            return unresolvable(f"{where}: unknown request type")
        if not self._handle.features.dra_prioritized_list:
            return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        for one in request.first_available:
            status = self._validate_device_class(one.device_class_name, f"{name}/{one.name}")
            if not status.is_success:
                return status
        return SUCCESS

    def _validate_device_class(self, device_class: str, request: str) -> Status:
        """Upstream: validateDeviceClass"""
        if not device_class:
            return as_status(f"request {request}: unsupported request type")
        if self._handle.objects.get("DeviceClass", "", device_class) is None:
            return unresolvable(f"request {request}: device class {device_class} does not exist")
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        """Reject nodes on which devices would have to provide a resource."""
        lacking = np.zeros(len(rows), np.bool_)
        for resource in state.read(STATE_KEY).resources:
            lacking |= rows.allocatable(resource) == 0
        return Verdicts.reject(lacking, _NO_DEVICES)

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:  # noqa: ARG002
        if STATE_KEY not in state:
            return None, as_status("not found")
        return None, unschedulable("no new claims to deallocate")

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        return uniform(len(rows), 0)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return np.zeros_like(scores)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Nothing was reserved."""

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        return SKIP

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        return None if pod.pod.spec.resource_claims else ()

    def _after_claim_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterClaimChange"""
        was, _ = before_and_after(ResourceClaim, old, new)
        now = after(ResourceClaim, old, new)
        try:
            uses = any(claim.uid == now.uid for claim in self._claims(pod.pod))
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
            self._claims(now)
        except ClaimError:
            return QueueingHint.QUEUE_SKIP
        return QueueingHint.QUEUE


def _is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    return any(owner.controller and owner.uid == pod.uid for owner in claim.metadata.owner_references)


def _claim_name(pod: Pod, wanted: PodResourceClaim) -> str | None:
    """The name of the claim; None: none was made, and none is needed. Raises `ClaimError`. Upstream: resourceclaim.Name"""
    if wanted.resource_claim_name is not None:
        return wanted.resource_claim_name
    if wanted.resource_claim_template_name is None:
        raise ClaimError(f'pod "{pod.key}", spec.resourceClaim "{wanted.name}": none of the supported fields are set')
    for status in pod.status.resource_claim_statuses:
        if status.name == wanted.name:
            return status.resource_claim_name
    raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')
