"""`Simulation`: a scheduler with a simulated API server around it, driven by commands. The engine's public face.

Commands go in one at a time (`start`, then `work` until it is done), trace events come out (`drain_events`). A command may be left
in the middle, between two cycles, and be taken up again, also from a checkpoint, without changing what it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import SchedulerExitError, SnapshotUpdate
from schedviz.engine.checkpointing import checkpoint as checkpoints
from schedviz.engine.checkpointing.origin import Origin
from schedviz.engine.clock import Clock
from schedviz.engine.cluster import Cluster
from schedviz.engine.commands import connections
from schedviz.engine.commands.executor import Operations, Task
from schedviz.engine.config import ConfigurationError, KubeSchedulerConfiguration, Problem, load_configuration
from schedviz.engine.extenders.calls import Answer, ExtenderCalls
from schedviz.engine.extenders.extender import Extender, build_extenders, with_ignored_resources
from schedviz.engine.framework.runtime import Stopwatch
from schedviz.engine.outcome import Outcome
from schedviz.engine.reporting import observation
from schedviz.engine.reporting.cycle_view import api_view, binding_view, cycle_view
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.scheduler import Scheduler
from schedviz.kube.meta import KubeObject
from schedviz.trace import observed
from schedviz.trace.commands import AnyCommand
from schedviz.trace.events import AnyEvent, CommandDone
from schedviz.trace.recorder import Recorder
from schedviz.trace.simulation_settings import SimulationSettings
from schedviz.trace.view import CycleView, View


def never() -> bool:
    """Do not stop."""
    return False


class LeftBetweenStages(Exception):  # noqa: N818 -- says what happened.
    """A cycle is left between two stages, and the command that it belongs to with it."""


class Simulation:
    """One session's engine."""

    def __init__(self, settings: SimulationSettings, *, config: dict[str, Any] | UnsetType | None = UNSET) -> None:
        """An empty cluster with a scheduler that has just started; `config`: it was given another configuration than its settings'.

        Raises `ConfigurationError`.
        """
        #: As decoding gives it (whole seconds are floats too), so that a checkpoint is the same whoever made it.
        self.settings = msgspec.convert(msgspec.to_builtins(settings), SimulationSettings)
        self.recorder = Recorder()
        #: Give it a transport, and extenders that were not declared with their answers are called.
        self.extender_calls = ExtenderCalls(self.recorder)
        #: The KubeSchedulerConfiguration in use as it was given; None: the default one.
        self.config: dict[str, Any] | None
        self.configuration: KubeSchedulerConfiguration
        self.extenders: list[Extender]
        self.configure(self.settings.config if config is UNSET else config)
        self.clock = Clock()
        self.random_source = None if settings.first_of_tied else random.Random(settings.seed)  # noqa: S311  (a draw, not a secret)
        self.cluster = self._new_cluster()
        self.scheduler = self._new_scheduler()
        #: Why the scheduler ended its process; "": it runs.
        self.exited = ""
        self.origin = Origin()
        #: The command that is being carried out.
        self.task: Task | None = None
        self.operations = Operations(self)
        #: The last scheduling cycle: the one that runs, or ran last.
        self.shown_cycle: CycleView | None = None
        #: Which of FORMAT.md's records of cycles and bindings are made: "" (none) | "placement" | "full".
        self.records: Literal["", "placement", "full"] = ""
        #: Of the cycles of this command: their numbers and records.
        self.cycle_records: list[tuple[int, dict[str, Any]]] = []
        self.binding_record: dict[str, Any] | None = None
        #: What the last `snapshot` command did.
        self.snapshot_update: SnapshotUpdate | None = None
        self._ended_cycles: list[CycleView] = []
        #: `work_until` leaves the command at the first boundary of stages from this event on.
        self._leave_at: int | None = None
        #: Times plugins, for the records of cycles.
        self._watch: Stopwatch | None = None

    # Where it is.

    @property
    def event(self) -> int:
        """The number of the last event."""
        return self.recorder.event

    @property
    def cycle(self) -> int:
        """The number of the last scheduling cycle."""
        return self.scheduler.state.cycle

    @property
    def clock_seconds(self) -> float:
        """The virtual time."""
        return self.clock.seconds

    @property
    def running_pod(self) -> str:
        """Whose scheduling cycle is between two stages; "": none is."""
        cycle = self.scheduler.cycle
        return "" if cycle is None else cycle.queued.key

    # What it starts from.

    def configure(self, config: dict[str, Any] | None) -> None:
        """Take a configuration for the next scheduler that is made. Raises `ConfigurationError`, and has changed nothing then."""
        configuration = load_configuration(config)
        declared = self.settings.fake_extenders
        try:
            self.extenders = build_extenders(configuration, declared, self.extender_calls)
        except msgspec.ValidationError as error:
            raise ConfigurationError([Problem("fakeExtenders", str(error))]) from None
        self.configuration = with_ignored_resources(configuration, declared)
        self.config = config

    def load(self, objects: Iterable[KubeObject]) -> None:
        """Take an import: nodes and bound pods go into the cache, pending pods into the queue in this order. Records no events."""
        self.recorder.silent = True
        try:
            # As they are stored: a checkpoint need not write again what is as it was at the beginning.
            self.origin.take(self.operations.load(objects))
        finally:
            self.recorder.silent = False

    # Commands.

    def start(self, command: AnyCommand, *, seq: int = 0) -> None:
        """Begin a command. Raises RuntimeError while another one is being carried out."""
        if self.task is not None:
            raise RuntimeError(f"command {self.task.seq} has not ended")
        self.task = Task.of(command, seq)
        self.cycle_records.clear()
        self.binding_record = None

    def work(self, *, stop: Callable[[], bool] = never, until_event: int | None = None) -> Outcome | None:
        """Go on with the command until it ends. None: `stop()` said so after a cycle or a stage; call again to go on.

        `until_event` ends the command as `interrupt` does, where the events before its CommandDone, or with it, have got that far: the
        `event` of the outcome of a command that was interrupted does it again exactly.
        """
        while self.task is not None:
            outcome = self._unit(self.task)
            if outcome is not None:
                return self._done(outcome)
            if until_event is not None and self.event >= until_event - 1:
                return self.interrupt()
            if stop():
                return None
        raise RuntimeError("no command was started")

    def work_until(self, event: int, *, between_units: Callable[[], object] = never) -> bool:
        """Go on with the command until this event has happened, and forget the rest of it there: between two stages, or where it ends.

        The engine is then where `Step` by stages would have left it. True: the command was not ended. `between_units` is called after
        each cycle or stage.
        """
        self._leave_at = event
        try:
            while self.task is not None and self.event < event:
                outcome = self._unit(self.task)
                if outcome is not None:
                    self._done(outcome)
                    return False
                between_units()
        except LeftBetweenStages:
            pass
        finally:
            self._leave_at = None
        self.task = None
        return True

    def between_stages(self) -> None:
        """Called by `Operations` inside a cycle where it can be left. Raises `LeftBetweenStages` where `work_until` wants that."""
        if self._leave_at is not None and self.event >= self._leave_at:
            raise LeftBetweenStages

    def interrupt(self) -> Outcome:
        """End the command where it is: a pause overtook it."""
        if self.task is None:
            raise RuntimeError("no command was started")
        return self._done(self.task.outcome or Outcome(cycles=self.task.cycles, stopped="paused"))

    def _unit(self, task: Task) -> Outcome | None:
        try:
            return self.operations.unit(task)
        except SchedulerExitError as error:
            outcome = connections.exit_scheduler(self, str(error))
            return msgspec.structs.replace(outcome, cycles=task.cycles)

    def _done(self, outcome: Outcome) -> Outcome:
        assert self.task is not None
        task, self.task = self.task, None
        op = type(task.command).__struct_config__.tag
        self.recorder.record_in_cycle(0, CommandDone, seq=task.seq, op=str(op), result=outcome.result, error=outcome.error)
        return Outcome(
            result=outcome.result,
            error=outcome.error,
            cycles=outcome.cycles,
            event=self.event,
            clock_seconds=self.clock_seconds,
            stopped=outcome.stopped,
        )

    # What it did.

    @property
    def pending_events(self) -> Sequence[AnyEvent]:
        """The events since the last drain, left where they are; not to be kept."""
        return self.recorder.pending

    def drain_events(self) -> list[AnyEvent]:
        """The events since the last drain."""
        return self.recorder.drain()

    def drain_cycles(self) -> list[CycleView]:
        """Summaries of the scheduling cycles that ended since the last drain."""
        cycles, self._ended_cycles = self._ended_cycles, []
        return cycles

    def drain_answers(self) -> list[Answer]:
        """What extenders answered since the last drain. To be stored with the events, before the command goes on."""
        return self.extender_calls.drain()

    @property
    def detail(self) -> bool:
        """Whether FORMAT.md's full records of cycles are made."""
        return self.records == "full"

    @detail.setter
    def detail(self, wanted: bool) -> None:
        self.records = "full" if wanted else ""

    @property
    def last_cycle(self) -> dict[str, Any] | None:
        """FORMAT.md's `cycle` of the last scheduling cycle of this command; made while `detail` is set."""
        return self.cycle_records[-1][1] if self.cycle_records else None

    def watch_plugins(self, clock: Callable[[], int]) -> None:
        """Say in full records from the next cycle on what FORMAT.md does not ask for: how long plugins took, by a clock that tells
        nanoseconds (`pluginNanos`), and of preemption which pods were put back (`reprieves`). What is decided stays the same.

        A scheduler that is made anew (a restart, another configuration) is not watched until it is asked for again.
        """
        self._watch = Stopwatch(clock)
        for framework in self.scheduler.state.profiles.values():
            framework.watch_plugins(self._watch)

    def cycle_ended(self, cycle: SchedulingCycle) -> None:
        """Called by `Operations` when a scheduling cycle has ended."""
        self.shown_cycle = cycle_view(cycle)
        self._ended_cycles.append(self.shown_cycle)
        if self.records == "full":
            record = observation.cycle_record(cycle)
            if self._watch is not None:
                record |= {"pluginNanos": self._watch.take(), "reprieves": observation.reprieves(cycle)}
            self.cycle_records.append((cycle.number, record))
        elif self.records == "placement":
            self.cycle_records.append((cycle.number, observation.placement_record(cycle)))

    def binding_ended(self, binding: BindingCycle) -> None:
        """Called by `Operations` when a binding cycle has nothing left to run, and again when it was confirmed."""
        if not self.records:
            return
        self.binding_record = observation.binding_record(binding)
        for number, record in reversed(self.cycle_records):
            if number == binding.number:
                if self.records == "full":
                    record["binding"] = self.binding_record
                else:
                    observation.note_binding_of_placement(record, binding)
                return

    # The state.

    def view(self) -> View:
        """Everything that a page draws."""
        state = self.scheduler.state
        running = self.scheduler.cycle
        return View(
            event=self.event,
            clock_seconds=self.clock_seconds,
            cache=state.cache.to_view(),
            snapshot=state.snapshot.to_view(state.cache.node_generations()),
            queue=state.queue.to_view(),
            cycle=cycle_view(running) if running is not None else self.shown_cycle,
            bindings=[binding_view(binding) for binding in self.scheduler.bindings],
            api=api_view(self.cluster),
            next_start_node_index=state.next_start_node_index if running is None else running.results.start_node_index,
            exited=self.exited,
            config=self.config,
        )

    def observed_state(self) -> dict[str, Any]:
        """FORMAT.md's `cache`, `snapshot` and `queue`."""
        return observed.state(self.view())

    def stored_objects(self) -> Iterator[KubeObject]:
        """What the simulated API server has."""
        return iter(self.cluster.store)

    def checkpoint(self) -> bytes:
        """Everything, also a command in progress and a cycle between two stages. Events that were not drained are not part of it."""
        return checkpoints.save(self)

    @classmethod
    def restore(cls, data: bytes) -> Simulation:
        """The engine of a checkpoint. Raises `CheckpointError`."""
        return checkpoints.restore(cls, data)

    @classmethod
    def begin_again(cls, data: bytes) -> Simulation:
        """The engine as it was before the first command, out of a checkpoint of this or an older format. Raises `CheckpointError`."""
        return checkpoints.begin_again(cls, data)

    def state_hash(self) -> str:
        """A digest of the state; equal for equal states, whatever way they came about."""
        return checkpoints.state_hash(self)

    # Making and dropping schedulers.

    def _new_cluster(self) -> Cluster:
        settings = self.settings
        return Cluster(
            self.clock,
            self.recorder,
            graceful_victims=settings.graceful_victims,
            helpers=settings.helpers,
            pods_per_sync=settings.pods_per_sync,
        )

    def _new_scheduler(self) -> Scheduler:
        scheduler = Scheduler(
            self.configuration,
            recorder=self.recorder,
            clock=self.clock,
            host=self.cluster,
            assumed_pod_ttl_seconds=self.settings.assumed_pod_ttl_seconds,
            pod_max_in_unschedulable_seconds=self.settings.pod_max_in_unschedulable_seconds,
            random_source=self.random_source,
            extenders=self.extenders,
            policies=self.settings.policies,
        )
        self.cluster.deliver = scheduler.handle
        return scheduler

    def start_over(self) -> None:
        """Forget everything but the settings, and how events and cycles are numbered."""
        cycle = self.scheduler.state.cycle
        self.configure(self.settings.config)
        self.clock.now = 0
        self.recorder.at = 0.0
        self.recorder.cycle = 0
        if self.random_source is not None:
            self.random_source.seed(self.settings.seed)
        self.cluster = self._new_cluster()
        self.scheduler = self._new_scheduler()
        self.exited = ""
        self.scheduler.state.cycle = cycle
        self.shown_cycle = None

    def drop_scheduler(self) -> None:
        """Begin again with a scheduler that knows nothing; cycles are numbered on."""
        cycle = self.scheduler.state.cycle
        self.scheduler = self._new_scheduler()
        self.scheduler.state.cycle = cycle
        self.cluster.watches.watched = True
        self.exited = ""
        self.shown_cycle = None
