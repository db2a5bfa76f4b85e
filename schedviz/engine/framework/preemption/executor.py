"""Preemptions of v1.36: victims are evicted beside the scheduling cycles, and the preemptor waits until the last one is gone.

Upstream: framework/preemption/executor.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.status import Status, StatusError, as_status
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod, PodCondition


class Preemption:
    """An asynchronous preemption: a value that a checkpoint can store. Upstream: prepareCandidateAsync"""

    def __init__(self, pod: PodInfo, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str) -> None:
        self.pod = pod
        self.node = node
        #: The victims that are not terminating yet.
        self.victims = tuple(victims)
        #: The profile and the plugin that started it.
        self.profile = profile
        self.plugin = plugin
        #: The last victim is being deleted: the preemptor may go on as soon as it is gone.
        self.is_at_last_victim = False


class Preemptions:
    """The asynchronous preemptions that have not ended, oldest first, and what they need of the scheduler."""

    def __init__(self, find_pod: Callable[[str, str], Pod | None]) -> None:
        self._find_pod = find_pod
        self.running: list[Preemption] = []

    def start(self, preemption: Preemption) -> None:
        """Begin a preemption; `run` carries it out."""
        self.running.append(preemption)

    def is_running_for(self, uid: str) -> bool:
        """Whether the pod waits for its victims. Upstream: isRunningPreemption"""
        for preemption in self.running:
            if preemption.pod.uid == uid:
                return not (preemption.is_at_last_victim and self._is_gone(preemption.victims[-1]))
        return False

    def _is_gone(self, victim: PodInfo) -> bool:
        pod = self._find_pod(victim.namespace, victim.name)
        return pod is None or pod.metadata.deletion_timestamp is not None

    def run(self, preemption: Preemption, handle: Handle, activate: Callable[[Iterable[str]], None]) -> None:
        """Carry out a preemption to its end. After an error the preemptor is activated, so that it is not stuck."""
        executor = Executor(handle, preemption.plugin)
        has_failed = executor.clear_lower_nominations(preemption.pod, preemption.node)
        *others, last = preemption.victims
        for victim in others:
            if executor.evict(victim, preemption.pod, preemption.node) is not None:
                has_failed = True
                break
        else:
            preemption.is_at_last_victim = True
            has_failed = executor.evict(last, preemption.pod, preemption.node) is not None or has_failed
        self.running.remove(preemption)
        if has_failed:
            activate([preemption.pod.key])


class Starts(Protocol):
    """Where a plugin leaves an asynchronous preemption."""

    def start(self, preemption: Preemption) -> None: ...

    def is_running_for(self, uid: str) -> bool: ...


class Executor:
    """Evicts victims. Upstream: Executor"""

    def __init__(self, handle: Handle, plugin: str) -> None:
        self._handle = handle
        self._plugin = plugin

    def actuate(self, pod: PodInfo, node: str, victims: Sequence[PodInfo]) -> Status:
        """Evict the victims, now or beside the cycles. Upstream: actuatePodPreemption"""
        awake = [victim for victim in victims if victim.pod.metadata.deletion_timestamp is None]
        if self._handle.features.scheduler_async_preemption:
            if awake:
                profile = self._handle.profile_name
                self._handle.preemptions.start(Preemption(pod, node, awake, profile=profile, plugin=self._plugin))
            return as_status(None)
        for victim in awake:
            error = self.evict(victim, pod, node)
            if error is not None:
                return as_status(error)
        self.clear_lower_nominations(pod, node)
        return as_status(None)

    def evict(self, victim: PodInfo, preemptor: PodInfo, node: str) -> StatusError | None:
        """Reject a victim that is not bound yet, or delete it. Returns the API server's error. Upstream: PreemptPod"""
        handle, client = self._handle, self._handle.client
        note = f"Preempted by pod {preemptor.uid} on node {node}"
        if handle.reject_waiting_pod(victim.uid, self._plugin, "preempted") or handle.cancel_pre_bind(
            victim.uid, f"preempted by {self._plugin}"
        ):
            note += " (in kube-scheduler memory)."
        else:
            error = client.patch_condition(victim.pod, _disruption(preemptor.pod)) or client.delete_pod(victim.pod)
            if error is not None:
                return None if error.is_not_found else error
        client.record_event(victim.pod, profile=handle.profile_name, type_="Normal", reason="Preempted", action="Preempting", note=note)
        return None

    def clear_lower_nominations(self, pod: PodInfo, node: str) -> bool:
        """Clear the nominations of pods that may no longer fit beside the preemptor. Returns whether one failed."""
        lower = [other for other in self._handle.nominator.nominated_pods_for_node(node) if other.priority < pod.priority]
        return any([self._handle.client.clear_nominated_node_name(other.pod) is not None for other in lower])


def _disruption(preemptor: Pod) -> PodCondition:
    message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
    return PodCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)
