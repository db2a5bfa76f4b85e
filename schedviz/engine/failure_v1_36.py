"""Handles a failed scheduling attempt as v1.36 does.

Upstream: pkg/scheduler/schedule_one.go handleSchedulingFailure
"""

from __future__ import annotations

from typing import Any

from schedviz.engine.failure import Failure, truncate_message
from schedviz.engine.framework.interface import NominatingMode
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Pod, PodCondition


def handle_scheduling_failure(state: SchedulerState, framework: Framework, queued: QueuedPodInfo, failure: Failure) -> dict[str, Any]:
    """Handle a failed attempt in upstream's order. Returns the facts of the stage."""
    pod = queued.pod_info
    queued.clear_rejector_plugins()
    queued.unschedulable_plugins = set(failure.unschedulable_plugins or ())
    queued.pending_plugins = set(failure.pending_plugins)
    facts: dict[str, Any] = {"reason": failure.condition_reason, "message": failure.message, "requeued": False}
    cached: Pod | None = state.informers.by_key("Pod", queued.key)
    if cached is not None and not cached.spec.node_name:
        if cached.uid != pod.uid:
            # Another pod of the same name: this one is gone.
            state.queue.done(pod.uid)
            return facts
        queued.pod_info = pod = queued.pod_info.like(cached)
        facts["requeued"] = state.queue.add_unschedulable_if_not_present(queued, state.queue.scheduling_cycle)
    state.queue.add_nominated_pod(queued.pod_info, failure.nominating_info)
    if failure.status.as_error() is not None:
        state.record_event(
            pod.pod,
            framework.profile_name,
            type_="Warning",
            reason="FailedScheduling",
            action="Scheduling",
            note=truncate_message(failure.message),
        )
        _update_pod(state, pod, failure)
    state.queue.done(pod.uid)
    return facts


def _update_pod(state: SchedulerState, pod: PodInfo, failure: Failure) -> None:
    condition = PodCondition(type="PodScheduled", status="False", reason=failure.condition_reason, message=failure.message)
    nominating = failure.nominating_info
    override = nominating is not None and nominating.mode is NominatingMode.OVERRIDE
    state.patch_pod_status(pod.pod, condition, nominating.nominated_node_name if nominating is not None and override else None)
