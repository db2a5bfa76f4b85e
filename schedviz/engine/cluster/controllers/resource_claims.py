"""ResourceClaims: creates the claims for which pods have templates, and frees claims whose pods have ended.

Claims of pod groups are not created. A claim that was created for a pod is deleted with it (the garbage collector's job).

Upstream: pkg/controller/resourceclaim/controller.go syncPod, syncClaim
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from schedviz.engine.cluster.controllers.controller import ControllerApi, Wake
from schedviz.engine.cluster.controllers.pods import all_pods
from schedviz.kube.core import Pod, PodResourceClaim, PodResourceClaimStatus
from schedviz.kube.devices import ResourceClaim, ResourceClaimConsumerReference, ResourceClaimMeta, ResourceClaimTemplate
from schedviz.kube.meta import KubeObject, OwnerReference

#: Upstream: resource/v1 Finalizer
_FINALIZER = "resource.kubernetes.io/delete-protection"


class ResourceClaims:
    """Creates claims from templates, and deallocates unused ones."""

    name = "resourceClaims"

    def wakes(self, obj: KubeObject, api: ControllerApi, delay: int) -> Iterable[Wake]:
        """A pod with claims, its claims, a claim that changed, and the pods that wait for a template."""
        due = api.clock.now + delay
        match obj:
            case Pod():
                if obj.spec.resource_claims:
                    yield f"pod {obj.key}", due
                for name in _claim_names(obj):
                    yield f"claim {obj.namespace}/{name}", due
            case ResourceClaim():
                yield f"claim {obj.key}", due
            case ResourceClaimTemplate():
                for pod in all_pods(api.store, obj.namespace):
                    if any(claim.resource_claim_template_name == obj.name for claim in pod.spec.resource_claims):
                        yield f"pod {pod.key}", due

    def reconcile(self, key: str, api: ControllerApi) -> None:
        """Create the missing claims of a pod, or free a claim."""
        kind, name = key.split(" ")
        if kind == "pod":
            pod = api.store.get("Pod", name)
            if isinstance(pod, Pod) and pod.metadata.deletion_timestamp is None and not _is_done(pod):
                _create_missing(pod, api)
            return
        claim = api.store.get("ResourceClaim", name)
        if isinstance(claim, ResourceClaim):
            _free(claim, api)


def _claim_names(pod: Pod) -> list[str]:
    generated = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    special = pod.status.extended_resource_claim_status
    own = [claim.resource_claim_name for claim in pod.spec.resource_claims]
    return [name for name in (*own, *generated, None if special is None else special.resource_claim_name) if name]


def _is_done(pod: Pod) -> bool:
    """Whether the pod uses no devices any more: it has finished, or it terminates and never ran. Upstream: isPodDone"""
    never_ran = pod.metadata.deletion_timestamp is not None and not pod.spec.node_name
    return pod.is_finished or never_ran


def _create_missing(pod: Pod, api: ControllerApi) -> None:
    """Create the claims of templates, and show their names in the pod's status. Upstream: handleClaim"""
    status_by_name = {status.name: status for status in pod.status.resource_claim_statuses}
    for pod_claim in pod.spec.resource_claims:
        if pod_claim.resource_claim_template_name is None or pod_claim.name in status_by_name:
            continue
        template = api.store.get("ResourceClaimTemplate", f"{pod.namespace}/{pod_claim.resource_claim_template_name}")
        if isinstance(template, ResourceClaimTemplate):
            status_by_name[pod_claim.name] = PodResourceClaimStatus(
                name=pod_claim.name, resource_claim_name=_create(pod, pod_claim, template, api)
            )
    statuses = tuple(status_by_name.values())
    if statuses != pod.status.resource_claim_statuses:
        detail = "resourceClaimStatuses=" + ",".join(f"{status.name}:{status.resource_claim_name}" for status in statuses)
        changed = replace(pod, status=replace(pod.status, resource_claim_statuses=statuses))
        api.replace(changed, verb="patch", subresource="status", detail=detail)


def _create(pod: Pod, pod_claim: PodResourceClaim, template: ResourceClaimTemplate, api: ControllerApi) -> str:
    """Create a claim under the first name that no claim has had. Returns the name."""
    prefix, number = f"{pod.name}-{pod_claim.name}-", 1
    while ("ResourceClaim", f"{pod.namespace}/{prefix}{number}") in api.store.creations:
        number += 1
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    metadata = ResourceClaimMeta(name=f"{prefix}{number}", namespace=pod.namespace, generate_name=prefix, owner_references=(owner,))
    api.put(ResourceClaim(metadata=metadata, spec=template.spec.spec))
    return metadata.name


def _free(claim: ResourceClaim, api: ControllerApi) -> None:
    """Remove users that have ended; deallocate the claim after the last one, and delete it if it was created for a pod."""
    users = tuple(consumer for consumer in claim.status.reserved_for if _is_user(claim, consumer, api))
    if users != claim.status.reserved_for:
        status = replace(claim.status, reserved_for=users)
        detail = f"reservedFor=[{' '.join(f'{user.resource}/{user.name}' for user in users)}]"
        if not users:
            status = replace(status, allocation=None, devices=())
        claim = replace(claim, status=status)
        api.replace(claim, subresource="status", detail=detail)
        if not users and _FINALIZER in claim.metadata.finalizers:
            finalizers = tuple(finalizer for finalizer in claim.metadata.finalizers if finalizer != _FINALIZER)
            current = api.store.get("ResourceClaim", claim.key)
            assert isinstance(current, ResourceClaim)
            api.replace(replace(current, metadata=replace(current.metadata, finalizers=finalizers)), detail="finalizers=")
    if not users and _owner_is_gone(claim, api):
        api.delete("ResourceClaim", claim.namespace, claim.name)


def _is_user(claim: ResourceClaim, user: ResourceClaimConsumerReference, api: ControllerApi) -> bool:
    if user.resource != "pods" or user.api_group:
        # Users other than pods remove themselves.
        return True
    pod = api.store.get("Pod", f"{claim.namespace}/{user.name}")
    return isinstance(pod, Pod) and pod.uid == user.uid and not _is_done(pod)


def _owner_is_gone(claim: ResourceClaim, api: ControllerApi) -> bool:
    """Whether the claim was created for a pod that has ended."""
    for owner in claim.metadata.owner_references:
        if owner.kind == "Pod" and owner.controller:
            pod = api.store.get("Pod", f"{claim.namespace}/{owner.name}")
            return not isinstance(pod, Pod) or pod.uid != owner.uid or _is_done(pod)
    return False
