"""`Executor`: evicts the victims of a v1.36 preemption, at once or asynchronously.

Upstream: framework/preemption/executor.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.engine.framework.interface import AsyncPreemptions, Handle
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.status import SUCCESS, Status, StatusError, as_status
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import PodCondition


class _NoPreemptions:
    """Of a framework that belongs to no scheduler."""

    def start(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str) -> None:  # noqa: ARG002
        raise RuntimeError(f"{plugin} cannot start a preemption for {preemptor.key}: its framework belongs to no scheduler")

    def is_running_for(self, uid: str) -> bool:  # noqa: ARG002 - nothing can be started
        return False


NO_PREEMPTIONS: Final[AsyncPreemptions] = _NoPreemptions()


class Executor:
    """Evicts victims for one plugin. Upstream: Executor"""

    def __init__(self, handle: Handle, plugin: str) -> None:
        self._handle = handle
        self._plugin = plugin

    def actuate(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo]) -> Status:
        """Evict the victims that are not terminating yet, now or asynchronously.

        Upstream: actuatePodPreemption, actuatePodGroupPreemption
        """
        running = [victim for victim in victims if victim.pod.metadata.deletion_timestamp is None]
        if self._handle.features.scheduler_async_preemption:
            if running:
                self._handle.preemptions.start(preemptor, node, running, profile=self._handle.profile_name, plugin=self._plugin)
            return SUCCESS
        return self._evict_now(preemptor, node, running)

    def _evict_now(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo]) -> Status:
        """Upstream: prepareCandidate"""
        for victim in victims:
            error = self.evict(victim, preemptor, node)
            if error is not None:
                return as_status(error)
        self.clear_lower_nominations(preemptor, node)
        return SUCCESS

    def evict(self, victim: PodInfo, preemptor: Preemptor, node: str) -> StatusError | None:
        """Stop the binding of a victim, or delete the victim. Returns the API server's error. Upstream: PreemptPod"""
        handle, client = self._handle, self._handle.client
        note = f"Preempted by {preemptor.kind} {preemptor.uid} on node {node}"
        if self._stop_binding(victim):
            note += " (in kube-scheduler memory)."
        else:
            error = client.patch_condition(victim.pod, _disruption(preemptor)) or client.delete_pod(victim.pod)
            if error is not None:
                return None if error.is_not_found else error
        client.record_event(victim.pod, profile=handle.profile_name, type_="Normal", reason="Preempted", action="Preempting", note=note)
        return None

    def _stop_binding(self, victim: PodInfo) -> bool:
        """Stop a binding cycle that waits at Permit or in PreBind; its pod goes back to the queue."""
        return self._handle.preempt_waiting_pod(victim.uid, self._plugin, "preempted") or self._handle.cancel_pre_bind(
            victim.uid, f"preempted by {self._plugin}"
        )

    def clear_lower_nominations(self, preemptor: Preemptor, node: str) -> bool:
        """Clear the nominations of pods that may no longer fit together with the preemptor. False: a write failed.

        Upstream: getLowerPriorityNominatedPods, clearNominatedNodeName
        """
        client = self._handle.client
        lower = [other for other in self._handle.nominator.nominated_pods_for_node(node) if other.priority < preemptor.priority]
        errors = [client.clear_nominated_node_name(other.pod) for other in lower]
        return all(error is None for error in errors)


def _disruption(preemptor: Preemptor) -> PodCondition:
    message = f"{preemptor.scheduler_name}: preempting to accommodate a higher priority {preemptor.kind}"
    return PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)
