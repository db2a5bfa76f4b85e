"""`BindingCycleV136`: the binding cycle of an assumed pod as v1.36 runs it.

Upstream: pkg/scheduler/schedule_one.go bindingCycle, handleBindingCycleError, bind
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from schedviz.engine import stages
from schedviz.engine.binding import BindingCycle
from schedviz.engine.failure import Failure
from schedviz.engine.failure_v1_36 import handle_scheduling_failure
from schedviz.engine.framework.runtime import PluginRun
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.status import as_status, wrapped
from schedviz.engine.instructions import BindPod
from schedviz.engine.queue.interface import PreEnqueueCheck
from schedviz.engine.queue.v1_36 import cluster_events
from schedviz.engine.reporting.stage_report import StageReport, statuses_of
from schedviz.engine.schedule_one_v1_36 import rejection_by_node
from schedviz.engine.stages import Stage


class BindingCycleV136(BindingCycle):
    """One binding cycle: `advance` runs one stage at a time. `STAGES`, below the stages' methods, has their order and successors."""

    @property
    def first_stage(self) -> str:
        """The stage with which the cycle begins."""
        return stages.PRE_BIND_PRE_FLIGHT if self.state.features.nominated_node_name_for_expectation else stages.WAIT_ON_PERMIT

    @property
    def _framework(self) -> FrameworkV136:
        assert isinstance(self.framework, FrameworkV136)
        return self.framework

    def _pre_bind_pre_flight(self) -> StageReport:
        """Run PreBindPreFlight; if a PreBind plugin has something to do, or if the pod waits, nominate its node."""
        outcome = self._framework.run_pre_bind_pre_flights(self.cycle_state, self.assumed, self.node)
        self.results.pre_bind_pre_flight = outcome.plugin_results
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success and not outcome.status.is_skip:
            return self._fail(Failure(outcome.status), statuses)
        facts: dict[str, Any] = {}
        if outcome.status.is_success or self.framework.waiting_pods.get(self.assumed.uid) is not None:
            self.state.patch_pod_status(self.assumed.pod, nominated_node_name=self.node)
            facts["nominatedNode"] = self.node
        return StageReport(stages.WAIT_ON_PERMIT, statuses, facts=facts)

    def _wait_on_permit(self) -> StageReport | None:
        status = self.framework.wait_on_permit(self.assumed)
        if status is None:
            return None
        if not status.is_success:
            failure = rejection_by_node(self.assumed.key, self.node, status)
            if status.is_rejected:
                # The name is "" if the pod was removed while it waited. No event requeues such a pod.
                failure = replace(failure, unschedulable_plugins=(status.failed_plugin,))
            return self._fail(failure)
        # No event can help a pod that fails from here on, so the queue need not keep them.
        self.state.queue.done(self.assumed.uid)
        return StageReport(stages.PRE_BIND)

    def _pre_bind(self) -> StageReport | None:
        if self.canceled:
            # A preemption canceled the context in which a plugin waits.
            plugin = self._framework.next_pre_bind_plugin(self.cycle_state, self.results.pre_bind)
            return self._fail(Failure(wrapped(f'running PreBind plugin "{plugin}"', as_status(self.canceled))))
        return super()._pre_bind()

    def _bind(self) -> StageReport:
        outcome = self._extender_binding() or self.framework.run_bind_plugins(self.cycle_state, self.assumed, self.node)
        self.results.bind = outcome.plugin_results
        statuses, facts = statuses_of(outcome.plugin_results), {"node": self.node}
        if not outcome.status.is_success:
            self.failure = Failure(outcome.status)
            return StageReport(stages.UNRESERVE, statuses, facts={**facts, "error": outcome.status.message})
        self._record_scheduled()
        return StageReport(stages.POST_BIND, statuses, facts=facts)

    def _extender_binding(self) -> PluginRun | None:
        """Bind with the first extender that binds such pods; an ignorable one that fails is passed over. Upstream: extendersBinding"""
        for extender in self.state.extenders:
            if not extender.is_binder or not extender.is_interested(self.assumed):
                continue
            error = extender.bind_error(self.assumed, self.node, cycle=self.number)
            if not error:
                refused = self.state.host.carry_out(BindPod(self.assumed.pod, self.node))
                error = "" if refused is None else str(refused)
            if error and extender.is_ignorable:
                continue
            return PluginRun(as_status(error or None))
        return None

    # The cycle failed. Upstream: schedule_one.go handleBindingCycleError

    def _move_pods(self, pre_check: PreEnqueueCheck | None = None) -> None:
        event, pod = cluster_events.ASSIGNED_POD_DELETE, self.assumed.pod
        self.state.queue.move_all_to_active_or_backoff_queue(event, pre_check, old=pod)

    def _handle_failure(self, failure: Failure) -> dict[str, Any]:
        return handle_scheduling_failure(self.state, self.framework, self.queued, failure)

    #: The stages in upstream's order, and what can follow each. CONFIRM is not a stage that runs: the watch event is awaited there.
    STAGES: ClassVar[Mapping[str, Stage[Callable[[Any], StageReport | None]]]] = stages.table(
        Stage(stages.PRE_BIND_PRE_FLIGHT, _pre_bind_pre_flight, (stages.WAIT_ON_PERMIT, stages.UNRESERVE)),
        Stage(stages.WAIT_ON_PERMIT, _wait_on_permit, (stages.PRE_BIND, stages.UNRESERVE)),
        Stage(stages.PRE_BIND, _pre_bind, (stages.BIND, stages.UNRESERVE)),
        Stage(stages.BIND, _bind, (stages.POST_BIND, stages.UNRESERVE)),
        BindingCycle.STAGES[stages.POST_BIND],
        # The cycle failed. Upstream: schedule_one.go handleBindingCycleError
        BindingCycle.STAGES[stages.UNRESERVE],
        BindingCycle.STAGES[stages.FORGET_POD],
        BindingCycle.STAGES[stages.MOVE_ALL],
        BindingCycle.STAGES[stages.HANDLE_SCHEDULING_FAILURE],
    )
