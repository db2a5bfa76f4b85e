"""Runs one trial: runs the engine to its end, and evaluates the measures."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from schedviz.engine import Outcome, Simulation
from schedviz.engine.clock import MILLISECOND, SECOND, nanoseconds
from schedviz.engine.framework.runtime.user_plugin_guard import GuardedPlugin, PluginFault
from schedviz.experiments.finished_trial import FinishedTrial
from schedviz.experiments.inputs.base_cluster import BaseCluster
from schedviz.experiments.inputs.trial_inputs import objects_of_trial, settings_of_trial, timeline_of_trial
from schedviz.experiments.measures import Measure, MeasureError
from schedviz.experiments.plans.plan import BACKOFF_SECONDS, Limits, Plan
from schedviz.experiments.plans.trials import Trial
from schedviz.experiments.trials.history import History
from schedviz.experiments.trials.node_shares import node_shares
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.experiments.trials.usage_log import UsageLog
from schedviz.kube.core import Pod
from schedviz.kube.gc_tuning import without_gc
from schedviz.trace.commands import MAX_SECONDS, Advance, AnyCommand, Run
from schedviz.trace.events import AnyEvent

#: Scheduling cycles between two calls of `stop`.
_CYCLES_PER_STOP_CHECK: Final = 100
#: The maximum of a `Run`.
_MAX_CYCLES_PER_RUN: Final = 1_000_000


class TrialStopped(Exception):
    """`stop` returned True: the trial has no result."""


def never() -> bool:
    """The default of `stop`."""
    return False


def run_trial(trial: Trial, base: BaseCluster, plan: Plan, measures: Sequence[Measure], *, stop: Callable[[], bool] = never) -> TrialResult:
    """Run a trial. An error of a user's plugin or of a measure is part of the result. Raises `TrialStopped`."""
    with without_gc():
        run = TrialRun(trial, base, plan, stop)
        try:
            run.run()
        except PluginFailedError as error:
            return TrialResult(trial.number, error=str(error), traceback=error.fault.traceback, failed_part=error.plugin, cycles=run.cycles)
        return _measured(run, measures)


class PluginFailedError(Exception):
    """A user's plugin raised an exception, or returned something invalid. `traceback` is empty if it raised none."""

    def __init__(self, plugin: str, fault: PluginFault) -> None:
        super().__init__(f"plugin {plugin}: {fault.message}")
        self.plugin = plugin
        self.fault = fault


class TrialObserver(Protocol):
    """Receives the events and commands of a `TrialRun`."""

    def add_events(self, events: list[AnyEvent]) -> None:
        """Called with the next events, in order."""

    def command_ended(self, seq: int, command: AnyCommand, outcome: Outcome) -> None:
        """Called when a command has ended, after its events."""


class TrialRun:
    """A trial's engine, from loading the base to the end of the run."""

    def __init__(
        self, trial: Trial, base: BaseCluster, plan: Plan, stop: Callable[[], bool] = never, *, recording: TrialObserver | None = None
    ) -> None:
        """Load the base. With a `recording`, events are recorded. Raises `PlanError`, `ConfigurationError`."""
        self.trial = trial
        self._limits: Limits = plan.limits
        self._stop = stop
        self._began = time.process_time()
        self.simulation = Simulation(settings_of_trial(trial, base, plan))
        self.simulation.load(objects_of_trial(trial, base, plan))
        # Measures need no events, and recording takes time.
        self.simulation.recorder.silent = recording is None
        self._recording = recording
        self._seq = 0
        self._commands = base.commands
        self._prices = plan.prices
        self._timeline = timeline_of_trial(trial, base, plan)
        self._is_timed = bool(base.commands) or plan.workload.is_timed
        self._tick = self.simulation.settings.tick_millis * MILLISECOND
        self.history = History()
        self._usage = UsageLog(self.simulation)
        #: How many of its changes were processed.
        self._noted = len(self._usage.changes)
        self._before = {obj.key: obj for obj in self.simulation.stored_objects() if isinstance(obj, Pod)}
        self._arrived: dict[str, Pod] = {}
        #: Why the run ended; "": it has not.
        self.ended = ""
        self.cycles = 0

    def run(self) -> None:
        """Run the commands of the trace, and then schedule until nothing more can happen. Raises `PluginFailedError`, `TrialStopped`."""
        for command in self._commands:
            self._do(command)
        clock = self.simulation.clock
        self._timeline.begin(clock.now)
        while not self.ended:
            # Before each command the clock ticks.
            for command in self._timeline.due(clock.now + self._tick, self._exists):
                self._do(command)
            stopped = self._do(Run(max=self._cycles_at_once()))
            if stopped == "repeating":
                self.ended = stopped
            elif stopped == "max":
                self.ended = self._limit_reached()
            else:
                self._wait()

    def finished(self) -> FinishedTrial:
        """The state for measures. Call it after `run`."""
        return FinishedTrial(
            self.simulation,
            self.history,
            changes=self._usage.changes,
            before=self._before,
            arrived=self._arrived,
            ended=self._timeline.ended,
            prices=self._prices,
            axis="seconds" if self._is_timed else "pods",
            engine_seconds=time.process_time() - self._began,
        )

    def _cycles_at_once(self) -> int | None:
        """How many cycles may run before something else happens; None: as many as there are."""
        limits = [] if self._limits.cycles is None else [self._limits.cycles - self.cycles]
        until = [time for time in (self._timeline.next_at, self._deadline) if time is not None]
        if self._is_timed and until and self._tick:
            limits.append((min(until) - self.simulation.clock.now) // self._tick)
        return min(max(min(limits), 1), _MAX_CYCLES_PER_RUN) if limits else None

    def _limit_reached(self) -> str:
        """Which limit of the plan was reached; "": none."""
        if self._limits.cycles is not None and self.cycles >= self._limits.cycles:
            return "cycles"
        deadline = self._deadline
        return "seconds" if deadline is not None and self.simulation.clock.now >= deadline else ""

    @property
    def _deadline(self) -> int | None:
        return None if self._limits.seconds is None else nanoseconds(self._limits.seconds)

    def _wait(self) -> None:
        """Let time pass until a pod arrives or ends, or a pod's backoff ends. Ends the trial if none of this will happen."""
        simulation = self.simulation
        queue, now = simulation.scheduler.state.queue, simulation.clock.now
        backs_off = bool(queue.pods_in_backoff_q())
        event = self._timeline.next_at
        if event is not None and not self._timeline.has_arrivals and not backs_off and all(each.gated for each in queue.unschedulable_pods):
            # Pods would only end.
            event = None
        if event is None and not backs_off:
            self.ended = "empty"
            return
        deadline = self._deadline
        if event is None and deadline is None:
            deadline = self._timeline.last + nanoseconds(BACKOFF_SECONDS)
        if deadline is not None and now >= deadline:
            self.ended = "seconds"
            return
        timer = simulation.next_timer() if event is not None else None
        if event is None or (timer is not None and timer < event and (deadline is None or timer < deadline)):
            self._do(Advance(to="next"))
        else:
            self._advance_to(event if deadline is None else min(event, deadline))

    def _advance_to(self, time: int) -> None:
        """Let time pass so that the next command runs at this time; if that is years ahead, a part of the time."""
        left = time - self.simulation.clock.now - 2 * self._tick
        self._do(Advance(seconds=min(max(left, 0) / SECOND, MAX_SECONDS)))

    def _exists(self, pod: Pod) -> bool:
        stored = self.simulation.cluster.find("Pod", pod.key)
        return isinstance(stored, Pod) and stored.uid == pod.uid

    def _do(self, command: AnyCommand) -> str:
        """Run a command to its end; returns why it stopped."""
        simulation = self.simulation
        cycles = 0

        def should_return() -> bool:
            nonlocal cycles
            cycles += 1
            return cycles % _CYCLES_PER_STOP_CHECK == 0

        self._seq += 1
        simulation.start(command, seq=self._seq)
        while (outcome := simulation.work(stop=should_return)) is None:
            self._take_cycles()
            if self._stop():
                raise TrialStopped
        self._take_cycles()
        if self._recording is not None:
            self._recording.command_ended(self._seq, command, outcome)
        return outcome.stopped

    def _take_cycles(self) -> None:
        cycles, events = self.simulation.drain_cycles(), self.simulation.drain_events()
        if self._recording is not None:
            self._recording.add_events(events)
        self.cycles += len(cycles)
        if self._is_timed:
            self._note_arrivals()
        self.history.add(cycles)
        for framework in self.simulation.scheduler.state.profiles.values():
            for plugin in framework.plugins.by_name.values():
                if isinstance(plugin, GuardedPlugin) and plugin.first_fault is not None:
                    raise PluginFailedError(plugin.name, plugin.first_fault)

    def _note_arrivals(self) -> None:
        """Note the pods that were created or got a node since the last time."""
        changes = self._usage.changes
        for change in changes[self._noted :]:
            pod = change.after
            if not isinstance(pod, Pod):
                continue
            if change.before is None:
                self._arrived[pod.key] = pod
                self.history.arrivals[pod.key] = change.at / SECOND
            elif pod.spec.node_name:
                self._timeline.bound(pod, change.at)
        self._noted = len(changes)


def _measured(run: TrialRun, measures: Sequence[Measure]) -> TrialResult:
    finished = run.finished()
    values: dict[str, float] = {}
    volatile: dict[str, float] = {}
    try:
        for measure in measures:
            (volatile if measure.info.is_volatile else values).update(measure.of(finished))
    except MeasureError as error:
        return TrialResult(
            run.trial.number,
            error=str(error),
            failed_part=error.name,
            traceback="".join(traceback.format_exception(error.__cause__)) if error.__cause__ else "",
            cycles=run.cycles,
        )
    return TrialResult(
        run.trial.number,
        values=values,
        placements=dict(sorted(finished.placements.items())),
        cycles=run.cycles,
        clock_seconds=round(run.simulation.clock_seconds, 9),
        ended=run.ended,
        node_shares=node_shares(finished),
        series=finished.usage.series(),
        series_axis=finished.axis,
        volatile=volatile,
    )
