"""The claims of a pod: which they are, and whether the pod may use them.

Upstream: dynamic-resource-allocation/resourceclaim/resourceclaim.go, framework/plugins/dynamicresources/dynamicresources.go
foreachPodResourceClaim
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from schedviz.engine.framework.plugins.dynamicresources.claim_tracker import ClaimNotFoundError, ClaimTracker
from schedviz.kube.core import Pod, PodResourceClaim
from schedviz.kube.devices import AllocationResult, ResourceClaim, ResourceClaimConsumerReference

#: Keeps a claim with an allocation from being deleted. Upstream: resource/v1 Finalizer
FINALIZER: Final = "resource.kubernetes.io/delete-protection"


class ClaimError(Exception):
    """A claim of the pod cannot be used. The text is upstream's."""


def claims_of(pod: Pod, tracker: ClaimTracker) -> list[ResourceClaim]:
    """The pod's claims. Raises `ClaimError`."""
    claims: list[ResourceClaim] = []
    for pod_claim in pod.spec.resource_claims:
        name = _claim_name(pod, pod_claim)
        if name is None:
            continue
        try:
            claim = tracker.get(f"{pod.namespace}/{name}")
        except ClaimNotFoundError as error:
            raise ClaimError(str(error)) from None
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimError(f'resourceclaim "{claim.name}" is being deleted')
        if pod_claim.resource_claim_name is None and not _is_controlled_by(claim, pod):
            raise ClaimError(f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)")
        claims.append(claim)
    return claims


def is_reserved_for(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether the claim lists the pod as its user. Upstream: IsReservedForPod"""
    return any(reserved.uid == pod.uid for reserved in claim.status.reserved_for)


def reference_to(pod: Pod) -> ResourceClaimConsumerReference:
    """The pod as a user of a claim. Upstream: claimStore.getBinding"""
    return ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)


def with_finalizer(claim: ResourceClaim) -> ResourceClaim:
    """The claim with the scheduler's finalizer."""
    if FINALIZER in claim.metadata.finalizers:
        return claim
    return replace(claim, metadata=replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER)))


def without_finalizer(claim: ResourceClaim) -> ResourceClaim:
    """The claim without the scheduler's finalizer."""
    finalizers = tuple(finalizer for finalizer in claim.metadata.finalizers if finalizer != FINALIZER)
    return replace(claim, metadata=replace(claim.metadata, finalizers=finalizers))


def with_allocation(claim: ResourceClaim, allocation: AllocationResult | None) -> ResourceClaim:
    """The claim with an allocation."""
    return replace(claim, status=replace(claim.status, allocation=allocation))


def _is_controlled_by(claim: ResourceClaim, pod: Pod) -> bool:
    return any(owner.controller and owner.uid == pod.uid for owner in claim.metadata.owner_references)


def _claim_name(pod: Pod, pod_claim: PodResourceClaim) -> str | None:
    """The name of the claim; None: none was made, and none is needed. Raises `ClaimError`. Upstream: Name"""
    if pod_claim.resource_claim_name is not None:
        return pod_claim.resource_claim_name
    if pod_claim.resource_claim_template_name is None:
        raise ClaimError(f'pod "{pod.key}", spec.resourceClaim "{pod_claim.name}": none of the supported fields are set')
    for status in pod.status.resource_claim_statuses:
        if status.name == pod_claim.name:
            return status.resource_claim_name
    raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')
