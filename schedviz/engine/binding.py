"""`BindingCycle`: the binding cycle of an assumed pod, as a value that runs stage by stage. Several can be in flight.

Upstream: pkg/scheduler/schedule_one.go bindingCycle, handleBindingCycleError, bind, finishBinding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from schedviz.engine import stages
from schedviz.engine.cycle_results import BindingResults
from schedviz.engine.failure import Failure, handle_scheduling_failure
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.go_format import without_arguments
from schedviz.engine.framework.interface import PODS_TO_ACTIVATE_KEY, PRE_BIND_WAIT_KEY
from schedviz.engine.framework.runtime import Framework, PluginRun
from schedviz.engine.framework.status import as_status
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo
from schedviz.engine.instructions import BindPod
from schedviz.engine.queue.interface import PreEnqueueCheck
from schedviz.engine.queue.v1_27 import events as queue_events
from schedviz.engine.reporting import stage_timing
from schedviz.engine.reporting.stage_report import StageReport, statuses_of
from schedviz.engine.schedule_one import SchedulingCycle, activate
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.engine.stages import Stage
from schedviz.trace.events import BindingEnded, BindingStageEnded, BindingStarted
from schedviz.trace.view import StageView

BOUND: Final = "bound"
FAILED: Final = "failed"


class BindingCycle:
    """One binding cycle: `advance` runs one stage at a time. `STAGES`, below the stages' methods, has their order and successors."""

    def __init__(
        self,
        state: SchedulerState,
        *,
        number: int,
        queued: QueuedPodInfo,
        framework: Framework,
        cycle_state: CycleState,
        node: str,
        held: bool = False,
    ) -> None:
        self.state = state
        #: The number of the pod's scheduling cycle.
        self.number = number
        self.queued = queued
        #: The pod with its node.
        self.assumed: PodInfo = queued.pod_info
        self.framework = framework
        self.cycle_state = cycle_state
        self.node = node
        #: The cycle waits for a `bind` command.
        self.held = held
        #: The cycle was held at its beginning: a user runs it, so its watch event waits for a `confirm` command, too.
        self.by_hand = held
        #: The cycle had to wait at Permit or in PreBind, and resumes automatically.
        self.waited = False
        #: v1.36: why PreBind is to fail.
        self.canceled = ""
        #: The watch event of the binding was sent.
        self.watch_event_sent = False
        #: The stage that `advance` runs next; CONFIRM: only the watch event is missing; ENDED: none.
        self.stage = self.first_stage
        self.results = BindingResults()
        self.failure: Failure | None = None

    @classmethod
    def after(cls, cycle: SchedulingCycle, *, held: bool) -> BindingCycle:
        """The binding cycle of a pod that was scheduled."""
        binding = cls(
            cycle.state,
            number=cycle.number,
            queued=cycle.queued,
            framework=cycle.framework,
            cycle_state=cycle.cycle_state,
            node=cycle.results.node,
            held=held,
        )
        cycle.state.recorder.record_in_cycle(
            binding.number,
            BindingStarted,
            pod=binding.assumed.key,
            node=binding.node,
            held=held,
            next_stage=binding.stage,
            waiting_for=binding.waiting_for,
        )
        return binding

    @property
    def first_stage(self) -> str:
        """The stage with which the cycle begins."""
        return stages.WAIT_ON_PERMIT

    @property
    def has_begun(self) -> bool:
        """Whether a stage has run."""
        return self.stage != self.first_stage

    @property
    def pod(self) -> str:
        """The key of the pod."""
        return self.assumed.key

    @property
    def is_running(self) -> bool:
        """Whether there is a stage left to run."""
        return self.stage not in (stages.CONFIRM, stages.ENDED)

    @property
    def is_waiting(self) -> bool:
        """Whether the cycle waits inside a stage, and resumes automatically."""
        return self.waited and self.stage in (stages.WAIT_ON_PERMIT, stages.PRE_BIND)

    @property
    def waiting_for(self) -> list[str]:
        """Permit plugins that have not allowed the pod yet, sorted."""
        if self.stage not in (self.first_stage, stages.WAIT_ON_PERMIT):
            return []
        waiting = self.framework.waiting_pods.get(self.assumed.uid)
        return [] if waiting is None else sorted(waiting.pending)

    @property
    def pre_bind_deadline(self) -> int | None:
        """The end of the wait in PreBind; None: the cycle does not wait there."""
        if not self.waited or self.stage != stages.PRE_BIND or PRE_BIND_WAIT_KEY not in self.cycle_state:
            return None
        return self.cycle_state.read(PRE_BIND_WAIT_KEY).deadline

    def end(self, *, confirmed: bool) -> None:
        """End the cycle: the watch event of its binding arrived, or is no longer awaited."""
        self.stage = stages.ENDED
        self.results.confirmed = confirmed
        self.state.recorder.record_in_cycle(
            self.number, BindingEnded, pod=self.pod, node=self.node, outcome="confirmed" if confirmed else "lost"
        )

    def _wait_on_permit(self) -> StageReport | None:
        status = self.framework.wait_on_permit(self.assumed)
        if status is None:
            return None
        if not status.is_success:
            return self._fail(Failure(status))
        return StageReport(stages.PRE_BIND)

    def _pre_bind(self) -> StageReport | None:
        outcome = self.framework.run_pre_bind_plugins(self.cycle_state, self.assumed, self.node, self.results.pre_bind)
        self.results.pre_bind = outcome.plugin_results
        if outcome.status.is_wait:
            return None
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success:
            return self._fail(Failure(outcome.status), statuses)
        return StageReport(stages.BIND, statuses)

    def _bind(self) -> StageReport:
        outcome = self._extender_binding() or self.framework.run_bind_plugins(self.cycle_state, self.assumed, self.node)
        self.results.bind = outcome.plugin_results
        facts: dict[str, Any] = {"node": self.node}
        if not outcome.status.is_success:
            self.failure = Failure(outcome.status)
            facts["error"] = outcome.status.message
        return StageReport(stages.FINISH_BINDING, statuses_of(outcome.plugin_results), facts=facts)

    def _extender_binding(self) -> PluginRun | None:
        """Bind with the first extender that binds such pods; None: there is none. Upstream: schedule_one.go extendersBinding"""
        for extender in self.state.extenders:
            if extender.is_binder and extender.is_interested(self.assumed):
                error = extender.bind_error(self.assumed, self.node, cycle=self.number)
                if error:
                    return PluginRun(as_status(error))
                refused = self.state.host.carry_out(BindPod(self.assumed.pod, self.node))
                # The API server refuses the extender's request; the extender reports that in its result.
                return PluginRun(as_status(None if refused is None else without_arguments(str(refused))))
        return None

    def _finish_binding(self) -> StageReport:
        """Run after a failed Bind too, because upstream defers finishBinding."""
        self.state.cache.finish_binding(self.assumed, self.state.clock.now)
        if self.failure is not None:
            return StageReport(stages.UNRESERVE)
        self._record_scheduled()
        return StageReport(stages.POST_BIND)

    def _record_scheduled(self) -> None:
        pod = self.assumed.pod
        self.state.record_event(
            pod,
            self.framework.profile_name,
            type_="Normal",
            reason="Scheduled",
            action="Binding",
            note=f"Successfully assigned {pod.namespace}/{pod.name} to {self.node}",
        )

    def _post_bind(self) -> StageReport:
        self.framework.run_post_bind_plugins(self.cycle_state, self.assumed, self.node)
        self.results.outcome = BOUND
        facts: dict[str, Any] = {}
        if self.cycle_state.read(PODS_TO_ACTIVATE_KEY).pods:
            facts["activated"] = activate(self.state, self.cycle_state)
        return StageReport(stages.CONFIRM, facts=facts)

    # The cycle failed. Upstream: schedule_one.go handleBindingCycleError

    def _unreserve(self) -> StageReport:
        self.results.unreserve = self.framework.run_reserve_plugins_unreserve(self.cycle_state, self.assumed, self.node)
        return StageReport(stages.FORGET_POD, facts={"plugins": self.results.unreserve})

    def _forget_pod(self) -> StageReport:
        assert self.failure is not None
        error = self.results.forget_error = self.state.forget_pod(self.assumed)
        if error:
            return StageReport(stages.HANDLE_SCHEDULING_FAILURE, facts={"error": error})
        # An unschedulable pod must not be moved by its own event, so the event follows after the pod was queued.
        deferred = self.failure.status.is_rejected
        return StageReport(stages.HANDLE_SCHEDULING_FAILURE if deferred else stages.MOVE_ALL)

    def _move_all(self) -> StageReport:
        """Move pods as if the forgotten pod had been deleted: its resources are free again."""
        assert self.failure is not None
        if self.failure.status.is_rejected:
            uid = self.assumed.uid
            self._move_pods(lambda pod: pod.uid != uid)
            return StageReport(stages.ENDED)
        self._move_pods()
        return StageReport(stages.HANDLE_SCHEDULING_FAILURE)

    def _move_pods(self, pre_check: PreEnqueueCheck | None = None) -> None:
        self.state.queue.move_all_to_active_or_backoff_queue(queue_events.ASSIGNED_POD_DELETE, pre_check)

    def _handle_scheduling_failure(self) -> StageReport:
        failure, results = self.failure, self.results
        assert failure is not None
        facts = self._handle_failure(failure)
        results.message = failure.message
        results.condition_reason = failure.condition_reason
        deferred = failure.status.is_rejected and not results.forget_error
        return StageReport(stages.MOVE_ALL if deferred else stages.ENDED, facts=facts)

    def _handle_failure(self, failure: Failure) -> dict[str, Any]:
        """Returns the facts of the stage."""
        return handle_scheduling_failure(self.state, self.framework, self.queued, failure)

    def _fail(self, failure: Failure, statuses: Any = ()) -> StageReport:
        self.failure = failure
        return StageReport(stages.UNRESERVE, statuses)

    #: The stages in upstream's order, and what can follow each. CONFIRM is not a stage that runs: the watch event is awaited there.
    #: Upstream: schedule_one.go bindingCycle
    STAGES: ClassVar[Mapping[str, Stage[Callable[[BindingCycle], StageReport | None]]]] = stages.table(
        Stage(stages.WAIT_ON_PERMIT, _wait_on_permit, (stages.PRE_BIND, stages.UNRESERVE)),
        Stage(stages.PRE_BIND, _pre_bind, (stages.BIND, stages.UNRESERVE)),
        Stage(stages.BIND, _bind, (stages.FINISH_BINDING,)),
        Stage(stages.FINISH_BINDING, _finish_binding, (stages.POST_BIND, stages.UNRESERVE)),
        Stage(stages.POST_BIND, _post_bind, (stages.CONFIRM,)),
        # The cycle failed. Upstream: schedule_one.go handleBindingCycleError
        Stage(stages.UNRESERVE, _unreserve, (stages.FORGET_POD,)),
        Stage(stages.FORGET_POD, _forget_pod, (stages.MOVE_ALL, stages.HANDLE_SCHEDULING_FAILURE)),
        Stage(stages.MOVE_ALL, _move_all, (stages.HANDLE_SCHEDULING_FAILURE, stages.ENDED)),
        Stage(stages.HANDLE_SCHEDULING_FAILURE, _handle_scheduling_failure, (stages.ENDED, stages.MOVE_ALL)),
    )

    def advance(self) -> bool:
        """Run one stage and record what it found. False: the stage has to wait."""
        stage, recorder = self.stage, self.state.recorder
        began = stage_timing.begin(recorder, self.framework, self.number)
        report = self.STAGES[stage].run(self)
        if report is None:
            self.waited = True
            return False
        self.stage = report.next_stage
        recorder.record_in_cycle(
            self.number,
            BindingStageEnded,
            pod=self.pod,
            stage=stage,
            next_stage=report.next_stage,
            statuses=report.statuses,
            facts=report.facts,
        )
        stage_timing.end(recorder, self.framework, began)
        self.results.stages.append(StageView(stage=stage, statuses=report.statuses, facts=report.facts))
        if report.next_stage == stages.ENDED:
            self.results.outcome = FAILED
            recorder.record_in_cycle(self.number, BindingEnded, pod=self.pod, node=self.node, outcome=FAILED, message=self.results.message)
        return True
