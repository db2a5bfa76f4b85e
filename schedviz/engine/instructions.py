"""What the scheduler wants done in the world outside: it never does it itself.

A host is given instructions one at a time and answers with an error as a value, or None when it was done. The simulated API server
(`cluster`) is one host, the writer to a followed cluster another.
"""

from __future__ import annotations

from typing import Generic, Protocol

import msgspec

from schedviz.engine.framework.listers import StorageObject
from schedviz.engine.framework.status import StatusError
from schedviz.kube.core import Pod, PodCondition
from schedviz.kube.meta import KubeObject


class Instruction(msgspec.Struct, frozen=True):
    """One thing to be done."""


class BindPod(Instruction, frozen=True):
    """Create the pod's Binding to a node."""

    pod: Pod
    node: str


class PatchPodStatus(Instruction, frozen=True):
    """Patch a pod's status: what differs from `pod`, which is the pod as the scheduler knew it.

    None leaves a condition or the nomination as it is, "" clears the nomination. Upstream: util/utils.go PatchPodStatus
    """

    pod: Pod
    condition: PodCondition | None = None
    nominated_node_name: str | None = None


class ApplyPodCondition(Instruction, frozen=True):
    """Apply one condition to a pod's status, whatever was there. Its transition time is now. Upstream: server-side ApplyStatus"""

    pod: Pod
    condition: PodCondition


class DeletePod(Instruction, frozen=True):
    """Delete a pod that has to make room."""

    pod: Pod


class UpdateObject(Instruction, Generic[StorageObject], frozen=True):
    """Replace a volume that is to be held by a claim, or a claim that is to be provisioned. It must not have changed meanwhile."""

    object: StorageObject


class RecordEvent(Instruction, frozen=True):
    """Record a Kubernetes Event about a pod. It never fails."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    component: str
    related: str = ""


AnyInstruction = BindPod | PatchPodStatus | ApplyPodCondition | DeletePod | RecordEvent


class Host(Protocol):
    """Whoever does what the scheduler wants done."""

    def carry_out(self, instruction: AnyInstruction) -> StatusError | None:
        """Do it. The error that the API server answered with, or None."""
        ...

    def find(self, kind: str, key: str) -> KubeObject | None:
        """What the API server itself has, or None; informers may know something else for a while."""
        ...

    def update_object(self, instruction: UpdateObject[StorageObject]) -> StorageObject | StatusError:
        """Do it. What the object has become, or the error that the API server answered with."""
        ...
