"""Instructions: the writes that the host makes for the scheduler, which never writes itself.

A host gets one instruction at a time and returns an error as a value, or None. The host is the simulated API server (`cluster`).
"""

from __future__ import annotations

from typing import Generic, Literal, Protocol

import msgspec

from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.status import StatusError
from schedviz.kube.core import Pod, PodCondition, PodExtendedResourceClaimStatus
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.meta import Condition, KubeObject
from schedviz.kube.workloads import PodGroup


class Instruction(msgspec.Struct, frozen=True):
    """One write."""


class BindPod(Instruction, frozen=True):
    """Create the pod's Binding to a node."""

    pod: Pod
    node: str


class PatchPodStatus(Instruction, frozen=True):
    """Patch a pod's status with the differences from `pod`, the scheduler's version of the pod.

    None leaves a condition or the nomination unchanged, "" clears the nomination. Upstream: util/utils.go PatchPodStatus
    """

    pod: Pod
    condition: PodCondition | None = None
    nominated_node_name: str | None = None


class ApplyPodCondition(Instruction, frozen=True):
    """Apply one condition to a pod's status, unconditionally. Its transition time is now. Upstream: server-side ApplyStatus"""

    pod: Pod
    condition: PodCondition


class PatchPodGroupStatus(Instruction, frozen=True):
    """Set one condition of a pod group's status, with the differences from `group`, the scheduler's version of it.

    Upstream: util/utils.go PatchPodGroupStatus, apimachinery/pkg/api/meta/conditions.go SetStatusCondition
    """

    group: PodGroup
    condition: Condition


class DeletePod(Instruction, frozen=True):
    """Delete a victim of preemption."""

    pod: Pod


class UpdateObject(Instruction, Generic[StorageObject], frozen=True):
    """Replace a volume that a claim reserves, or a claim that is to be provisioned. Fails if the object has changed meanwhile."""

    object: StorageObject


class WriteClaim(Instruction, frozen=True):
    """Write a ResourceClaim. Updates fail if the claim has changed meanwhile."""

    claim: ResourceClaim
    verb: Literal["create", "update", "updateStatus", "unreserve", "delete"]
    #: For "unreserve": the uid of the user that is removed.
    uid: str = ""


class PatchExtendedResourceClaimStatus(Instruction, frozen=True):
    """Write the claim for a pod's extended resources to its status."""

    pod: Pod
    status: PodExtendedResourceClaimStatus


class RecordEvent(Instruction, frozen=True):
    """Record a Kubernetes Event about a pod. It never fails."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    component: str
    related: str = ""


#: The instructions that `Host.carry_out` takes. `UpdateObject` and `WriteClaim` return an object, and have methods of their own.
AnyInstruction = (
    BindPod | PatchPodStatus | PatchPodGroupStatus | ApplyPodCondition | DeletePod | PatchExtendedResourceClaimStatus | RecordEvent
)


class Host(Protocol):
    """Carries out instructions."""

    def carry_out(self, instruction: AnyInstruction) -> StatusError | None:
        """Carry out an instruction. Returns the API server's error, or None."""
        ...

    def find(self, kind: str, key: str) -> KubeObject | None:
        """The API server's object, or None; informers may lag behind it."""
        ...

    def update_object(self, instruction: UpdateObject[StorageObject]) -> StorageObject | StatusError:
        """Update an object. Returns the updated object, or the API server's error."""
        ...

    def write_claim(self, instruction: WriteClaim) -> ResourceClaim | StatusError:
        """Write a claim. Returns it as it is now (a deleted one: as it was), or the API server's error."""
        ...
