"""Handles a failed scheduling attempt as v1.36 does.

Upstream: pkg/scheduler/schedule_one.go handleSchedulingFailure
"""

from __future__ import annotations

from typing import Any

from schedviz.engine.failure import Failure, report_failure
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.types import QueuedPodInfo
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import Pod


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
            # Another pod has the name: this one was deleted.
            state.queue.done(pod.uid)
            return facts
        queued.pod_info = pod = queued.pod_info.info_of(cached)
        facts["requeued"] = state.queue.add_unschedulable_if_not_present(queued, state.queue.scheduling_cycle)
    state.queue.add_nominated_pod(queued.pod_info, failure.nominating_info)
    if failure.status.as_error() is not None:
        report_failure(state, framework, pod, failure)
    state.queue.done(pod.uid)
    return facts
