"""`PodGroupPodCycle`: what the scheduling cycle of a pod group does for one of its pods. v1.36.

It runs in two parts. First the pod is tried: it is filtered and scored, and placed in the snapshot alone, so that the next pods of the
group see it. When the group's result is known, the pod is either assumed in the cache and goes on to its binding cycle, or it fails.

Upstream: pkg/scheduler/schedule_one_podgroup.go podGroupPodSchedulingAlgorithm, submitPodGroupAlgorithmResult
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import msgspec

from schedviz.engine import stages
from schedviz.engine.failure import Failure, no_nodes_failure
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.runtime import Framework, PluginResult
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.reporting.stage_report import StageReport, statuses_of
from schedviz.engine.schedule_one_v1_36 import SchedulingCycleV136
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.engine.stages import Stage
from schedviz.trace.events import PodGroupPodTried, SnapshotPod
from schedviz.trace.recorder import Recorder


class Submission(msgspec.Struct):
    """What plugins did for the pod after the group's result was known; `SchedulingCycle.results` has what they did before."""

    reserve: tuple[PluginResult, ...] = ()
    permit: tuple[PluginResult, ...] = ()
    unreserve: list[str] = []


class AlgorithmResult(msgspec.Struct):
    """The result of the scheduling algorithm for the pod. Upstream: algorithmResult"""

    status: Status = SUCCESS
    #: The node on which it is placed in the snapshot; "": none.
    node: str = ""
    #: Permit's status, for a pod that has a node.
    permit: Status = SUCCESS
    #: It fits only after the victims of a preemption have gone.
    requires_preemption: bool = False


def _then(stage: Stage[Any]) -> tuple[str, ...]:
    """The stages that can follow one, while the pod is tried or after its group was decided."""
    match stage.name:
        case stages.POP:
            return (stages.PRE_FILTER, stages.WAIT_FOR_POD_GROUP)
        case stages.POST_FILTER:
            return (stages.ASSUME, stages.WAIT_FOR_POD_GROUP)
        case stages.PERMIT:
            return (*stage.then, stages.WAIT_FOR_POD_GROUP)
    waits = stages.HANDLE_SCHEDULING_FAILURE in stage.then
    return (*stage.then, stages.WAIT_FOR_POD_GROUP) if waits else stage.then


class PodGroupPodCycle(SchedulingCycleV136):
    """One pod of a group: `advance` runs one stage at a time, until the stage is WAIT_FOR_POD_GROUP, and again after
    `prepare_for_binding_cycle` or `fail`.
    """

    def __init__(self, state: SchedulerState, queued: QueuedPodInfo, framework: Framework, number: int, *, pod_group: str = "") -> None:
        super().__init__(state, queued, framework, number)
        self.pod_group = pod_group
        self.cycle_state.is_pod_group_scheduling_cycle = True
        #: False: the group failed before the pod's turn came.
        self.was_tried = True
        self.algorithm_result = AlgorithmResult()
        self.submission = Submission()

    @classmethod
    def unrecorded(
        cls, state: SchedulerState, queued: QueuedPodInfo, framework: Framework, number: int, *, pod_group: str
    ) -> PodGroupPodCycle:
        """A cycle for a dry run: nothing is recorded, and no PostFilter plugin runs."""
        cycle = cls(state, queued, framework, number, pod_group=pod_group)
        cycle.recorder = Recorder()
        cycle.recorder.silent = True
        cycle.cycle_state.skip_all_post_filter_plugins = True
        return cycle

    @property
    def waits_for_group(self) -> bool:
        """Whether the pod waits for the group's result."""
        return self.stage == stages.WAIT_FOR_POD_GROUP

    @property
    def is_being_tried(self) -> bool:
        """Whether the scheduling algorithm runs for the pod."""
        return self._is_trying and not self.waits_for_group

    @property
    def is_placed(self) -> bool:
        """Whether the pod is placed in the snapshot, or was so until `revert`."""
        return bool(self.algorithm_result.node)

    @property
    def _is_trying(self) -> bool:
        return self.cycle_state.is_pod_group_scheduling_cycle

    # The group's result is known.

    def prepare_for_binding_cycle(self) -> None:
        """The group can be scheduled: Assume comes next, for the cache. Upstream: prepareForBindingCycle"""
        self.cycle_state.is_pod_group_scheduling_cycle = False
        self.failure = None
        self.stage = stages.ASSUME

    def fail(self, failure: Failure | None = None) -> None:
        """The pod goes back to the queue, for its own reason or for this one."""
        self.cycle_state.is_pod_group_scheduling_cycle = False
        if failure is not None:
            self.failure = failure
            self.results.rejected_nodes = self.results.feasible_nodes = 0
        self.stage = stages.HANDLE_SCHEDULING_FAILURE

    def revert(self) -> list[str]:
        """Take the pod off its node in the snapshot. Returns the plugins whose Unreserve ran. Upstream: unreserveAndForget"""
        assert self.assumed is not None
        plugins = self.framework.run_reserve_plugins_unreserve(self.cycle_state, self.assumed, self.algorithm_result.node)
        self._forget_in_snapshot(self.assumed)
        return plugins

    def begin_untried(self) -> None:
        """The group failed before the pod's turn came."""
        self.was_tried = False
        report = super()._pop()
        report.next_stage = self.stage = stages.WAIT_FOR_POD_GROUP
        self._record_stage(stages.POP, report)

    # The pod is tried.

    def _pop(self) -> StageReport:
        report = super()._pop()
        self.results.popped_from_backoff_q = False
        report.facts.pop("poppedFrom", None)
        report.next_stage = stages.PRE_FILTER
        if self.state.snapshot.num_nodes_in_placement == 0:
            return self._fail(no_nodes_failure(), report.facts)
        return report

    def _post_filter(self) -> StageReport:
        report = super()._post_filter()
        failure = self.failure
        nominating = None if failure is None else failure.nominating_info
        if failure is None or nominating is None or not nominating.nominated_node_name:
            return report
        # The next pods have to see this one in its place, with the victims still there.
        self.algorithm_result = AlgorithmResult(failure.status, requires_preemption=True)
        self.results.node = nominating.nominated_node_name
        report.next_stage = stages.ASSUME
        return report

    def _assume(self) -> StageReport:
        if not self._is_trying:
            return super()._assume()
        state, node = self.state, self.results.node
        if self.scored is not None:
            # Scores are views of columns, which change with the snapshot.
            self.scored = self.scored.detached()
        assumed = self.assumed = self.queued.pod_info.assigned(node)
        state.snapshot.assume_pod(assumed)
        self._record_snapshot_pod("assume", assumed)
        state.queue.delete_nominated_pod_if_exists(assumed)
        return StageReport(stages.RESERVE, facts={"node": node})

    def _reserve(self) -> StageReport:
        if self._is_trying:
            own, self.failure = self.failure, None
            report = super()._reserve()
            self.failure = self.failure or own
            return report
        tried = self.results.reserve
        report = super()._reserve()
        self.submission.reserve, self.results.reserve = self.results.reserve, tried
        return report

    def _permit(self) -> StageReport:
        if self._is_trying:
            return self._try_permit()
        tried = self.results.permit
        report = super()._permit()
        self.submission.permit, self.results.permit = self.results.permit, tried
        return report

    def _try_permit(self) -> StageReport:
        """Permit decides as if the pod were assumed; a pod that would have to wait does not wait yet."""
        assert self.assumed is not None
        own, self.failure = self.failure, None
        outcome, _ = self.framework.run_permit_plugins_without_waiting(self.cycle_state, self.assumed, self.results.node)
        self.results.permit = outcome.plugin_results
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success and not outcome.status.is_wait:
            self.failure = Failure(outcome.status)
            return self._with_fit_error(StageReport(stages.UNRESERVE, statuses))
        self.failure = own
        self.algorithm_result.node, self.algorithm_result.permit = self.results.node, outcome.status
        return StageReport(stages.WAIT_FOR_POD_GROUP, statuses)

    def _unreserve(self) -> StageReport:
        if self._is_trying:
            return super()._unreserve()
        tried = self.results.unreserve
        report = super()._unreserve()
        self.submission.unreserve, self.results.unreserve = self.results.unreserve, tried
        return report

    def _forget_pod(self) -> StageReport:
        if not self._is_trying:
            return super()._forget_pod()
        assert self.assumed is not None
        assert self.failure is not None
        self._forget_in_snapshot(self.assumed)
        self.algorithm_result = AlgorithmResult(self.failure.status)
        return StageReport(stages.WAIT_FOR_POD_GROUP)

    def _forget_in_snapshot(self, assumed: PodInfo) -> None:
        self.state.snapshot.forget_pod(assumed)
        self._record_snapshot_pod("forget", assumed)
        nominated = assumed.pod.status.nominated_node_name
        if nominated:
            # Placing it removed the nomination.
            self.state.queue.add_nominated_pod(assumed, NominatingInfo(NominatingMode.OVERRIDE, nominated))

    def _fail(self, failure: Failure, facts: dict[str, Any], statuses: Sequence[Any] = (), rejections: Sequence[Any] = ()) -> StageReport:
        report = super()._fail(failure, facts, statuses, rejections)
        if not self._is_trying:
            return report
        report.next_stage = stages.WAIT_FOR_POD_GROUP
        self.algorithm_result = AlgorithmResult(failure.status)
        return report

    # Recording

    def advance(self) -> None:
        """Run one stage and record what it found."""
        super().advance()
        if self.waits_for_group:
            self._record_algorithm_result()

    def begin(self) -> None:
        """Run the first stage, Pop."""
        super().begin()
        if self.waits_for_group:
            self._record_algorithm_result()

    def record_again(self) -> None:
        """Record the stages of the algorithm once more: another placement was tried after this one, which was chosen."""
        shown_stages, self.results.stages = self.results.stages, []
        self._record_start()
        for stage, following in zip(shown_stages, [*(later.stage for later in shown_stages[1:]), self.stage], strict=True):
            self._record_stage(stage.stage, StageReport(following, stage.statuses, stage.rejections, stage.facts))
        self._record_algorithm_result()

    def _record_algorithm_result(self) -> None:
        result = self.algorithm_result
        self.recorder.record(
            PodGroupPodTried,
            group=self.pod_group,
            pod=self.queued.key,
            node=result.node,
            code=result.status.code.value,
            message=result.status.message,
            permit=result.permit.code.value if result.node else "",
            requires_preemption=result.requires_preemption,
        )

    def _record_snapshot_pod(self, op: Literal["assume", "forget"], pod: PodInfo) -> None:
        members = self.state.snapshot.pod_groups.get(self.pod_group)
        self.recorder.record(
            SnapshotPod,
            op=op,
            pod=pod.key,
            node=pod.pod.spec.node_name,
            group=self.pod_group,
            members=None if members is None else members.to_view(),
        )

    #: The stages of the pod alone, without those that the group runs for all its pods. A pod that was tried waits for the group's result.
    STAGES: ClassVar[Mapping[str, Stage[Callable[[Any], StageReport]]]] = stages.overridden(
        {
            name: stage._replace(then=_then(stage))
            for name, stage in SchedulingCycleV136.STAGES.items()
            if name not in (stages.SKIP_POD_SCHEDULE, stages.UPDATE_SNAPSHOT)
        },
        {
            stages.POP: _pop,
            stages.POST_FILTER: _post_filter,
            stages.ASSUME: _assume,
            stages.RESERVE: _reserve,
            stages.PERMIT: _permit,
            stages.UNRESERVE: _unreserve,
            stages.FORGET_POD: _forget_pod,
        },
    )
