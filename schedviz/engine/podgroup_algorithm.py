"""`PodGroupAlgorithmRun`: runs the scheduling algorithm for the pods of a group, one after the other, in one placement. v1.36.

Upstream: pkg/scheduler/schedule_one_podgroup.go podGroupSchedulingDefaultAlgorithm
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from schedviz.engine.failure import Failure
from schedviz.engine.framework.pod_groups import Placement, PodGroupAssignments
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unschedulable
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle

#: Upstream's errPodGroupUnschedulable.
POD_GROUP_UNSCHEDULABLE: Final = StatusError("pod group is unschedulable")
_UNSCHEDULABLE: Final = Status(Code.UNSCHEDULABLE, error=POD_GROUP_UNSCHEDULABLE)
_WAITING: Final = Status(Code.UNSCHEDULABLE, ("pod group is waiting for preemption to complete",), POD_GROUP_UNSCHEDULABLE)

#: Makes the cycle of the pod at this place.
MakePodCycle = Callable[[int], PodGroupPodCycle]


class PodGroupAlgorithmRun:
    """The run in one placement: `advance` runs one stage of one pod, until `is_over`. Then the pods must be reverted."""

    def __init__(self, placement: Placement, size: int, make_pod_cycle: MakePodCycle) -> None:
        """`size`: the number of pods."""
        self.placement = placement
        self._size = size
        self._make_pod_cycle = make_pod_cycle
        #: The cycles of the pods that were tried. A run that ends with an error has fewer than `size`.
        self.pods: list[PodGroupPodCycle] = []
        #: The group's result so far. Upstream: podGroupAlgorithmResult.status
        self.status = _UNSCHEDULABLE
        #: The group can be scheduled once the victims of a preemption have gone; `status` is Unschedulable then.
        self.waiting_on_preemption = False
        #: An error ended the run.
        self.has_failed = False

    @property
    def is_over(self) -> bool:
        """Whether no pod is left to try."""
        return self.has_failed or (len(self.pods) == self._size and all(pod.waits_for_group for pod in self.pods[-1:]))

    @property
    def may_be_chosen(self) -> bool:
        """Whether the group can be scheduled in this placement, now or after a preemption."""
        return self.status.is_success or self.waiting_on_preemption

    def advance(self) -> None:
        """Begin the next pod, or run one stage of the present one."""
        if not self.pods or self.pods[-1].waits_for_group:
            self.pods.append(self._make_pod_cycle(len(self.pods)))
            self.pods[-1].begin()
        else:
            self.pods[-1].advance()
        if self.pods[-1].waits_for_group:
            self._update_status(self.pods[-1])

    def _update_status(self, pod: PodGroupPodCycle) -> None:
        """Update the group's result with that of a pod."""
        result = pod.algorithm_result
        if not result.node:
            if not result.status.is_rejected:
                # An error ends the run; a rejected pod need not keep the others from being enough.
                self.status = as_status(StatusError(str(result.status.as_error())).wrap("failed to schedule other pod from a pod group"))
                self.waiting_on_preemption = False
                self.has_failed = True
        elif result.permit.is_success:
            self.waiting_on_preemption = any(other.algorithm_result.requires_preemption for other in self.pods)
            self.status = _WAITING if self.waiting_on_preemption else SUCCESS

    def revert(self) -> list[str]:
        """Take all pods off their nodes again, the last one first. Returns the plugins whose Unreserve ran."""
        return [plugin for pod in reversed(self.pods) if pod.is_placed for plugin in pod.revert()]

    def run_to_end(self) -> Status:
        """Try all pods and revert them. Returns the group's result."""
        while not self.is_over:
            self.advance()
        self.revert()
        return self.status

    def assignments(self) -> PodGroupAssignments:
        """The nodes of the pods that got one."""
        return PodGroupAssignments(self.placement, [(pod.pod, pod.algorithm_result.node) for pod in self.pods if pod.algorithm_result.node])


def no_placement(first: Status, placements: int) -> Status:
    """The group cannot be scheduled in any of this many placements; the status of the first is shown."""
    return unschedulable(f"0/{placements} placements are available, first placement status: {first.as_error()}")


def group_is_unschedulable(permit: Status) -> Failure:
    """Why a pod that has a node fails with its group."""
    return Failure(Status(Code.UNSCHEDULABLE, (permit.message,), POD_GROUP_UNSCHEDULABLE), ())
