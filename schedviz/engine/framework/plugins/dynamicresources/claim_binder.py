"""Writes claims before a pod is bound: allocation and reservation for the pod; and reverts both.

Upstream: framework/plugins/dynamicresources/dynamicresources.go bindClaim, extendeddynamicresources.go
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins.dynamicresources.claim_tracker import ClaimTracker
from schedviz.engine.framework.plugins.dynamicresources.claims import (
    FINALIZER,
    reference_to,
    with_allocation,
    with_finalizer,
    without_finalizer,
)
from schedviz.engine.framework.plugins.dynamicresources.extended_resources import is_in_memory
from schedviz.engine.framework.plugins.dynamicresources.state import NodeAllocation, StateData
from schedviz.engine.framework.status import StatusError
from schedviz.kube.core import Pod, PodExtendedResourceClaimStatus
from schedviz.kube.devices import AllocationResult, ResourceClaim
from schedviz.kube.timestamps import format_timestamp

#: Upstream: client-go/util/retry DefaultRetry
_MAX_ATTEMPTS = 5


class BindError(Exception):
    """A claim could not be written. The text is upstream's."""


class ClaimBinder:
    """The writes for one profile."""

    def __init__(self, handle: Handle, tracker: Callable[[], ClaimTracker], now_seconds: Callable[[], float]) -> None:
        self._handle = handle
        self._tracker = tracker
        self._now_seconds = now_seconds

    def bind(self, data: StateData, index: int, pod: Pod, node_name: str) -> ResourceClaim:
        """Write the allocation of a claim and its user. Returns the claim as it is now. Raises `BindError`. Upstream: bindClaim"""
        claim = data.claims[index]
        allocation = data.allocations[index]
        is_special = index >= data.user_claim_count
        if is_special and allocation is None and not claim.spec.devices.requests:
            # A device plugin provides the extended resources.
            return claim
        uid, written = claim.uid, None
        try:
            node = data.on_node(node_name)
            if is_special and is_in_memory(claim):
                claim = written = data.claims[index] = self._create(node, node_name)
            claim = written = self._write(claim, allocation, pod)
        finally:
            is_assumed = written is not None and self._tracker().assume(written)
            if allocation is not None:
                self._tracker().remove_pending_allocation(uid, force=is_assumed and not is_special)
        if is_special:
            self._patch_pod_status(pod, claim, node)
        return claim

    def _create(self, node: NodeAllocation | None, node_name: str) -> ResourceClaim:
        """Upstream: createExtendedResourceClaimInAPI"""
        claim = None if node is None else node.special_claim
        if claim is None:
            raise BindError(f"extended resource claim not found for node {node_name}")
        created = self._handle.client.create_claim(replace(claim, metadata=replace(claim.metadata, name="", uid="")))
        if isinstance(created, StatusError):
            raise BindError(f"create claim for extended resources {claim.key}: {created}")
        return created

    def _write(self, claim: ResourceClaim, allocation: AllocationResult | None, pod: Pod) -> ResourceClaim:
        """Write finalizer, allocation and user; after a conflict, once more with the API server's version."""
        for attempt in range(_MAX_ATTEMPTS):
            if attempt:
                current = self._handle.client.find_claim(claim.key)
                if current is None:
                    raise BindError(f"get updated claim {claim.key} after conflict: {_missing(claim)}")
                claim = current
            updated, prefix = self._attempt(claim, allocation, pod)
            if isinstance(updated, ResourceClaim):
                return updated
            if not _is_conflict(updated) or attempt == _MAX_ATTEMPTS - 1:
                break
        raise BindError(f"{prefix}: {updated}")

    def _attempt(self, claim: ResourceClaim, allocation: AllocationResult | None, pod: Pod) -> tuple[ResourceClaim | StatusError, str]:
        """One attempt: the updated claim, or an error with its context. Raises `BindError` if another attempt cannot help."""
        client = self._handle.client
        if claim.metadata.deletion_timestamp is not None:
            raise BindError(f"claim {claim.key} got deleted in the meantime")
        action = "add reservation to"
        if allocation is not None:
            action = "add allocation and reservation to"
            if claim.status.allocation is not None:
                raise BindError(f"claim {claim.key} got allocated elsewhere in the meantime")
            if FINALIZER not in claim.metadata.finalizers:
                updated = client.update_claim(with_finalizer(claim))
                if isinstance(updated, StatusError):
                    return updated, f"add finalizer to claim {claim.key}"
                claim = updated
            claim = with_allocation(claim, allocation)
        claim = replace(claim, status=replace(claim.status, reserved_for=(*claim.status.reserved_for, reference_to(pod))))
        if self._handle.features.waits_for_binding_conditions:
            claim = self._with_timestamp(claim)
        return client.update_claim_status(claim), f"{action} claim {claim.key}"

    def _with_timestamp(self, claim: ResourceClaim) -> ResourceClaim:
        allocation = claim.status.allocation
        if allocation is None:
            raise BindError(f"claim {claim.key} got deallocated elsewhere in the meantime")
        if allocation.allocation_timestamp is not None:
            return claim
        now = format_timestamp(int(self._now_seconds()))
        return with_allocation(claim, replace(allocation, allocation_timestamp=now))

    def _patch_pod_status(self, pod: Pod, claim: ResourceClaim, node: NodeAllocation | None) -> None:
        """Write the special claim to the pod's status. Raises `BindError`. Upstream: patchPodExtendedResourceClaimStatus"""
        if node is None or not node.mappings:
            raise BindError(f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus")
        status = PodExtendedResourceClaimStatus(request_mappings=node.mappings, resource_claim_name=claim.name)
        error = self._handle.client.patch_extended_resource_claim_status(pod, status)
        if error is not None:
            raise BindError(f"update pod {pod.key} ExtendedResourceClaimStatus: {error}")

    def delete(self, claim: ResourceClaim) -> StatusError | None:
        """Delete a special claim, with its finalizer. Upstream: deleteClaim"""
        client = self._handle.client
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            updated = client.update_claim(without_finalizer(claim))
            if isinstance(updated, ResourceClaim):
                return client.delete_claim(updated)
            if not _is_conflict(updated) or attempt == _MAX_ATTEMPTS:
                return updated.wrap(f"update resourceclaim {claim.key}")
            current = client.find_claim(claim.key)
            if current is None:
                return StatusError(f"get resourceclaim {claim.key}: {_missing(claim)}")
            claim = current
        return None


def _missing(claim: ResourceClaim) -> str:
    return f'resourceclaims.resource.k8s.io "{claim.name}" not found'


def _is_conflict(error: StatusError) -> bool:
    return str(error).startswith("Operation cannot be fulfilled")
