"""Runs one trial: runs the engine to its end, and evaluates the measures."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from schedviz.engine import Outcome, Simulation
from schedviz.engine.framework.plugins.installed import installed_plugins
from schedviz.experiments.base import BaseCluster
from schedviz.experiments.finished import FinishedTrial
from schedviz.experiments.history import History
from schedviz.experiments.measures import Measure, MeasureError
from schedviz.experiments.plan import Limits, Plan
from schedviz.experiments.trial_inputs import objects_of_trial, settings_of_trial
from schedviz.experiments.trial_result import TrialResult
from schedviz.experiments.trials import Trial
from schedviz.kube.collector import without_gc
from schedviz.kube.core import Pod
from schedviz.trace.commands import Advance, AnyCommand, Run
from schedviz.trace.events import AnyEvent

#: Scheduling cycles between two calls of `stop`.
_CYCLES: Final = 100
_PLUGIN_IN_MESSAGE: Final = re.compile(r'running "([^"]+)" ')


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
            return TrialResult(trial.number, error=str(error), failed_part=error.plugin, cycles=run.cycles)
        return _measured(run, measures)


class PluginFailedError(Exception):
    """A user's plugin raised an exception, or returned something invalid."""

    def __init__(self, plugin: str, message: str) -> None:
        super().__init__(message)
        self.plugin = plugin


class Recording(Protocol):
    """Receives the events and commands of a `TrialRun`."""

    def add_events(self, events: list[AnyEvent]) -> None:
        """Called with the next events, in order."""

    def command_ended(self, seq: int, command: AnyCommand, outcome: Outcome) -> None:
        """Called when a command has ended, after its events."""


class TrialRun:
    """A trial's engine, from loading the base to the end of the run."""

    def __init__(
        self, trial: Trial, base: BaseCluster, plan: Plan, stop: Callable[[], bool] = never, *, recording: Recording | None = None
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
        self.history = History()
        self._before = self._pods()
        self._arrived: dict[str, Pod] = {}
        #: The user's plugins. An exception in one of them ends the trial.
        self._users_plugins = frozenset(installed_plugins(self.simulation.configuration, self.simulation.release.in_tree_registry()))
        #: Why the run ended.
        self.ended = "empty"
        self.cycles = 0

    def run(self) -> None:
        """Run the commands of the trace, and then schedule until nothing more can happen. Raises `PluginFailedError`, `TrialStopped`."""
        for command in self._commands:
            self._do(command)
            self._note_arrivals()
        while True:
            stopped = self._do(Run(max=self._cycles_left()))
            if stopped == "max":
                self.ended = "cycles"
                return
            if stopped == "repeating":
                self.ended = "repeating"
                return
            if not self._wait_for_backoff():
                return

    def finished(self) -> FinishedTrial:
        """The state for measures. Call it after `run`."""
        return FinishedTrial(
            self.simulation,
            self.history,
            before=self._before,
            arrived=self._arrived,
            engine_seconds=time.process_time() - self._began,
        )

    def _cycles_left(self) -> int | None:
        limit = self._limits.cycles
        return None if limit is None else max(limit - self.cycles, 1)

    def _wait_for_backoff(self) -> bool:
        """Advance the clock until a pod's backoff ends. Returns False if no pod backs off or the time limit is reached."""
        simulation = self.simulation
        if not simulation.scheduler.state.queue.pods_backing_off():
            return False
        if simulation.clock_seconds >= self._limits.seconds:
            self.ended = "seconds"
            return False
        self._do(Advance(to="next"))
        return True

    def _do(self, command: AnyCommand) -> str:
        """Run a command to its end; returns why it stopped."""
        simulation = self.simulation
        cycles = 0

        def should_return() -> bool:
            nonlocal cycles
            cycles += 1
            return cycles % _CYCLES == 0

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
        self.history.add(cycles)
        if self._users_plugins:
            for message in self.history.errors.values():
                match = _PLUGIN_IN_MESSAGE.search(message)
                if match and match[1] in self._users_plugins:
                    raise PluginFailedError(match[1], message)

    def _note_arrivals(self) -> None:
        """Remember when the pods that a command created arrived."""
        simulation = self.simulation
        for key, pod in self._pods().items():
            if key not in self._before and key not in self._arrived:
                self._arrived[key] = pod
                self.history.arrivals[key] = simulation.clock_seconds

    def _pods(self) -> dict[str, Pod]:
        return {obj.key: obj for obj in self.simulation.stored_objects() if isinstance(obj, Pod)}


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
        volatile=volatile,
    )
