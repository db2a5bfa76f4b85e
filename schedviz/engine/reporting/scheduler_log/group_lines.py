"""The lines of v1.36's scheduling cycles of pod groups, and which pods' cycles belong to a group. Upstream: schedule_one_podgroup.go"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schedviz.engine import stages
from schedviz.engine.cache.debugger.log_line import LogLine, ObjectRef
from schedviz.engine.reporting.scheduler_log.writer import Writer, pod_ref
from schedviz.trace.events import CycleStarted, PodGroupEnded, PodGroupStageEnded, PodGroupStarted

_FILE: Final = "scheduler/schedule_one_podgroup.go"

GroupEvent = PodGroupStarted | PodGroupStageEnded | PodGroupEnded


class GroupLines:
    """Derives the lines of the group's own stages."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        #: The group whose cycle runs; "": none.
        self._group = ""
        #: The number of pods that are tried, and the placements that are left.
        self._pods = 0
        self._placements: list[str] = []
        #: The numbers of pods that were scheduled and that failed.
        self._scheduled = self._failed = 0

    def lines(self, event: GroupEvent) -> Iterator[LogLine]:
        """The lines of an event of the group's cycle."""
        match event:
            case PodGroupStarted():
                self._group, self._pods = event.group, len(event.pods)
                self._placements, self._scheduled, self._failed = [], 0, 0
            case PodGroupStageEnded():
                yield from self._stage_ended(event)
            case PodGroupEnded():
                yield from self._ended(event)
                self._group = ""

    def begins_pod(self, event: CycleStarted) -> Iterator[LogLine] | None:
        """The lines with which the cycle of a pod of the group begins; None: it belongs to no group."""
        if not self._group:
            self._writer.groups.pop(event.pod, None)
            return None
        self._writer.groups[event.pod] = self._group
        message, values = "Attempting to schedule a pod belonging to a pod group", (self._ref, pod_ref(event.pod))
        return iter([self._writer.line(f"{_FILE}:413", message, *values, v=4, cycle_of=event.pod)])

    @property
    def _ref(self) -> tuple[str, ObjectRef]:
        return pod_ref(self._group, "podGroup")

    def _line(self, line: int, message: str, *values: tuple[str, Any], v: int) -> LogLine:
        return self._writer.line(f"{_FILE}:{line}", message, self._ref, *values, v=v)

    def _stage_ended(self, event: PodGroupStageEnded) -> Iterator[LogLine]:
        match event.stage:
            case stages.POP:
                not_queued: Sequence[str] = event.facts.get("notQueued", ())
                message = "Pod available in pod group state not available in scheduling queue"
                for pod in not_queued:
                    yield self._line(149, message, pod_ref(pod), v=5)
            case stages.SKIP_POD_SCHEDULE if event.next_stage == stages.UPDATE_SNAPSHOT:
                yield self._line(77, "Attempting to schedule pod group", v=3)
            case stages.GENERATE_PLACEMENTS:
                self._placements = list(event.facts.get("placements", ()))
            case stages.SUBMIT_PODS:
                self._scheduled, self._failed = len(event.facts.get("scheduled", ())), len(event.facts.get("failed", ()))
        if event.next_stage == stages.TRY_PODS:
            if self._placements:
                message = "Assuming placement in snapshot"
                placement = ("placement", self._placements.pop(0))
                yield self._writer.line_of_group(f"{_FILE}:673", message, placement, v=4, group=self._group)
            yield self._line(364, "Running a pod group scheduling algorithm", ("unscheduledPodsCount", self._pods), v=5)

    def _ended(self, event: PodGroupEnded) -> Iterator[LogLine]:
        failed = ("unschedulablePods", self._failed)
        if event.outcome == "scheduled":
            yield self._line(586, "Successfully scheduled a pod group", ("scheduledPods", self._scheduled), failed, v=2)
        elif event.outcome == "unschedulable" and event.waiting_on_preemption:
            yield self._line(597, "Pod group is waiting for preemption", failed, v=2)
        elif event.outcome == "unschedulable":
            yield self._line(600, "Unable to schedule a pod group", failed, v=2)
        elif event.outcome == "error" and event.message:
            values = (self._ref, ("errorPods", self._failed))
            yield self._writer.unhandled(f"{_FILE}:611", "Error scheduling pod group", event.message, *values, cycle_of="")
