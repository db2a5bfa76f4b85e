"""The scheduling cycle of a pod group in a checkpoint: its state between two stages, as data, and back. v1.36."""

from __future__ import annotations

import msgspec

from schedviz.engine.checkpointing.cycle_state import SchedulingCycleState, scheduling_cycle_of, scheduling_cycle_state
from schedviz.engine.framework.object_table import ObjectTable, QueuedPodState
from schedviz.engine.framework.pod_groups import Placement
from schedviz.engine.framework.status import Status
from schedviz.engine.podgroup_algorithm import PodGroupAlgorithmRun
from schedviz.engine.podgroup_pod_cycle import AlgorithmResult, PodGroupPodCycle, Submission
from schedviz.engine.schedule_one_podgroup import PodGroupCycle, PodGroupResults
from schedviz.engine.scheduler_state import SchedulerState


class PodGroupPodState(msgspec.Struct, frozen=True):
    """A PodGroupPodCycle."""

    cycle: SchedulingCycleState
    was_tried: bool
    algorithm_result: AlgorithmResult = msgspec.field(name="trial")
    submission: Submission


class PodGroupAlgorithmRunState(msgspec.Struct, frozen=True):
    """A PodGroupAlgorithmRun; its placement is that of the same position."""

    pods: list[PodGroupPodState]
    status: Status
    waiting_on_preemption: bool
    has_failed: bool


class PodGroupCycleState(msgspec.Struct, frozen=True):
    """A PodGroupCycle."""

    number: int
    queued: list[QueuedPodState]
    profile: str
    stage: str
    results: PodGroupResults
    placements: list[Placement]
    runs: list[PodGroupAlgorithmRunState] = msgspec.field(name="trials")
    #: The position of the run whose results count; None: none does yet, or there was none.
    chosen: int | None
    #: Pods that were not tried, after those of the chosen run.
    untried: list[PodGroupPodState]


def pod_group_cycle_state(group: PodGroupCycle, table: ObjectTable) -> PodGroupCycleState:
    """The state of a pod group's cycle."""
    chosen = group.chosen
    tried = [] if chosen is None else group.runs[chosen].pods
    return PodGroupCycleState(
        number=group.number,
        queued=[table.queued_pod_state(queued) for queued in group.queued],
        profile=group.profile_name,
        stage=group.stage,
        results=group.results,
        placements=list(group.placements),
        runs=[
            PodGroupAlgorithmRunState([_pod_state(pod, table) for pod in run.pods], run.status, run.waiting_on_preemption, run.has_failed)
            for run in group.runs
        ],
        chosen=chosen,
        untried=[_pod_state(pod, table) for pod in group.pods[len(tried) :]],
    )


def pod_group_cycle_of(saved: PodGroupCycleState, state: SchedulerState, table: ObjectTable) -> PodGroupCycle:
    """The pod group's cycle of a state."""
    queued = [table.queued_pod(state) for state in saved.queued]
    group = PodGroupCycle(state, queued[0], saved.number)
    group.queued = queued
    group.profile_name, group.stage, group.results = saved.profile, saved.stage, saved.results
    group.placements = saved.placements

    def pod_of(saved_pod: PodGroupPodState) -> PodGroupPodCycle:
        cycle = scheduling_cycle_of(PodGroupPodCycle, saved_pod.cycle, state, table)
        assert isinstance(cycle, PodGroupPodCycle)
        # The group and the pod's cycles share one QueuedPodInfo.
        cycle.queued = queued[cycle.number - group.number]
        cycle.pod_group = group.group.key
        cycle.was_tried, cycle.algorithm_result, cycle.submission = saved_pod.was_tried, saved_pod.algorithm_result, saved_pod.submission
        return cycle

    for placement, run in zip(saved.placements, saved.runs, strict=False):
        restored = PodGroupAlgorithmRun(placement, len(queued), group.make_pod_cycle)
        restored.pods = [pod_of(pod) for pod in run.pods]
        restored.status, restored.has_failed = run.status, run.has_failed
        restored.waiting_on_preemption = run.waiting_on_preemption
        group.runs.append(restored)
    group.choose(saved.chosen)
    group.pods += [pod_of(pod) for pod in saved.untried]
    return group


def _pod_state(pod: PodGroupPodCycle, table: ObjectTable) -> PodGroupPodState:
    return PodGroupPodState(scheduling_cycle_state(pod, table), pod.was_tried, pod.algorithm_result, pod.submission)
