"""Handles a failed scheduling attempt: requeues the pod, nominates a node, records an event, sets the PodScheduled condition.

Upstream: pkg/scheduler/schedule_one.go handleSchedulingFailure
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.engine.framework.fit_error import FitError
from schedviz.engine.framework.go_format import without_arguments
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.status import Code, Status, StatusError, as_status
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.kube.core import PodCondition

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"

#: The maximum length of a Kubernetes Event's note.
NOTE_LENGTH_LIMIT: Final = 1024

NO_NODES_AVAILABLE: Final = "no nodes available to schedule pods"

#: Upstream's clearNominatedNode.
CLEAR_NOMINATED_NODE: Final = NominatingInfo(NominatingMode.OVERRIDE, "")


class Failure(msgspec.Struct, frozen=True):
    """Why an attempt failed: a status, and the plugins that rejected the pod; None: the failure was not a FitError."""

    status: Status
    unschedulable_plugins: tuple[str, ...] | None = None
    nominating_info: NominatingInfo | None = CLEAR_NOMINATED_NODE
    #: v1.36: the plugins that returned Pending.
    pending_plugins: tuple[str, ...] = ()

    @property
    def condition_reason(self) -> str:
        """The reason of the pod's condition."""
        return UNSCHEDULABLE if self.status.is_rejected else SCHEDULER_ERROR

    @property
    def outcome(self) -> str:
        """The outcome of the cycle, by FORMAT.md's names."""
        return "unschedulable" if self.status.is_rejected else "error"

    @property
    def message(self) -> str:
        """The message of the pod's condition."""
        return self.status.message


def fit_failure(error: FitError, nominating_info: NominatingInfo | None) -> Failure:
    """No node fits."""
    status = Status(Code.UNSCHEDULABLE, error=StatusError(error.message))
    return Failure(status, tuple(sorted(error.diagnosis.unschedulable_plugins)), nominating_info)


def no_nodes_failure() -> Failure:
    """The cluster has no nodes."""
    return Failure(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, error=StatusError(NO_NODES_AVAILABLE)))


def error_failure(error: StatusError | str | None) -> Failure:
    """An error unrelated to whether the pod fits."""
    return Failure(as_status(error))


def handle_scheduling_failure(state: SchedulerState, framework: Framework, queued: QueuedPodInfo, failure: Failure) -> dict[str, Any]:
    """Handle a failed attempt in upstream's order. Returns the facts of the stage.

    Upstream would remove a node from the cache if the error itself, unwrapped, were the API server's that this node was not found. The
    framework wraps the errors of all plugins, so it never is.

    A status without an error (the last Bind plugin skipped) causes no event and no condition; upstream notes that only tests get there.
    """
    pod = queued.pod_info
    if failure.unschedulable_plugins is not None:
        queued.unschedulable_plugins = set(failure.unschedulable_plugins)
    requeued = _requeue(state, queued)
    state.queue.add_nominated_pod(queued.pod_info, failure.nominating_info)
    facts = {"reason": failure.condition_reason, "message": failure.message, "requeued": requeued}
    if failure.status.as_error() is None:
        return facts
    report_failure(state, framework, pod, failure)
    return facts


def _requeue(state: SchedulerState, queued: QueuedPodInfo) -> bool:
    cached = state.informers.by_key("Pod", queued.key)
    if cached is None or cached.spec.node_name:
        # The pod was deleted, or it was bound although the Bind call returned an error.
        return False
    queued.pod_info = queued.pod_info.info_of(cached)
    return state.queue.add_unschedulable_if_not_present(queued, state.queue.scheduling_cycle)


def report_failure(state: SchedulerState, framework: Framework, pod: PodInfo, failure: Failure) -> None:
    """Record a Kubernetes Event with the message, which upstream uses as a format, and patch the pod's status."""
    note = without_arguments(truncate_message(failure.message))
    state.record_event(pod.pod, framework.profile_name, type_="Warning", reason="FailedScheduling", action="Scheduling", note=note)
    condition = PodCondition(type="PodScheduled", status="False", reason=failure.condition_reason, message=failure.message)
    nominating = failure.nominating_info
    override = nominating is not None and nominating.mode is NominatingMode.OVERRIDE
    state.patch_pod_status(pod.pod, condition, nominating.nominated_node_name if nominating is not None and override else None)


def truncate_message(message: str) -> str:
    """The message, truncated to a note's maximum length in bytes. Upstream: pkg/scheduler/schedule_one.go truncateMessage"""
    data = message.encode()
    if len(data) <= NOTE_LENGTH_LIMIT:
        return message
    return data[: NOTE_LENGTH_LIMIT - 4].decode(errors="ignore") + " ..."
