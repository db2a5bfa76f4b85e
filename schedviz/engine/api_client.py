"""`ApiClient`: the API server's write operations, for plugins. Each becomes an instruction of the host, or a call of the dispatcher."""

from __future__ import annotations

from schedviz.engine.api_dispatcher import ApiDispatcher
from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.instructions import (
    ApplyPodCondition,
    BindPod,
    DeletePod,
    Host,
    PatchExtendedResourceClaimStatus,
    PatchPodStatus,
    RecordEvent,
    UpdateObject,
    WriteClaim,
)
from schedviz.kube.core import Pod, PodCondition, PodExtendedResourceClaimStatus
from schedviz.kube.devices import ResourceClaim


class ApiClient:
    """The API server's write operations, for plugins."""

    def __init__(self, host: Host, dispatcher: ApiDispatcher | None = None) -> None:
        """`dispatcher`: makes bindings and clears nominations, in an order of its own (v1.36)."""
        self._host = host
        self._dispatcher = dispatcher

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:
        """Write the pod's Binding."""
        if self._dispatcher is not None:
            return self._dispatcher.bind(pod.pod, node_name)
        return self._host.carry_out(BindPod(pod.pod, node_name))

    def update(self, obj: StorageObject) -> StorageObject | StatusError:
        """Replace a volume or a claim. Returns the updated object or the error."""
        return self._host.update_object(UpdateObject(obj))

    def find_claim(self, key: str) -> ResourceClaim | None:
        """The API server's version of a claim."""
        claim = self._host.find("ResourceClaim", key)
        return claim if isinstance(claim, ResourceClaim) else None

    def create_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Create a claim under a generated name."""
        return self._host.write_claim(WriteClaim(claim, "create"))

    def update_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Replace a claim, without its status."""
        return self._host.write_claim(WriteClaim(claim, "update"))

    def update_claim_status(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Replace the status of a claim."""
        return self._host.write_claim(WriteClaim(claim, "updateStatus"))

    def unreserve_claim(self, claim: ResourceClaim, pod: Pod) -> StatusError | None:
        """Remove a pod from the pods for which a claim is reserved."""
        return _error_of(self._host.write_claim(WriteClaim(claim, "unreserve", pod.uid)))

    def delete_claim(self, claim: ResourceClaim) -> StatusError | None:
        """Delete a claim."""
        return _error_of(self._host.write_claim(WriteClaim(claim, "delete")))

    def patch_extended_resource_claim_status(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> StatusError | None:
        """Write the claim for the pod's extended resources to its status."""
        return self._host.carry_out(PatchExtendedResourceClaimStatus(pod, status))

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:
        """Clear the nomination, if there is one. Upstream: scheduler/util/utils.go ClearNominatedNodeName"""
        if self._dispatcher is not None:
            self._dispatcher.patch_pod_status(pod, None, "")
            return None
        if not pod.status.nominated_node_name:
            return None
        return self._host.carry_out(PatchPodStatus(pod, nominated_node_name=""))

    def patch_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Patch one condition of the pod's status, if it differs."""
        return self._host.carry_out(PatchPodStatus(pod, condition))

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Set one condition of the pod's status."""
        return self._host.carry_out(ApplyPodCondition(pod, condition))

    def delete_pod(self, pod: Pod) -> StatusError | None:
        """Delete a victim of preemption."""
        return self._host.carry_out(DeletePod(pod))

    def record_event(self, pod: Pod, *, profile: str, type_: str, reason: str, action: str, note: str, related: str = "") -> None:
        """Record a Kubernetes Event about a pod."""
        self._host.carry_out(RecordEvent(pod, type_, reason, action, note, component=profile, related=related))


def _error_of(result: ResourceClaim | StatusError) -> StatusError | None:
    return result if isinstance(result, StatusError) else None
