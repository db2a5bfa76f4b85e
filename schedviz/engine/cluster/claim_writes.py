"""The scheduler's writes of ResourceClaims, as an API server carries them out."""

from __future__ import annotations

import json
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from schedviz.engine.clock import Clock
from schedviz.engine.cluster.admission import admitted
from schedviz.engine.cluster.objects import ObjectStore
from schedviz.engine.cluster.refusals import not_found, why_not_replaced
from schedviz.engine.framework.status import StatusError
from schedviz.engine.instructions import PatchExtendedResourceClaimStatus, WriteClaim
from schedviz.kube.core import Pod
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import WriteVerb

Object = TypeVar("Object", bound=KubeObject)


class ClaimWriter(Protocol):
    """The API server's interface for the scheduler's writes."""

    @property
    def store(self) -> ObjectStore: ...

    @property
    def clock(self) -> Clock: ...

    def find(self, kind: str, key: str) -> KubeObject | None: ...

    def record_scheduler_write(
        self, verb: WriteVerb, obj: KubeObject, *, subresource: str = "", detail: str = "", error: str = ""
    ) -> None: ...

    def write_and_hold(self, new: Object, current: KubeObject | None) -> Object:
        """Store an object; its watch event is sent when the scheduler's cycle has ended."""
        ...

    def delete_and_hold(self, obj: KubeObject) -> None:
        """Delete an object; its watch event is sent when the scheduler's cycle has ended."""
        ...

    def send_held_events(self) -> None:
        """Send the watch events of the scheduler's writes."""
        ...


def write(cluster: ClaimWriter, instruction: WriteClaim) -> ResourceClaim | StatusError:
    """Write a claim. Returns it as it is now, or the API server's error."""
    claim = instruction.claim
    if instruction.verb == "create":
        return _create(cluster, claim)
    current = cluster.find("ResourceClaim", claim.key)
    if not isinstance(current, ResourceClaim):
        error = why_not_replaced(claim, None)
        cluster.record_scheduler_write(_recorded_verb(instruction), claim, subresource=_subresource(instruction), error=error)
        return StatusError(error, "resourceclaims", claim.name)
    if instruction.verb == "delete":
        cluster.delete_and_hold(current)
        return current
    if instruction.verb == "unreserve":
        return _unreserve(cluster, current, instruction)
    error = why_not_replaced(claim, current)
    if error:
        detail = _detail(claim)
        cluster.record_scheduler_write("update", claim, subresource=_subresource(instruction), detail=detail, error=error)
        return StatusError(error)
    is_status_update = instruction.verb == "updateStatus"
    new = replace(current, status=claim.status) if is_status_update else replace(current, metadata=claim.metadata, spec=claim.spec)
    cluster.record_scheduler_write("update", claim, subresource=_subresource(instruction), detail=_detail(new))
    return cluster.write_and_hold(new, current)


def _create(cluster: ClaimWriter, claim: ResourceClaim) -> ResourceClaim:
    """Create a claim under a name that its prefix and a number give. The scheduler waits until its informer has it."""
    prefix, number = claim.metadata.generate_name, 1
    while cluster.store.creations.get(("ResourceClaim", f"{claim.namespace}/{prefix}{number}")):
        number += 1
    named = replace(claim, metadata=replace(claim.metadata, name=f"{prefix}{number}"))
    created = admitted(named, cluster.store, cluster.clock)
    cluster.record_scheduler_write("create", created, detail=_detail(created))
    created = cluster.write_and_hold(created, None)
    cluster.send_held_events()
    return created


def _unreserve(cluster: ClaimWriter, current: ResourceClaim, instruction: WriteClaim) -> ResourceClaim:
    """Upstream: a strategic merge patch of status.reservedFor, whose key is the uid"""
    reserved_for = tuple(consumer for consumer in current.status.reserved_for if consumer.uid != instruction.uid)
    removed = json.dumps({"$patch": "delete", "uid": instruction.uid}, separators=(",", ":"))
    cluster.record_scheduler_write("patch", current, subresource="status", detail=f"reservedFor=[{removed}]")
    return cluster.write_and_hold(replace(current, status=replace(current.status, reserved_for=reserved_for)), current)


def patch_extended_claim_status(cluster: ClaimWriter, instruction: PatchExtendedResourceClaimStatus) -> StatusError | None:
    """Patch the claim for extended resources into a pod's status."""
    pod, status = instruction.pod, instruction.status
    if pod.status.extended_resource_claim_status == status:
        return None
    mappings = [dict(sorted(msgspec.to_builtins(mapping).items())) for mapping in status.request_mappings]
    text = json.dumps({"requestMappings": mappings, "resourceClaimName": status.resource_claim_name}, separators=(",", ":"))
    current = cluster.find("Pod", pod.key)
    error = None if isinstance(current, Pod) else not_found(pod)
    cluster.record_scheduler_write(
        "patch", pod, subresource="status", detail=f"extendedResourceClaimStatus={text}", error="" if error is None else error.message
    )
    if not isinstance(current, Pod):
        return error
    cluster.write_and_hold(replace(current, status=replace(current.status, extended_resource_claim_status=status)), current)
    return None


def _recorded_verb(instruction: WriteClaim) -> WriteVerb:
    match instruction.verb:
        case "updateStatus":
            return "update"
        case "unreserve":
            return "patch"
        case verb:
            return verb


def _subresource(instruction: WriteClaim) -> str:
    return "status" if instruction.verb in ("updateStatus", "unreserve") else ""


def _detail(claim: ResourceClaim) -> str:
    """A claim in FORMAT-1.36's form."""
    parts: list[str] = []
    if claim.metadata.finalizers:
        parts.append(f"finalizers={','.join(claim.metadata.finalizers)}")
    allocation = claim.status.allocation
    if allocation is not None:
        devices = " ".join(f"{result.request}={result.driver}/{result.pool}/{result.device}" for result in allocation.devices.results)
        parts.append(f"allocation=[{devices}]")
    users = " ".join(f"{consumer.resource}/{consumer.name}" for consumer in claim.status.reserved_for)
    return "; ".join([*parts, f"reservedFor=[{users}]"])
