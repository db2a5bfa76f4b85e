"""`PodGroupCycle`: the scheduling cycle of a pod group, as a value that runs stage by stage. v1.36, gate GenericWorkload.

When a pod of a group is popped, all other pods of the group are popped too. They are tried one after the other in one snapshot, and then
scheduled together, or not at all.

Upstream: pkg/scheduler/schedule_one_podgroup.go scheduleOnePodGroup, podGroupCycle, submitPodGroupAlgorithmResult
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec

from schedviz.engine import stages
from schedviz.engine.cache import SnapshotUpdate
from schedviz.engine.failure import CLEAR_NOMINATED_NODE, SCHEDULER_ERROR, UNSCHEDULABLE, Failure
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode
from schedviz.engine.framework.listers import find_pod_group
from schedviz.engine.framework.plugins.gangscheduling.gang_scheduling import pod_group_not_found
from schedviz.engine.framework.pod_groups import Placement, group_of
from schedviz.engine.framework.runtime import Framework, PluginResult
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.status import SUCCESS, Code, Status, as_status, unschedulable
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.instructions import PatchPodGroupStatus
from schedviz.engine.podgroup_algorithm import PodGroupAlgorithmRun, group_is_unschedulable, no_placement
from schedviz.engine.podgroup_dry_run import pod_group_dry_run
from schedviz.engine.podgroup_pod_cycle import PodGroupPodCycle
from schedviz.engine.reporting.stage_report import StageReport
from schedviz.engine.schedule_one import SCHEDULED, SKIPPED
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.engine.stages import Stage
from schedviz.kube.meta import Condition, condition_of
from schedviz.trace.events import PodGroupEnded, PodGroupStageEnded, PodGroupStarted
from schedviz.trace.view import StageView

#: The condition of a PodGroup that says whether it was scheduled.
POD_GROUP_SCHEDULED: Final = "PodGroupScheduled"
_ERROR: Final = "error"


class PodGroupResults(msgspec.Struct):
    """The results of a pod group's cycle, as data that a checkpoint can store."""

    at_seconds: float = 0.0
    #: The pod that was popped first, how often it was tried, and whether it was still backing off.
    first_pod: str = ""
    attempts: int = 0
    popped_from_backoff_q: bool = False
    #: All popped pods, in the order in which they are tried.
    pods: list[str] = []
    start_node_index: int = 0
    next_start_node_index: int = 0
    snapshot_update: SnapshotUpdate | None = None
    stages: list[StageView] = []
    #: The group's result. Upstream: podGroupAlgorithmResult.status
    status: Status = SUCCESS
    waiting_on_preemption: bool = False
    #: What plugins did for all pods after the algorithm, and when it was reverted.
    reserve: list[PluginResult] = []
    permit: list[PluginResult] = []
    unreserve: list[str] = []
    placement: str = ""
    #: scheduled | unschedulable | error | skipped; "" while the cycle runs.
    outcome: str = ""
    message: str = ""
    #: The group's state is unknown, or its pods name several schedulers: it is not tried.
    is_refused: bool = False


class PodGroupCycle:
    """One cycle: `advance` runs one stage of the group, or one stage of one of its pods. `STAGES`, below the methods, has their order."""

    def __init__(self, state: SchedulerState, queued: QueuedPodInfo, number: int) -> None:
        """`queued`: the popped pod of the group."""
        group = group_of(queued.pod)
        assert group is not None
        self.state = state
        #: The number of the first pod's part of the cycle; the others have the following ones.
        self.number = number
        self.group = group
        #: The popped pods in the order in which they are tried.
        self.queued: list[QueuedPodInfo] = [queued]
        self.profile_name = queued.pod.spec.scheduler_name
        #: The stage that `advance` runs next; ENDED: none.
        self.stage = stages.POP
        self.results = PodGroupResults(first_pod=queued.key, attempts=queued.attempts, start_node_index=state.next_start_node_index)
        #: The placements in which the group is tried.
        self.placements: Sequence[Placement] = [Placement()]
        #: The runs of the algorithm so far, one for each placement; the last one may not be over.
        self.runs: list[PodGroupAlgorithmRun] = []
        #: The position of the run whose results count; None: none does yet, or there was none.
        self.chosen: int | None = None
        #: The pods' cycles whose results count: those of the chosen run, and of pods that were not tried.
        self.pods: list[PodGroupPodCycle] = []

    @property
    def has_ended(self) -> bool:
        """Whether no stage is left to run."""
        return self.stage == stages.ENDED

    @property
    def title(self) -> str:
        """What is scheduled, for messages."""
        return f"the pod group {self.group.key}"

    @property
    def framework(self) -> FrameworkV136:
        """The profile of the group's pods."""
        framework = self.state.profiles[self.profile_name]
        assert isinstance(framework, FrameworkV136)
        return framework

    @property
    def current_pod(self) -> PodGroupPodCycle | None:
        """The pod whose part of the cycle runs, or ran last."""
        if not self.pods:
            return next((run.pods[-1] for run in reversed(self.runs) if run.pods), None)
        submitted = [pod for pod in self.pods if not pod.waits_for_group or not pod.was_tried]
        return submitted[-1] if submitted else self.pods[-1]

    @property
    def shown_pods(self) -> list[PodGroupPodCycle]:
        """The cycle of each pod that was begun: of the chosen run, or else of the last one."""
        tried = {pod.number: pod for run in self.runs for pod in run.pods}
        return list((tried | {pod.number: pod for pod in self.pods}).values())

    @property
    def scheduled_pods(self) -> list[PodGroupPodCycle]:
        """The pods for which a binding cycle follows."""
        return [pod for pod in self.pods if pod.is_scheduled]

    @property
    def is_about_to_fail(self) -> bool:
        """Whether the next stage puts a pod back into the queue."""
        pod = self._next_to_submit
        if pod is None or self.stage != stages.SUBMIT_PODS:
            return False
        return not self._can_be_bound(pod) if pod.waits_for_group else pod.stage == stages.HANDLE_SCHEDULING_FAILURE

    @property
    def shown_start_node_index(self) -> int:
        """nextStartNodeIndex as the last ended cycle left it."""
        ended = any(pod.has_ended for pod in self.pods)
        return self.state.next_start_node_index if ended else self.results.start_node_index

    # Before the scheduling algorithm.

    def _pop(self) -> StageReport:
        """Pop all other unscheduled pods of the group. Upstream: podGroupInfoForPod"""
        state, first = self.state, self.queued[0]
        self.results.at_seconds = state.clock.seconds
        self.results.popped_from_backoff_q = state.queue.popped_from_backoff_q
        not_queued: list[str] = []
        try:
            unscheduled = state.cache.pod_group(self.group.key).unscheduled_pods()
        except LookupError:
            # Upstream loses the error, and the pod fails without a message.
            self.results.is_refused, self.results.status = True, SUCCESS
            unscheduled = []
        for pod in unscheduled:
            if pod.name == first.pod.name:
                continue
            queued = state.queue.pop_specific_pod(pod.key)
            if queued is None:
                not_queued.append(pod.key)
            else:
                self.queued.append(queued)
        self.queued.sort(key=lambda queued: (-queued.pod_info.priority, queued.initial_attempt_timestamp or 0))
        keys = self.results.pods = [queued.key for queued in self.queued]
        state.recorder.record(PodGroupStarted, group=self.group.key, profile=self.profile_name, pods=keys)
        facts: dict[str, Any] = {"pods": len(keys)}
        if not_queued:
            facts["notQueued"] = not_queued
        if not self.results.is_refused:
            self._require_one_scheduler()
        return StageReport(stages.SUBMIT_PODS if self.results.is_refused else stages.SKIP_POD_SCHEDULE, facts=facts)

    def _require_one_scheduler(self) -> None:
        """Upstream: frameworkForPodGroup"""
        names = [queued.pod.spec.scheduler_name for queued in self.queued]
        other = next((name for name in names if name != names[0]), None)
        if other is not None:
            message = "all pods in a single pod group should have the same .spec.schedulerName set, got: "
            self.results.status = as_status(f'{message}"{names[0]}" and "{other}"')
            self.results.is_refused = True

    def _skip_pod_schedule(self) -> StageReport:
        """Leave out pods that are being deleted, or that were assumed. Upstream: skipPodGroupPodSchedule"""
        state = self.state
        skipped: list[str] = []
        for queued in list(self.queued):
            pod = queued.pod
            is_deleted = pod.metadata.deletion_timestamp is not None
            if is_deleted:
                state.record_event(
                    pod,
                    self.profile_name,
                    type_="Warning",
                    reason="FailedScheduling",
                    action="Scheduling",
                    note=f"skip schedule deleting pod: {pod.key}",
                )
            if is_deleted or state.cache.is_assumed_pod(queued.pod_info):
                skipped.append(queued.key)
                state.queue.done(queued.uid)
                self.queued.remove(queued)
        if self.queued:
            return StageReport(stages.UPDATE_SNAPSHOT, facts={"skipped": skipped} if skipped else {})
        self.results.outcome = SKIPPED
        return StageReport(stages.ENDED, facts={"skipped": skipped})

    def _update_snapshot(self) -> StageReport:
        state = self.state
        update = self.results.snapshot_update = state.cache.update_snapshot(state.snapshot)
        facts = {"nodes": state.snapshot.num_nodes, "generation": state.snapshot.generation}
        if update.error:
            return self._decide(as_status(update.error), facts=facts)
        if self.state.features.topology_aware_workload_scheduling:
            return StageReport(stages.GENERATE_PLACEMENTS, facts=facts)
        self._begin_run()
        return StageReport(stages.TRY_PODS, facts=facts)

    # Whether the group can be scheduled. Upstream: podGroupSchedulingAlgorithm

    def _generate_placements(self) -> StageReport:
        """Upstream: podGroupSchedulingPlacementAlgorithm"""
        placements = self.framework.run_placement_generate_plugins(self.group, Placement())
        if isinstance(placements, Status):
            return self._decide(placements, facts={"error": placements.message})
        self.placements = placements
        self._begin_run()
        return StageReport(stages.TRY_PODS, facts={"placements": [placement.name for placement in placements]})

    def _try_pods(self) -> StageReport | None:
        """Run one stage of one pod; None: there are more."""
        run = self.runs[-1]
        if not run.is_over:
            run.advance()
        if not run.is_over:
            return None
        placed = [pod.pod.key for pod in run.pods if pod.is_placed]
        facts: dict[str, Any] = {
            "placed": placed,
            "failed": [pod.pod.key for pod in run.pods if not pod.is_placed],
            "code": run.status.code.value,
            "message": run.status.message,
        }
        if run.waiting_on_preemption:
            facts["waitingOnPreemption"] = True
        if run.placement.name:
            facts["placement"] = self.results.placement = run.placement.name
        return StageReport(stages.REVERT_PODS, facts=facts)

    def _begin_run(self) -> None:
        placement = self.placements[len(self.runs)]
        self.state.snapshot.assume_placement(placement.nodes)
        self.runs.append(PodGroupAlgorithmRun(placement, len(self.queued), self.make_pod_cycle))

    def _revert_pods(self) -> StageReport:
        """The pods were placed to see whether they fit together. Now their nodes are as in the cache again."""
        run = self.runs[-1]
        plugins = run.revert()
        self.state.snapshot.assume_placement(None)
        self.results.unreserve += plugins
        facts = {"pods": [pod.pod.key for pod in reversed(run.pods) if pod.is_placed], "plugins": plugins}
        if run.has_failed:
            return self._decide(run.status, run, facts=facts)
        if len(self.runs) < len(self.placements):
            self._begin_run()
            return StageReport(stages.TRY_PODS, facts=facts)
        if self.state.features.topology_aware_workload_scheduling:
            return StageReport(stages.CHOOSE_PLACEMENT, facts=facts)
        return self._decide(run.status, run, facts=facts)

    def _choose_placement(self) -> StageReport:
        """Upstream: podGroupSchedulingPlacementAlgorithm, findBestPlacement"""
        possible = [run for run in self.runs if run.may_be_chosen]
        if not possible:
            first = self.runs[0]
            return self._decide(no_placement(first.status, len(self.placements)), first)
        if len(possible) == 1:
            return self._choose(possible[0])
        scores = self.framework.run_placement_score_plugins(self.group, [run.assignments() for run in possible])
        if isinstance(scores, Status):
            return self._decide(scores, facts={"error": scores.message})
        # Upstream draws among the placements with the highest score; here the first one by name is taken.
        best = max(range(len(possible)), key=lambda index: (scores[index], -index))
        score_of = {run.placement.name: score for run, score in zip(possible, scores, strict=True)}
        return self._choose(possible[best], {"scores": score_of})

    def _choose(self, run: PodGroupAlgorithmRun, facts: dict[str, Any] | None = None) -> StageReport:
        self.results.placement = run.placement.name
        return self._decide(run.status, run, facts=(facts or {}) | {"placement": run.placement.name})

    def _decide(self, status: Status, run: PodGroupAlgorithmRun | None = None, *, facts: dict[str, Any] | None = None) -> StageReport:
        """The group's result is known. Without a run the pods have no results of their own."""
        results = self.results
        results.status = status
        if run is not None:
            self.choose(self.runs.index(run))
            self._record_again(run)
            results.waiting_on_preemption = run.waiting_on_preemption
        if status.code is Code.UNSCHEDULABLE and self.state.features.workload_aware_preemption:
            return StageReport(stages.POD_GROUP_POST_FILTER, facts=facts)
        return StageReport(stages.SUBMIT_PODS, facts=facts)

    def _record_again(self, run: PodGroupAlgorithmRun) -> None:
        """Record what the chosen run found once more, if another placement was tried after it."""
        if run is not self.runs[-1]:
            for pod in run.pods:
                self.state.recorder.cycle = pod.number
                pod.record_again()

    def choose(self, index: int | None) -> None:
        """Let the results of the run at this position count."""
        self.chosen = index
        self.pods = [] if index is None else list(self.runs[index].pods)

    def _pod_group_post_filter(self) -> StageReport:
        """Evict pods, or whole groups, to make room for this group. Upstream: podGroupCycle, runWorkloadAwarePreemption"""
        results = self.results
        status, victims = self._preempt()
        facts: dict[str, Any] = {"code": status.code.value, "message": status.message}
        if status.is_success:
            results.waiting_on_preemption = True
            facts["victims"] = [victim.key for victim in victims]
        elif status.code is Code.ERROR:
            results.status = status
        else:
            results.status = results.status.with_reason(status.message)
        return StageReport(stages.SUBMIT_PODS, facts=facts)

    def _preempt(self) -> tuple[Status, list[PodInfo]]:
        group = find_pod_group(self.state.informers, self.group)
        if group is None:
            return as_status(pod_group_not_found(self.group).wrap("failed to get pod group object")), []
        if group.spec.scheduling_constraints is not None and group.spec.scheduling_constraints.topology:
            return unschedulable("workload aware preemption is not supported for pod groups with scheduling constraints"), []
        pods = [queued.pod_info for queued in self.queued]
        with pod_group_dry_run(self.state, self.framework, len(pods), self._make_unrecorded_pod_cycle) as dry_run:
            return self.framework.run_pod_group_post_filter(group, pods, dry_run)

    # The pods go on together, or back to the queue. Upstream: submitPodGroupAlgorithmResult

    @property
    def _next_to_submit(self) -> PodGroupPodCycle | None:
        """The pod that is submitted now; None: all are, or the next one was not tried."""
        return next((pod for pod in self.pods if not pod.has_ended), None)

    def _submit_pods(self) -> StageReport | None:
        """Run one stage of one pod; None: there are more."""
        pod = self._next_to_submit
        if pod is None:
            # A pod of a group that failed before it was tried.
            self.pods.append(self.make_pod_cycle(len(self.pods)))
            self.pods[-1].begin_untried()
        else:
            self.state.recorder.cycle = pod.number
            if pod.waits_for_group:
                self._submit(pod)
            pod.advance()
            if pod.has_ended:
                self._note_submission(pod)
        if self._next_to_submit is not None or len(self.pods) < len(self.queued):
            return None
        facts = {
            "scheduled": [pod.queued.key for pod in self.scheduled_pods],
            "failed": [pod.queued.key for pod in self.pods if not pod.is_scheduled],
        }
        if self.results.is_refused:
            self._set_outcome()
            return StageReport(stages.ENDED, facts=facts)
        return StageReport(stages.UPDATE_POD_GROUP_CONDITION, facts=facts)

    def _submit(self, pod: PodGroupPodCycle) -> None:
        """Decide what the group's result means for a pod."""
        results, algorithm_result = self.results, pod.algorithm_result
        status = results.status
        if results.is_refused:
            pod.fail(Failure(status, nominating_info=None if status.is_success else CLEAR_NOMINATED_NODE))
        elif not status.is_success and not status.is_rejected:
            own = pod.was_tried and not algorithm_result.status.is_success and not algorithm_result.status.is_rejected
            pod.fail(None if own else Failure(status))
        elif not pod.was_tried:
            pod.fail(Failure(status, nominating_info=None))
        elif self._can_be_bound(pod):
            pod.prepare_for_binding_cycle()
        elif algorithm_result.status.is_success and results.waiting_on_preemption:
            pod.fail(Failure(status, (), NominatingInfo(NominatingMode.OVERRIDE, algorithm_result.node)))
        elif algorithm_result.status.is_success or (algorithm_result.requires_preemption and not results.waiting_on_preemption):
            pod.fail(group_is_unschedulable(algorithm_result.permit))
        else:
            pod.fail()

    def _can_be_bound(self, pod: PodGroupPodCycle) -> bool:
        results = self.results
        return pod.was_tried and pod.algorithm_result.status.is_success and results.status.is_success and not results.is_refused

    def _note_submission(self, pod: PodGroupPodCycle) -> None:
        self.results.reserve += pod.submission.reserve
        self.results.permit += pod.submission.permit
        self.results.unreserve += pod.submission.unreserve

    def _update_pod_group_condition(self) -> StageReport:
        """Upstream: updatePodGroupCondition"""
        self._set_outcome()
        status = self.results.status
        if status.is_success:
            condition = Condition(POD_GROUP_SCHEDULED, "True", "Scheduled", status.message)
        elif status.is_rejected:
            condition = Condition(POD_GROUP_SCHEDULED, "False", UNSCHEDULABLE, status.message)
        else:
            condition = Condition(POD_GROUP_SCHEDULED, "False", SCHEDULER_ERROR, str(status.as_error()))
        facts = {"status": condition.status, "reason": condition.reason, "message": condition.message}
        group = find_pod_group(self.state.informers, self.group)
        if group is None:
            return StageReport(stages.ENDED, facts=facts)
        current = condition_of(group.status.conditions, POD_GROUP_SCHEDULED)
        if current is None or current.status != "True" or condition.status == "True":
            # A group that was scheduled stays so, whatever happens to further pods.
            self.state.host.carry_out(PatchPodGroupStatus(group, condition))
        return StageReport(stages.ENDED, facts=facts)

    def _set_outcome(self) -> None:
        status = self.results.status
        self.results.message = status.message
        if status.is_success:
            self.results.outcome = _ERROR if self.results.is_refused else SCHEDULED
        else:
            self.results.outcome = "unschedulable" if status.is_rejected else _ERROR

    # The cycles of the pods, and how the group's cycle runs.

    def _make_unrecorded_pod_cycle(self, index: int) -> PodGroupPodCycle:
        """The cycle of the pod at this place in a dry run, of which nothing is recorded."""
        queued = self.queued[index]
        framework: Framework = self.state.profiles[queued.pod.spec.scheduler_name]
        return PodGroupPodCycle.unrecorded(self.state, queued, framework, self.number + index, pod_group=self.group.key)

    def make_pod_cycle(self, index: int) -> PodGroupPodCycle:
        """The cycle of the pod at this place; a pod that is tried again keeps its number."""
        queued = self.queued[index]
        number = self.number + index
        self.state.cycle = max(self.state.cycle, number)
        self.state.recorder.cycle = number
        framework: Framework = self.state.profiles[queued.pod.spec.scheduler_name]
        return PodGroupPodCycle(self.state, queued, framework, number, pod_group=self.group.key)

    #: The stages in upstream's order, and what can follow each. TRY_PODS and SUBMIT_PODS run the stages of the pods.
    STAGES: ClassVar[Mapping[str, Stage[Callable[[PodGroupCycle], StageReport | None]]]] = stages.table(
        Stage(stages.POP, _pop, (stages.SKIP_POD_SCHEDULE, stages.SUBMIT_PODS)),
        Stage(stages.SKIP_POD_SCHEDULE, _skip_pod_schedule, (stages.UPDATE_SNAPSHOT, stages.ENDED)),
        Stage(stages.UPDATE_SNAPSHOT, _update_snapshot, (stages.TRY_PODS, stages.GENERATE_PLACEMENTS, stages.SUBMIT_PODS)),
        Stage(
            stages.GENERATE_PLACEMENTS,
            _generate_placements,
            (stages.TRY_PODS, stages.SUBMIT_PODS, stages.POD_GROUP_POST_FILTER),
        ),
        Stage(stages.TRY_PODS, _try_pods, (stages.REVERT_PODS,)),
        Stage(
            stages.REVERT_PODS,
            _revert_pods,
            (stages.SUBMIT_PODS, stages.TRY_PODS, stages.CHOOSE_PLACEMENT, stages.POD_GROUP_POST_FILTER),
        ),
        Stage(stages.CHOOSE_PLACEMENT, _choose_placement, (stages.SUBMIT_PODS, stages.POD_GROUP_POST_FILTER)),
        Stage(stages.POD_GROUP_POST_FILTER, _pod_group_post_filter, (stages.SUBMIT_PODS,)),
        Stage(stages.SUBMIT_PODS, _submit_pods, (stages.UPDATE_POD_GROUP_CONDITION, stages.ENDED)),
        Stage(stages.UPDATE_POD_GROUP_CONDITION, _update_pod_group_condition, (stages.ENDED,)),
    )

    def begin(self) -> None:
        """Run the first stage, Pop."""
        self.advance()

    def advance(self) -> None:
        """Run one stage, or one stage of one pod, and record what it found."""
        stage = self.stage
        report = self.STAGES[stage].run(self)
        if report is None:
            return
        self.stage = report.next_stage
        self.state.recorder.cycle = self.number
        self.state.recorder.record(
            PodGroupStageEnded,
            group=self.group.key,
            stage=stage,
            next_stage=report.next_stage,
            statuses=report.statuses,
            facts=report.facts,
        )
        self.results.stages.append(StageView(stage=stage, statuses=report.statuses, facts=report.facts))
        if report.next_stage == stages.ENDED:
            self.results.next_start_node_index = self.state.next_start_node_index
            self.state.recorder.record(
                PodGroupEnded,
                group=self.group.key,
                outcome=self.results.outcome,
                message=self.results.message,
                waiting_on_preemption=self.results.waiting_on_preemption,
            )
