"""The scheduling cycle of a pod group in a view, to which events are applied."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from schedviz.trace.events import PodGroupEnded, PodGroupPodTried, PodGroupStageEnded, PodGroupStarted
from schedviz.trace.view import CycleView, PodGroupCycleView, PodGroupPodView, StageView


class PodGroupFold:
    """A PodGroupCycleView, or None. Views that it returned never change."""

    def __init__(self, view: PodGroupCycleView | None) -> None:
        self.view = view

    @property
    def is_running(self) -> bool:
        """Whether the group's cycle has not ended."""
        return self.view is not None and not self.view.outcome

    def cycle(self, number: int) -> CycleView | None:
        """The cycle of one of the group's pods."""
        return None if self.view is None else next((cycle for cycle in self.view.cycles if cycle.cycle == number), None)

    def clear(self) -> None:
        """Another cycle is shown."""
        self.view = None

    def started(self, event: PodGroupStarted) -> None:
        """The cycle of a group began."""
        pods = [PodGroupPodView(pod=pod) for pod in event.pods]
        self.view = PodGroupCycleView(group=event.group, profile=event.profile, at_seconds=event.at, pods=pods)

    def stage_ended(self, event: PodGroupStageEnded) -> None:
        """A stage of the group ended."""
        if self.view is None:
            return
        stage = StageView(stage=event.stage, statuses=event.statuses, facts=event.facts)
        self.view = replace(
            self.view,
            stages=[*self.view.stages, stage],
            next_stage=event.next_stage,
            placement=event.facts.get("placement", self.view.placement),
        )

    def pod_tried(self, event: PodGroupPodTried) -> None:
        """The scheduling algorithm ended for one pod."""
        self._change_pod(
            event.pod,
            cycle=event.cycle,
            node=event.node,
            code=event.code,
            message=event.message,
            permit=event.permit,
            requires_preemption=event.requires_preemption,
        )

    def cycle_started(self, cycle: CycleView) -> None:
        """A pod is tried, perhaps once more."""
        self._change_pod(cycle.pod, cycle=cycle.cycle, node="", code="", message="", permit="", requires_preemption=False)
        self.cycle_changed(cycle)

    def cycle_changed(self, cycle: CycleView) -> None:
        """The cycle of one of the pods began, went on or ended."""
        if self.view is None or cycle.pod_group != self.view.group:
            return
        cycles = [cycle if other.cycle == cycle.cycle else other for other in self.view.cycles]
        if all(other.cycle != cycle.cycle for other in self.view.cycles):
            cycles.append(cycle)
        self.view = replace(self.view, cycles=cycles)
        self._change_pod(cycle.pod, cycle=cycle.cycle, outcome=cycle.outcome)

    def ended(self, event: PodGroupEnded) -> None:
        """The group's cycle ended."""
        if self.view is not None:
            self.view = replace(
                self.view, next_stage="", outcome=event.outcome, message=event.message, waiting_on_preemption=event.waiting_on_preemption
            )

    def _change_pod(self, pod: str, **members: Any) -> None:
        if self.view is not None:
            pods = [replace(other, **members) if other.pod == pod else other for other in self.view.pods]
            self.view = replace(self.view, pods=pods)
