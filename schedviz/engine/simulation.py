"""`Simulation`: a scheduler with a simulated API server around it, driven by commands. The engine's public interface.

Commands run one at a time: `start`, then `work` until it returns an outcome; `drain_events` returns the trace events. A command can be
interrupted between two cycles and resumed, also from a checkpoint, without changing its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.engine.binding import BindingCycle
from schedviz.engine.cache import SchedulerExitError
from schedviz.engine.checkpointing import checkpoint as checkpoints
from schedviz.engine.commands import scheduler_process
from schedviz.engine.commands.executor import CommandExecutor
from schedviz.engine.extenders.calls import ExtenderResponse
from schedviz.engine.framework.runtime import Stopwatch
from schedviz.engine.reporting import observation, observation_v1_36
from schedviz.engine.reporting.cycle_view import api_view, binding_view, cycle_view, pod_group_view, running_cycle_view
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.simulation_state import Outcome, RunningCommand, SimulationState
from schedviz.kube.meta import KubeObject
from schedviz.trace import observed
from schedviz.trace.commands import AnyCommand
from schedviz.trace.events import AnyEvent, CommandDone
from schedviz.trace.releases import V1_27
from schedviz.trace.simulation_settings import SimulationSettings
from schedviz.trace.view import CycleView, View


def never() -> bool:
    """Do not stop."""
    return False


class LeftBetweenStages(Exception):
    """A cycle, and its command, was left between two stages."""


class Simulation(SimulationState):
    """One session's engine."""

    def __init__(self, settings: SimulationSettings, *, config: dict[str, Any] | UnsetType | None = UNSET) -> None:
        super().__init__(settings, config=config)
        self.executor = CommandExecutor(self, observer=self)
        #: Which of FORMAT.md's records of cycles and bindings are made; "": none.
        self.records: Literal["", "placement", "full"] = ""
        #: Numbers and records of the cycles of this command.
        self.cycle_records: list[tuple[int, dict[str, Any]]] = []
        #: The records of pods inside those of their groups, by the numbers of their cycles.
        self.pod_records: dict[int, dict[str, Any]] = {}
        self.binding_record: dict[str, Any] | None = None
        self._ended_cycles: list[CycleView] = []
        #: The total length of the messages of the cycles that ended since the last drain.
        self.pending_message_chars = 0
        #: Called between two stages of a cycle and two syncs of controllers. A pod group's cycle has several stages for each of its pods,
        #: in each of its placements.
        self.on_stage: Callable[[], object] = never
        #: `work_until` leaves the command at the first boundary between stages from this event on.
        self._leave_at: int | None = None
        #: Times plugins, for the records of cycles.
        self._stopwatch: Stopwatch | None = None

    # Position.

    @property
    def clock_seconds(self) -> float:
        """The virtual time."""
        return self.clock.seconds

    @property
    def running_pod(self) -> str:
        """The pod whose scheduling cycle is between two stages; "": none."""
        cycle = self.scheduler.cycle
        match cycle:
            case PodGroupCycle():
                return "" if cycle.current_pod is None else cycle.current_pod.queued.key
            case SchedulingCycle():
                return cycle.queued.key
        return ""

    def next_timer(self) -> int | None:
        """When the next timer ends, in nanoseconds: the delivery of a watch event, a backoff or a wait; None: there is none."""
        return self.executor.runner.next_timer()

    # Import.

    def load(self, objects: Iterable[KubeObject]) -> None:
        """Import objects: nodes and bound pods enter the cache, pending pods the queue, in this order. Records no events."""
        with self.recorder.silenced():
            # The objects as stored, so that a checkpoint can omit those that have not changed.
            self.origin.add(scheduler_process.load(self.executor.runner, objects))

    # Commands.

    def start(self, command: AnyCommand, *, seq: int = 0) -> None:
        """Begin a command. Raises RuntimeError while another one is in progress."""
        if self.running_command is not None:
            raise RuntimeError(f"command {self.running_command.seq} has not ended")
        self.running_command = RunningCommand.begin(command, seq)
        self.cycle_records.clear()
        self.pod_records.clear()
        self.binding_record = None

    def work(self, *, stop: Callable[[], bool] = never, until_event: int | None = None) -> Outcome | None:
        """Run the command until it ends. None: `stop()` returned True after a cycle or a stage; call again to continue.

        `until_event` ends the command as `interrupt` does, once its events, including CommandDone, reach that number. The `event` of
        an interrupted command's outcome repeats that interruption exactly.
        """
        while self.running_command is not None:
            outcome = self._unit(self.running_command)
            if outcome is not None:
                return self._done(outcome)
            if until_event is not None and self.event >= until_event - 1:
                return self.interrupt()
            if stop():
                return None
        raise RuntimeError("no command was started")

    def work_until(self, event: int, *, between_units: Callable[[], object] = never) -> bool:
        """Run the command until this event has happened and drop the rest of it, between two stages. True: the command did not end.

        The engine is then in the state that `Step` by stages would give. `between_units` is called after each cycle or stage.
        """
        self._leave_at = event
        try:
            while self.running_command is not None and self.event < event:
                outcome = self._unit(self.running_command)
                if outcome is not None:
                    self._done(outcome)
                    return False
                between_units()
        except LeftBetweenStages:
            pass
        finally:
            self._leave_at = None
        self.running_command = None
        return True

    def between_stages(self) -> None:
        """Raise `LeftBetweenStages` if `work_until` has reached its event. Called by `CycleRunner`."""
        self.on_stage()
        if self._leave_at is not None and self.event >= self._leave_at:
            raise LeftBetweenStages

    def report_progress(self) -> None:
        """Call `on_stage` during a unit that may take long. Called by `CycleRunner` and `scheduler_process`."""
        self.on_stage()

    def interrupt(self) -> Outcome:
        """End the command at its present position, because of a pause."""
        if self.running_command is None:
            raise RuntimeError("no command was started")
        return self._done(self.running_command.outcome or Outcome(cycles=self.running_command.cycles, stopped="paused"))

    def _unit(self, running: RunningCommand) -> Outcome | None:
        try:
            return self.executor.unit(running)
        except SchedulerExitError as error:
            outcome = scheduler_process.exit_scheduler(self, str(error))
            return msgspec.structs.replace(outcome, cycles=running.cycles)

    def _done(self, outcome: Outcome) -> Outcome:
        assert self.running_command is not None
        running, self.running_command = self.running_command, None
        op = type(running.command).__struct_config__.tag
        self.recorder.record_in_cycle(0, CommandDone, seq=running.seq, op=str(op), result=outcome.result, error=outcome.error)
        return Outcome(
            result=outcome.result,
            error=outcome.error,
            cycles=outcome.cycles,
            event=self.event,
            clock_seconds=self.clock_seconds,
            stopped=outcome.stopped,
        )

    # Results.

    @property
    def pending_events(self) -> Sequence[AnyEvent]:
        """The events since the last drain, without draining them. Do not keep the sequence: it changes."""
        return self.recorder.pending

    def drain_events(self) -> list[AnyEvent]:
        """The events since the last drain."""
        return self.recorder.drain()

    def drain_cycles(self) -> list[CycleView]:
        """Summaries of the scheduling cycles that ended since the last drain."""
        cycles, self._ended_cycles, self.pending_message_chars = self._ended_cycles, [], 0
        return cycles

    def drain_extender_responses(self) -> list[ExtenderResponse]:
        """The responses of extenders since the last drain. Store them with the events, before the command continues."""
        return self.extender_calls.drain()

    @property
    def last_cycle(self) -> dict[str, Any] | None:
        """FORMAT.md's `cycle` of the last scheduling cycle of this command; recorded while `records` is "full"."""
        return self.cycle_records[-1][1] if self.cycle_records else None

    def record_of(self, cycle: int) -> dict[str, Any] | None:
        """The record of a pod's scheduling cycle of this command, alone or with its group; None: there is none."""
        of_pod = self.pod_records.get(cycle)
        return of_pod or next((record for number, record in reversed(self.cycle_records) if number == cycle), None)

    def time_plugins(self, clock: Callable[[], int]) -> None:
        """Add to full records, from the next cycle on: the time of plugins by a clock in nanoseconds (`pluginNanos`), and the pods that
        preemption put back (`reprieves`). Decisions do not change.

        A new scheduler (after a restart, or with another configuration) is not timed until this is called again.
        """
        self._stopwatch = Stopwatch(clock)
        for framework in self.scheduler.state.profiles.values():
            framework.time_plugins(self._stopwatch)

    def cycle_ended(self, cycle: SchedulingCycle | PodGroupCycle) -> None:
        """Keep the record of a scheduling cycle that has ended. Called by `CycleRunner`."""
        if isinstance(cycle, PodGroupCycle):
            self._pod_group_ended(cycle)
            return
        self.shown_pod_group = None
        self._show(cycle_view(cycle))
        if self.records == "full":
            record = observation.cycle_record(cycle)
            if self.release.version != V1_27:
                record |= observation_v1_36.cycle_members(cycle)
            if self._stopwatch is not None:
                record |= {"pluginNanos": self._stopwatch.drain(), "reprieves": observation.reprieves(cycle)}
            self.cycle_records.append((cycle.number, record))
        elif self.records == "placement":
            self.cycle_records.append((cycle.number, observation.placement_record(cycle)))

    def _pod_group_ended(self, group: PodGroupCycle) -> None:
        self.shown_pod_group = pod_group_view(group)
        self.shown_cycle = None
        for pod in group.pods:
            self._show(cycle_view(pod))
        if self.records == "full":
            record = observation_v1_36.pod_group_record(group)
            self.cycle_records.append((group.number, record))
            self.pod_records.update(zip([pod.number for pod in group.pods], record["podGroup"]["pods"], strict=True))
        elif self.records == "placement":
            self.cycle_records += [(pod.number, observation.placement_record(pod)) for pod in group.pods]

    def _show(self, cycle: CycleView) -> None:
        self.shown_cycle = cycle
        self._ended_cycles.append(cycle)
        self.pending_message_chars += len(cycle.message)

    def binding_ended(self, binding: BindingCycle) -> None:
        """Keep the record of a binding cycle that has no stage left to run, or was confirmed. Called by `CycleRunner`."""
        if not self.records:
            return
        self.binding_record = observation.binding_record(binding)
        if self.release.version != V1_27:
            self.binding_record |= observation_v1_36.binding_members(binding)
        record = self.record_of(binding.number)
        if record is not None and self.records == "full":
            record["binding"] = self.binding_record
        elif record is not None:
            observation.note_binding_of_placement(record, binding)

    # State.

    def view(self) -> View:
        """The state as a page draws it."""
        state = self.scheduler.state
        running = self.scheduler.cycle
        # A view has only what can be folded from the session's events.
        shows_preemptions = self.settings.records_preemptions
        dispatcher = state.api_dispatcher if shows_preemptions else None
        return View(
            event=self.event,
            clock_seconds=self.clock_seconds,
            cache=state.cache.to_view(),
            snapshot=state.snapshot.to_view(state.cache.node_generations()),
            queue=state.queue.to_view(),
            cycle=running_cycle_view(running) if running is not None else self.shown_cycle,
            pod_group=pod_group_view(running) if isinstance(running, PodGroupCycle) else self.shown_pod_group if running is None else None,
            bindings=[binding_view(binding) for binding in self.scheduler.bindings],
            preemptions=[task.to_view() for task in self.scheduler.preemptions.running] if shows_preemptions else [],
            api_calls=[] if dispatcher is None else dispatcher.to_view(),
            # The events of a reset give the new numbers of objects when all are listed.
            api=api_view(self.cluster, counts=None if self.listing is None else self.listing.before_reset),
            next_start_node_index=state.next_start_node_index if running is None else running.shown_start_node_index,
            exited=self.exited,
            config=self.config,
        )

    def observed_state(self) -> dict[str, Any]:
        """FORMAT.md's `cache`, `snapshot` and `queue`."""
        state = observed.state(self.view(), self.release.version)
        ghosts = self.scheduler.state.cache.image_counts_of_ghosts()
        for item in state["cache"]["list"] if ghosts else ():
            for image, count in ghosts.get(item["name"], {}).items():
                item["imageStates"][image]["numNodes"] = count
        return state

    def stored_objects(self) -> Iterator[KubeObject]:
        """The objects of the simulated API server."""
        return iter(self.cluster.store)

    def checkpoint(self) -> bytes:
        """The whole state as bytes, with the command in progress and a cycle between two stages; without undrained events."""
        return checkpoints.save(self)

    @classmethod
    def restore(cls, data: bytes) -> Simulation:
        """The engine of a checkpoint. Raises `CheckpointError`."""
        return checkpoints.restore(cls, data)

    @classmethod
    def begin_again(cls, data: bytes) -> Simulation:
        """The engine before the first command, from a checkpoint of this or an older format. Raises `CheckpointError`."""
        settings, objects = checkpoints.initial_state(data)
        simulation = cls(settings)
        simulation.load(objects)
        return simulation

    def state_hash(self) -> str:
        """A digest of the state; equal states have equal digests, whatever their history."""
        return checkpoints.state_hash(self)
