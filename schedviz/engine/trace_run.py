"""Runs a schedviz-trace/1 file: its steps in order, with everything that FORMAT.md observes after each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.config import ConfigurationError
from schedviz.engine.extenders.calls import ExtenderTransport
from schedviz.engine.reporting import observation, observation_v1_36
from schedviz.engine.reporting.debugger import dump_lines
from schedviz.engine.reporting.kubectl_list import KubectlList
from schedviz.engine.reporting.scheduler_log import scheduler_log
from schedviz.engine.simulation import Simulation
from schedviz.engine.simulation_state import Outcome
from schedviz.trace import commands
from schedviz.trace.events import AnyEvent
from schedviz.trace.policies import Policies
from schedviz.trace.releases import V1_27
from schedviz.trace.simulation_settings import RULES_OF_NEW_SESSIONS, SimulationSettings, graceful_victims


class Logging(Protocol):
    """How the scheduler's log is captured."""

    @property
    def v(self) -> int: ...
    @property
    def format(self) -> Literal["text", "json"]: ...
    @property
    def pid(self) -> int: ...


class Trace(Protocol):
    """A decoded trace file: its header and its steps. `document` is the file as it was read."""

    @property
    def config(self) -> dict[str, Any] | None: ...
    @property
    def assumed_pod_ttl_seconds(self) -> float: ...
    @property
    def pod_max_in_unschedulable_seconds(self) -> float: ...
    @property
    def tick_millis(self) -> int: ...
    @property
    def graceful_victims(self) -> bool: ...
    @property
    def record_state(self) -> Literal["all", "last", "none"]: ...
    @property
    def record_cycles(self) -> Literal["all", "placement"]: ...
    @property
    def logging(self) -> Logging | None: ...
    @property
    def fake_extenders(self) -> Sequence[dict[str, Any]]: ...
    @property
    def policies(self) -> Policies: ...
    @property
    def release(self) -> str: ...
    @property
    def feature_gates(self) -> dict[str, bool]: ...
    @property
    def hold_preemption(self) -> bool: ...
    @property
    def hold_dispatch(self) -> bool: ...
    @property
    def tie_break(self) -> Literal["heap", "first"]: ...
    @property
    def steps(self) -> Sequence[Any]: ...
    @property
    def document(self) -> dict[str, Any]: ...


def settings_of(trace: Trace) -> SimulationSettings:
    """The settings in a trace's header."""
    return SimulationSettings(
        config=trace.config,
        assumed_pod_ttl_seconds=trace.assumed_pod_ttl_seconds,
        pod_max_in_unschedulable_seconds=trace.pod_max_in_unschedulable_seconds,
        tick_millis=trace.tick_millis,
        graceful_victims=graceful_victims(asked=trace.graceful_victims),
        fake_extenders=list(trace.fake_extenders),
        policies=trace.policies,
        **RULES_OF_NEW_SESSIONS,
        release=trace.release,
        feature_gates=trace.feature_gates,
        hold_preemption=trace.hold_preemption,
        hold_dispatch=trace.hold_dispatch,
        first_of_tied_v1_36=trace.tie_break == "first",
    )


def run_trace(trace: Trace, *, transport: ExtenderTransport | None = None) -> dict[str, Any]:
    """The trace's document with `observed` in every step, and `error` if its configuration is invalid.

    `transport` calls extenders whose responses the trace does not declare; without it they are not called.
    """
    document = {**trace.document}
    try:
        simulation = Simulation(settings_of(trace))
    except ConfigurationError as error:
        return {**document, "error": str(error)}
    if transport is not None:
        simulation.extender_calls.transport = transport
    dumps = any(not isinstance(step, commands.AnyCommand) for step in trace.steps)
    observer = Observer(simulation, placement=trace.record_cycles == "placement", logging=trace.logging, dumps=dumps)
    steps = []
    last = len(trace.steps) - 1
    for index, (document_step, command) in enumerate(zip(document["steps"], trace.steps, strict=True)):
        with_state = trace.record_state == "all" or (trace.record_state == "last" and index == last)
        steps.append({**document_step, "observed": observer.step(command, with_state=with_state)})
    return {**document, "steps": steps}


class Observer:
    """Runs steps on a simulation and returns FORMAT.md's observations of each."""

    def __init__(self, simulation: Simulation, *, placement: bool = False, logging: Logging | None = None, dumps: bool = False) -> None:
        """`dumps`: there are dump steps, so the objects that they list must be followed."""
        self._simulation = simulation
        self._objects = KubectlList(simulation.cluster.store, simulation.release.version) if dumps else None
        self._logging = logging
        self._log = None if logging is None else scheduler_log(simulation, verbosity=logging.v)
        self._placement = placement
        self._is_v1_27 = simulation.release.version == V1_27
        simulation.records = "placement" if placement else "full"

    def step(self, command: Any, *, with_state: bool = True) -> dict[str, Any]:
        """Run one step."""
        simulation = self._simulation
        if not isinstance(command, commands.AnyCommand):
            return self._dump(with_state=with_state)
        simulation.start(command)
        outcome = simulation.work()
        assert outcome is not None
        events = simulation.drain_events()
        simulation.drain_cycles()
        simulation.drain_extender_responses()
        if self._objects is not None:
            self._objects.note(command, events)
        observed = self._what_happened(command, outcome, events)
        self._note_log(observed, events)
        if with_state:
            observed.update(simulation.observed_state())
        return observed

    def _dump(self, *, with_state: bool) -> dict[str, Any]:
        """The output of SIGUSR2."""
        simulation = self._simulation
        simulation.executor.runner.tick()
        events = simulation.drain_events()
        observed = self._surroundings(simulation.clock_seconds)
        if not self._placement:
            observed.update(self._deliveries(events))
        if self._objects is not None:
            observed["objects"] = self._objects.document()
        verbosity = 0 if self._logging is None else self._logging.v
        self._note_log(observed, events, dump_lines(simulation, verbosity=verbosity))
        if with_state:
            observed.update(simulation.observed_state())
        return observed

    def _note_log(self, observed: dict[str, Any], events: list[AnyEvent], more: Sequence[LogLine] = ()) -> None:
        """Keep the scheduler's log lines of this step, if the log is captured."""
        if self._logging is None or self._log is None:
            return
        records = dict(self._simulation.cycle_records) if not self._placement else {}
        lines = [line for line in [*self._log.lines(events, records), *more] if line.verbosity <= self._logging.v]
        if lines:
            observed["log"] = "".join(line.write(self._logging.format, pid=self._logging.pid) for line in lines)

    def _deliveries(self, events: list[AnyEvent]) -> dict[str, list[Any]]:
        """The writes, watch events and Kubernetes Events of a step and, in v1.36, the queue's decisions."""
        seen = observation.deliveries(events)
        return seen if self._is_v1_27 else seen | observation_v1_36.queue_decisions(events)

    def _surroundings(self, clock_seconds: float) -> dict[str, Any]:
        """The members that every step has."""
        simulation = self._simulation
        seen = {
            "clockSeconds": clock_seconds,
            "nextStartNodeIndex": simulation.scheduler.state.next_start_node_index,
            "heldBindings": [binding.pod for binding in simulation.scheduler.held_bindings],
            "unconfirmed": list(simulation.cluster.watches.unconfirmed),
        }
        return seen if self._is_v1_27 else seen | observation_v1_36.pending_work(simulation.scheduler)

    def _what_happened(self, command: commands.AnyCommand, outcome: Outcome, events: list[AnyEvent]) -> dict[str, Any]:
        simulation = self._simulation
        observed = self._surroundings(outcome.clock_seconds)
        if not self._placement:
            observed.update(self._deliveries(events))
        if outcome.error:
            observed["error"] = outcome.error
        records = [record for _, record in simulation.cycle_records]
        match command:
            case commands.Schedule() | commands.Cycle():
                empty = observation.empty_cycle_record(simulation.scheduler.state.next_start_node_index)
                observed["cycle"] = records[-1] if records else empty
            case commands.Run():
                observed["cycles"] = records
            case commands.Bind() | commands.BindFail() | commands.Confirm() | commands.Preempt():
                self._note_pod(command, outcome, observed)
            case commands.Snapshot() if simulation.snapshot_update is not None:
                if not self._placement:
                    observed["snapshotUpdate"] = observation.snapshot_update_record(simulation.snapshot_update)
            case _:
                if outcome.result:
                    observed["result"] = outcome.result
        return observed

    def _note_pod(
        self, command: commands.Bind | commands.BindFail | commands.Confirm | commands.Preempt, outcome: Outcome, observed: dict[str, Any]
    ) -> None:
        simulation = self._simulation
        if outcome.result:
            observed["result"] = outcome.result
        pod = simulation.executor.pod if command.pod == "*" or not self._is_v1_27 else command.pod
        if pod:
            observed["pod"] = pod
        if isinstance(command, commands.Bind | commands.BindFail) and simulation.binding_record is not None and not self._placement:
            observed["binding"] = simulation.binding_record
