"""What happens to a pod whose attempt failed: back to the queue, nomination, an event, the PodScheduled condition.

Upstream: pkg/scheduler/schedule_one.go handleSchedulingFailure
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.engine.cache import CacheError
from schedviz.engine.framework.fit_error import FitError
from schedviz.engine.framework.go_format import without_arguments
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.status import Code, Status, StatusError, as_status
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.instructions import PatchPodStatus
from schedviz.engine.state import SchedulerState
from schedviz.kube.core import Node, PodCondition
from schedviz.kube.meta import ObjectMeta

UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"

#: The longest note that a Kubernetes Event may have.
NOTE_LENGTH_LIMIT: Final = 1024

NO_NODES_AVAILABLE: Final = "no nodes available to schedule pods"

#: Upstream's clearNominatedNode.
CLEAR_NOMINATED_NODE: Final = NominatingInfo(NominatingMode.OVERRIDE, "")


class Failure(msgspec.Struct, frozen=True):
    """Why an attempt ended: a status, and the plugins that rejected the pod where it was a FitError (None: it was not)."""

    status: Status
    unschedulable_plugins: tuple[str, ...] | None = None
    nominating_info: NominatingInfo | None = CLEAR_NOMINATED_NODE

    @property
    def condition_reason(self) -> str:
        """The reason of the pod's condition."""
        return UNSCHEDULABLE if self.status.is_unschedulable else SCHEDULER_ERROR

    @property
    def outcome(self) -> str:
        """The outcome of the cycle in FORMAT.md's words."""
        return "unschedulable" if self.status.is_unschedulable else "error"

    @property
    def message(self) -> str:
        """The message of the pod's condition."""
        return self.status.message


def fit_failure(error: FitError, nominating_info: NominatingInfo | None) -> Failure:
    """No node fits."""
    status = Status(Code.UNSCHEDULABLE, error=StatusError(error.message))
    return Failure(status, tuple(sorted(error.diagnosis.unschedulable_plugins)), nominating_info)


def no_nodes_failure() -> Failure:
    """There are no nodes at all."""
    return Failure(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, error=StatusError(NO_NODES_AVAILABLE)))


def error_failure(error: StatusError | str | None) -> Failure:
    """Something went wrong that has nothing to do with how the pod fits."""
    return Failure(as_status(error))


def handle_scheduling_failure(state: SchedulerState, framework: Framework, queued: QueuedPodInfo, failure: Failure) -> dict[str, Any]:
    """Do all that is due, in upstream's order; what it came to, as the stage's facts.

    A status that is no error (the last Bind plugin skipped) is told to nobody: upstream's comment has it that only tests get there.
    """
    pod = queued.pod_info
    if failure.unschedulable_plugins is not None:
        queued.unschedulable_plugins = set(failure.unschedulable_plugins)
    _drop_node_that_is_gone(state, failure.status.as_error())
    requeued = _requeue(state, queued)
    state.queue.add_nominated_pod(queued.pod_info, failure.nominating_info)
    facts = {"reason": failure.condition_reason, "message": failure.message, "requeued": requeued}
    if failure.status.as_error() is None:
        return facts
    state.record_event(
        pod.pod,
        framework.profile_name,
        type_="Warning",
        reason="FailedScheduling",
        action="Scheduling",
        note=without_arguments(truncate_message(failure.message)),
    )
    _update_pod(state, pod, failure)
    return facts


def _drop_node_that_is_gone(state: SchedulerState, error: StatusError | None) -> None:
    """A node that the API server does not find, asked for again, leaves the cache; the informer's event does it later otherwise."""
    if error is None or error.not_found_kind != "node":
        return
    if state.host.find("Node", error.not_found_name) is None:
        try:
            state.cache.remove_node(Node(metadata=ObjectMeta(name=error.not_found_name)))
        except CacheError:
            return


def _requeue(state: SchedulerState, queued: QueuedPodInfo) -> bool:
    cached = state.informers.by_key("Pod", queued.key)
    if cached is None or cached.spec.node_name:
        # Deleted meanwhile, or bound although the answer to the Bind call said otherwise.
        return False
    queued.pod_info = queued.pod_info.like(cached)
    return state.queue.add_unschedulable_if_not_present(queued, state.queue.scheduling_cycle)


def _update_pod(state: SchedulerState, pod: PodInfo, failure: Failure) -> None:
    condition = PodCondition(type="PodScheduled", status="False", reason=failure.condition_reason, message=failure.message)
    nominating = failure.nominating_info
    override = nominating is not None and nominating.mode is NominatingMode.OVERRIDE
    state.host.carry_out(
        PatchPodStatus(
            pod=pod.pod,
            condition=condition,
            nominated_node_name=nominating.nominated_node_name if nominating is not None and override else None,
        )
    )


def truncate_message(message: str) -> str:
    """A note that is not too long. Upstream: pkg/scheduler/schedule_one.go truncateMessage (which counts bytes)"""
    data = message.encode()
    if len(data) <= NOTE_LENGTH_LIMIT:
        return message
    return data[: NOTE_LENGTH_LIMIT - 4].decode(errors="ignore") + " ..."
