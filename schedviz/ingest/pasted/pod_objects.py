"""Reads the objects of a pasted text: what the scheduler wrote about Pods, or that none has tried them; why a pod with a node does not run;
and why Kueue has not admitted Workloads."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.kube.defaults import DEFAULT_SCHEDULER_NAME
from schedviz.kube.pod_status import PLACED

#: What a pod without a message says instead, in the form of the field that says it.
OTHER_SCHEDULER: Final = "spec.schedulerName: "
UNTRIED: Final = "status.phase: Pending, without the condition PodScheduled"
#: The condition of a Workload that Kueue has admitted.
QUOTA_RESERVED: Final = "QuotaReserved"
#: The longest message of a container that is kept, in characters.
_MAX_LENGTH: Final = 500


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[Any] | None = None


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    message: str | None = None


class _Waiting(msgspec.Struct):
    reason: str = ""
    message: str | None = None


class _State(msgspec.Struct):
    waiting: _Waiting | None = None


class _Container(msgspec.Struct):
    name: str = ""
    state: _State | None = None


class _Status(msgspec.Struct, rename="camel"):
    phase: str = ""
    message: str | None = None
    conditions: list[_Condition] | None = None
    init_container_statuses: list[_Container] | None = None
    container_statuses: list[_Container] | None = None


class PodObject(msgspec.Struct):
    """A Pod, as far as it says why it does not run, or a Workload. The items of a PodList have no kind."""

    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.metadata.namespace or 'default'}/{self.metadata.name}"

    @property
    def is_pending(self) -> bool:
        """Whether it has no node, by its status."""
        return self.kind == "Pod" and self.status.phase == "Pending" and not self.spec.node_name

    @property
    def waiting(self) -> _Waiting | None:
        """Why its first container that waits does."""
        containers = (*(self.status.init_container_statuses or ()), *(self.status.container_statuses or ()))
        return next((each.state.waiting for each in containers if each.state is not None and each.state.waiting is not None), None)


def pod_of(item: msgspec.Raw | dict[str, Any]) -> PodObject | None:
    """A Pod; None for other and unreadable objects."""
    pod = _decoded(item)
    return pod if pod is not None and pod.kind in ("Pod", "") else None


def _decoded(item: msgspec.Raw | dict[str, Any]) -> PodObject | None:
    try:
        found = msgspec.json.decode(item, type=PodObject) if isinstance(item, msgspec.Raw) else msgspec.convert(item, PodObject)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if found.metadata.name else None


def message_of_pod(pod: PodObject) -> PodMessage | None:
    """What the scheduler wrote about a pod, or why it wrote nothing; None for a pod with a node, and for one without a status."""
    conditions = [condition for condition in pod.status.conditions or () if condition.type == "PodScheduled"]
    said = next((condition.message for condition in conditions if condition.message), None)
    if said is not None:
        return PodMessage(pod.key, said)
    if not pod.is_pending or conditions or pod.spec.scheduling_gates:
        return None
    scheduler = pod.spec.scheduler_name or DEFAULT_SCHEDULER_NAME
    return PodMessage(pod.key, UNTRIED if scheduler == DEFAULT_SCHEDULER_NAME else f"{OTHER_SCHEDULER}{scheduler}")


def message_of_workload(item: msgspec.Raw | dict[str, Any]) -> PodMessage | None:
    """Why Kueue has not admitted a Workload, with its name in the place of the pod's; None for other objects."""
    workload = _decoded(item)
    if workload is None or workload.kind != "Workload":
        return None
    conditions = [each for each in workload.status.conditions or () if each.type == QUOTA_RESERVED and each.status == "False"]
    return next((PodMessage(workload.key, condition.message) for condition in conditions if condition.message), None)


def message_of_placed(pod: PodObject) -> PodMessage | None:
    """Why a pod that has a node does not run, as its containers or the kubelet say; None if it runs, or has no node."""
    if pod.status.phase == "Failed" and pod.status.message:
        # The kubelet rejected or evicted it.
        return PodMessage(pod.key, " ".join(pod.status.message.split())[:_MAX_LENGTH])
    waiting = pod.waiting
    if not pod.spec.node_name or (pod.status.phase != "Pending" and waiting is None) or pod.status.phase in ("Succeeded", "Failed"):
        return None
    if waiting is None:
        return PodMessage(pod.key, f"{PLACED}{pod.spec.node_name}")
    why = " ".join(f"{waiting.reason}: {waiting.message}".split()) if waiting.message else waiting.reason
    return PodMessage(pod.key, f"{PLACED}{pod.spec.node_name}; {why[:_MAX_LENGTH]}")
