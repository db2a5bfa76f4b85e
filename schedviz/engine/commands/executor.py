"""What each command does. FORMAT.md has the meaning of the operations of a trace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from schedviz.engine import stages
from schedviz.engine.binding import BindingCycle
from schedviz.engine.clock import MILLISECOND, nanoseconds
from schedviz.engine.cluster import Refusal
from schedviz.engine.cluster.cluster import BindFailure, is_finished
from schedviz.engine.commands import cluster_commands, connections, scheduler_commands
from schedviz.engine.outcome import Outcome
from schedviz.engine.reporting.idle import why_idle
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.errors import KubeError
from schedviz.kube.kinds import BY_NAME, KINDS, WATCHED_KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands
from schedviz.trace.events import ApiWritten, BindingReleased, ClockAdvanced, Configured, HelperSet, LatencySet, Restarted

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation

#: Time between the arrivals of two imported pods, so that the queue keeps their order.
LOAD_NANOS = 1_000


class Task(msgspec.Struct):
    """A command in progress."""

    command: commands.AnyCommand
    seq: int = 0
    #: Scheduling cycles that ended.
    cycles: int = 0
    #: Units of a step or a run that are done.
    units: int = 0
    #: How it ended, where simulated controllers have more to do before the next command.
    outcome: Outcome | None = None

    @classmethod
    def of(cls, command: commands.AnyCommand, seq: int) -> Task:
        """A command that is about to begin, as a checkpoint would give it back."""
        return _task_decoder.decode(_task_encoder.encode(cls(command, seq)))


_task_encoder = msgspec.msgpack.Encoder()
_task_decoder = msgspec.msgpack.Decoder(Task)


class Operations:
    """Carries out commands on a simulation, a unit at a time: a cycle of a run, a stage of a step, or the whole of anything else."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        #: The pod that `*` stood for in the last bind or confirm; "" where it stood for none.
        self.pod = ""

    def unit(self, task: Task) -> Outcome | None:
        """Do the next unit, which is one sync where simulated controllers have more to do; None: there is more to do.

        Raises `SchedulerExitError`.
        """
        if self._is_catching_up:
            self.settle()
        elif task.outcome is None:
            task.outcome = self._unit(task)
        return None if self._is_catching_up else task.outcome

    @property
    def _is_catching_up(self) -> bool:
        simulation = self._simulation
        return simulation.cluster.helpers.is_catching_up and self._helpers_may_act

    @property
    def _helpers_may_act(self) -> bool:
        """Between two stages of a cycle helpers wait, so that stages do what the whole cycle does."""
        return bool(self._simulation.exited) or self._simulation.scheduler.cycle is None

    def _unit(self, task: Task) -> Outcome | None:
        command = task.command
        if self._simulation.exited and not isinstance(command, connections.WITHOUT_SCHEDULER):
            return Outcome(result=connections.why_not(self._simulation))
        match command:
            case commands.Run():
                return self._run(task, command)
            case commands.Step():
                return self._step(task, command)
            case commands.Create() | commands.Update():
                return self._write(command)
            case commands.Delete():
                return self._delete(command)
            case commands.Schedule() | commands.Cycle():
                return self._one_cycle(task, hold=isinstance(command, commands.Schedule))
            case commands.Bind() | commands.BindFail():
                return self._bind(command)
            case commands.Confirm():
                return self._confirm(command)
            case commands.Advance():
                return self._advance(command)
            case commands.Snapshot():
                return self._snapshot()
            case commands.Latency():
                return self._latency(command)
            case commands.Watch():
                return connections.watch(self._simulation, command)
            case commands.Helper():
                return cluster_commands.helper(self._simulation, command)
            case commands.Cordon():
                return cluster_commands.cordon(self._simulation, command)
            case commands.Evict():
                return cluster_commands.evict(self._simulation, command)
            case commands.Drain():
                return cluster_commands.drain(self._simulation, command)
            case commands.Permit():
                return scheduler_commands.permit(self._simulation, command)
            case commands.Configure():
                return scheduler_commands.configure(self._simulation, command)
            case commands.Restart():
                self.restart()
            case commands.Reset():
                self._reset()
            case commands.Pause():
                pass
        return Outcome()

    # Objects.

    def _write(self, command: commands.Create | commands.Update) -> Outcome:
        try:
            obj = default_object(codec.from_dict(command.object, strict=True))
        except KubeError as error:
            return Outcome(error=f"object.{error}" if getattr(error, "path", "") else f"object: {error}")
        self.tick()
        cluster = self._simulation.cluster
        try:
            if isinstance(command, commands.Create):
                cluster.create(obj, lost=command.drop or "")
            else:
                cluster.update(obj, command.object, lost=command.drop or "")
        except Refusal as refusal:
            return Outcome(result=str(refusal))
        self.settle()
        return Outcome()

    def _delete(self, command: commands.Delete) -> Outcome:
        if command.kind not in BY_NAME:
            kinds = ", ".join(sorted(BY_NAME))
            return Outcome(error=f"kind: the scheduler does not read the kind {command.kind!r}; it reads {kinds}")
        self.tick()
        try:
            self._simulation.cluster.delete(
                command.kind, command.namespace, command.name, graceful=command.graceful, lost=command.drop or ""
            )
        except Refusal as refusal:
            return Outcome(result=str(refusal))
        self.settle()
        return Outcome()

    # Cycles.

    def _one_cycle(self, task: Task, *, hold: bool) -> Outcome:
        self.tick()
        task.cycles = self._whole_cycle(hold=hold)
        return Outcome(result="" if task.cycles else why_idle(self._simulation), cycles=task.cycles)

    def _run(self, task: Task, command: commands.Run) -> Outcome | None:
        if task.units and not self._can_go_on():
            return Outcome(cycles=task.cycles, stopped="empty")
        self.tick()
        if not self._can_go_on():
            return Outcome(cycles=task.cycles, stopped="empty")
        task.units += 1
        task.cycles += self._whole_cycle(hold=False)
        if command.max is not None and task.units >= command.max:
            return Outcome(cycles=task.cycles, stopped="max")
        return None if self._can_go_on() else Outcome(cycles=task.cycles, stopped="empty")

    def _step(self, task: Task, command: commands.Step) -> Outcome | None:
        if command.unit == "cycle":
            self.tick()
            ended = self._whole_cycle(hold=False)
            moved = bool(ended)
            task.cycles += ended
        else:
            before = self._simulation.cycle
            moved = self._one_stage()
            task.cycles += self._simulation.scheduler.cycle is None and self._simulation.cycle > before
        task.units += 1
        if not moved:
            return Outcome(result=why_idle(self._simulation), cycles=task.cycles, stopped="empty")
        return Outcome(cycles=task.cycles) if task.units >= command.count else None

    def _can_go_on(self) -> bool:
        """Whether there is a pod to schedule, or a watch event on its way that may bring one."""
        self.settle()
        if self._running() is not None or self._simulation.scheduler.has_active_pods:
            return True
        due = self._simulation.cluster.watches.next_due
        while due is not None and not self._simulation.scheduler.has_active_pods:
            self._move_clock(due)
            due = self._simulation.cluster.watches.next_due
        return self._simulation.scheduler.has_active_pods

    def _running(self) -> SchedulingCycle | BindingCycle | None:
        """What a stage was stepped in and has not ended."""
        scheduler = self._simulation.scheduler
        return scheduler.cycle or next((binding for binding in scheduler.bindings if _goes_on_by_itself(binding)), None)

    def _whole_cycle(self, *, hold: bool) -> int:
        """Finish what runs, or take the next pod to its end: 1, or 0 where activeQ is empty."""
        scheduler = self._simulation.scheduler
        running = self._running()
        if isinstance(running, BindingCycle):
            self._finish_binding(running)
            return 1
        cycle = running or scheduler.begin_cycle()
        if cycle is None:
            return 0
        while not cycle.has_ended:
            self._simulation.between_stages()
            cycle.advance()
        binding = self._scheduling_ended(cycle, hold=hold)
        if binding is not None and not hold:
            self._finish_binding(binding)
        self.settle()
        return 1

    def _one_stage(self) -> bool:
        """Run one stage of whatever runs, or begin a cycle; False where there is nothing to do."""
        running = self._running()
        match running:
            case SchedulingCycle():
                running.advance()
                if running.has_ended:
                    self._scheduling_ended(running, hold=False)
            case BindingCycle():
                if running.stage == stages.CONFIRM:
                    self._release(running)
                else:
                    self._advance_binding(running)
            case None:
                self.tick()
                self.settle()
                return self._simulation.scheduler.begin_cycle() is not None
        self.settle()
        return True

    def _scheduling_ended(self, cycle: SchedulingCycle, *, hold: bool) -> BindingCycle | None:
        simulation = self._simulation
        simulation.scheduler.cycle = None
        simulation.cycle_ended(cycle)
        simulation.cluster.cycle_ended()
        binding = simulation.scheduler.begin_binding(cycle, held=hold) if cycle.is_bound_for_binding else None
        simulation.recorder.cycle = 0
        return binding

    # Bindings.

    def _finish_binding(self, binding: BindingCycle) -> None:
        """Run a binding cycle as far as it goes, and let its watch event go."""
        self._simulation.between_stages()
        while binding.is_running and self._advance_binding(binding):
            self._simulation.between_stages()
        if binding.stage == stages.CONFIRM:
            self._release(binding)

    def _run_binding(self, binding: BindingCycle) -> None:
        while binding.is_running and self._advance_binding(binding):
            pass

    def _advance_binding(self, binding: BindingCycle) -> bool:
        simulation = self._simulation
        cluster = simulation.cluster
        cluster.binding_pod = binding.pod
        went_on = binding.advance()
        if not binding.is_running:
            cluster.cycle_ended()
            if binding.stage == stages.ENDED:
                simulation.scheduler.bindings.remove(binding)
            simulation.binding_ended(binding)
        cluster.binding_pod = ""
        return went_on

    def _release(self, binding: BindingCycle) -> None:
        """Send the watch event of a binding on its way."""
        binding.released = True
        self._simulation.cluster.confirm(binding.pod)
        self.settle()

    def _bind(self, command: commands.Bind | commands.BindFail) -> Outcome:
        self.tick()
        held = self._simulation.scheduler.held_bindings
        binding = next((each for each in held if command.pod in ("*", each.pod)), None)
        self.pod = binding.pod if binding is not None else ""
        if binding is None:
            return Outcome(result="no held binding")
        if isinstance(command, commands.BindFail):
            self._simulation.cluster.bind_failure = BindFailure(command.message, after_write=command.after_write)
        binding.held = False
        if binding.waiting_for:
            self._simulation.recorder.record_in_cycle(binding.number, BindingReleased, pod=binding.pod)
        self._run_binding(binding)
        self._simulation.cluster.bind_failure = None
        self.settle()
        return Outcome()

    def _confirm(self, command: commands.Confirm) -> Outcome:
        self.tick()
        simulation = self._simulation
        cluster, scheduler = simulation.cluster, simulation.scheduler
        pod = command.pod
        if pod == "*":
            pod = next(iter(cluster.watches.unconfirmed), "")
        self.pod = pod
        node = command.node
        if node is None and cluster.confirm(pod):
            self.settle()
            return Outcome()
        if node is None:
            node = next((binding.node for binding in scheduler.held_bindings if binding.pod == pod), None)
        if not pod or node is None or not cluster.bind_by_somebody_else(pod, node):
            return Outcome(result="nothing to confirm")
        self.settle()
        return Outcome()

    # Time.

    def tick(self) -> None:
        """The time that passes before a step."""
        self._move_clock(self._simulation.clock.now + self._simulation.settings.tick_millis * MILLISECOND)

    def _move_clock(self, moment: int) -> None:
        """Let time pass; watch events arrive on their way."""
        simulation = self._simulation
        while (due := simulation.cluster.next_due) is not None and due <= moment:
            self._set_clock(max(due, simulation.clock.now))
            simulation.cluster.helpers.act()
            self.settle()
        self._set_clock(moment)

    def _set_clock(self, moment: int) -> None:
        simulation = self._simulation
        simulation.clock.move_to(moment)
        simulation.recorder.at = simulation.clock.seconds

    def _advance(self, command: commands.Advance) -> Outcome:
        simulation = self._simulation
        if command.to is None and command.seconds is None:
            return Outcome(error='advance needs seconds, or "to": "next"')
        if command.to == "next":
            moment = self._next_moment()
            if moment is None:
                return Outcome(result="nothing is going to happen by itself")
            self._move_clock(max(moment, simulation.clock.now))
        else:
            self.tick()
            self._move_clock(simulation.clock.now + nanoseconds(command.seconds or 0.0))
        simulation.recorder.record(ClockAdvanced)
        if not simulation.exited:
            simulation.scheduler.flush()
        self.settle()
        return Outcome()

    def _next_moment(self) -> int | None:
        """When something happens by itself: a watch event arrives, a backoff ends, an assumed pod expires, a pod waited too long."""
        if self._simulation.exited:
            return self._simulation.cluster.next_due
        scheduler = self._simulation.scheduler
        queue, cache = scheduler.state.queue, scheduler.state.cache
        strictly_after = (queue.next_unschedulable_timeout(), cache.next_expiry())
        moments = [
            self._simulation.cluster.next_due,
            queue.next_backoff_expiry(),
            scheduler.waiting_deadline(),
            *(moment + 1 for moment in strictly_after if moment is not None),
        ]
        return min((moment for moment in moments if moment is not None), default=None)

    def settle(self) -> None:
        """Do what is due by now: watch events arrive, pods that waited at Permit or in PreBind go on, confirmed bindings end."""
        simulation = self._simulation
        cluster = simulation.cluster
        self._deliver_arrived()
        while self._helpers_may_act and cluster.helpers.act():
            self._deliver_arrived()
            if cluster.helpers.is_catching_up:
                # The next unit continues, so that no unit takes long.
                break
        if simulation.exited:
            return
        for binding in list(simulation.scheduler.bindings):
            if binding.is_waiting and not binding.held:
                self._run_binding(binding)
                if binding.stage == stages.CONFIRM and not binding.by_hand:
                    self._release(binding)
        self._end_confirmed_bindings()

    def _deliver_arrived(self) -> None:
        while self._simulation.cluster.deliver_arrived():
            pass

    def _end_confirmed_bindings(self) -> None:
        simulation = self._simulation
        scheduler, watches = simulation.scheduler, simulation.cluster.watches
        for binding in [each for each in scheduler.bindings if each.stage == stages.CONFIRM]:
            if binding.pod in watches.unconfirmed or any(event.kind == "Pod" and event.key == binding.pod for event in watches.in_flight):
                continue
            scheduler.bindings.remove(binding)
            seen = scheduler.state.informers.by_key("Pod", binding.pod)
            confirmed = seen is None or seen.uid != binding.assumed.uid or bool(seen.spec.node_name)
            binding.results.confirmed = confirmed
            binding.confirmed(lost=not confirmed)
            simulation.binding_ended(binding)

    # The rest.

    def _snapshot(self) -> Outcome:
        simulation = self._simulation
        if simulation.scheduler.cycle is not None:
            return Outcome(result="a scheduling cycle is running: it has its own snapshot")
        self.tick()
        state = simulation.scheduler.state
        simulation.snapshot_update = state.cache.update_snapshot(state.snapshot)
        return Outcome()

    def _latency(self, command: commands.Latency) -> Outcome:
        if command.kind != "*" and (command.kind not in BY_NAME or not BY_NAME[command.kind].watched):
            return Outcome(error=f'kind: {command.kind!r} is not a kind that the scheduler watches; "*" is every kind')
        simulation = self._simulation
        watches = simulation.cluster.watches
        for kind in [kind for kind in watches.latencies if command.kind == "*" and kind != "*"]:
            simulation.recorder.record(LatencySet, kind=kind)
        watches.set_latency(command.kind, nanoseconds(command.seconds))
        simulation.recorder.record(LatencySet, kind=command.kind, seconds=command.seconds)
        return Outcome()

    def load(self, objects: Iterable[KubeObject]) -> list[KubeObject]:
        """Store imported objects, and let the informers list them: the objects as they are stored."""
        stored = [self._simulation.cluster.load(default_object(obj)) for obj in objects]
        self._list()
        return stored

    def _list(self) -> None:
        """Let the informers list what the API server has, kind by kind, so that pods find their nodes."""
        simulation = self._simulation
        store, scheduler = simulation.cluster.store, simulation.scheduler
        for kind in WATCHED_KINDS:
            for obj in store.of_kind(kind.name).values():
                if isinstance(obj, Pod):
                    if is_finished(obj):
                        continue
                    if not obj.spec.node_name:
                        self._set_clock(simulation.clock.now + LOAD_NANOS)
                scheduler.list_one(kind.name, obj)

    def restart(self) -> None:
        """Restart the scheduler process: it forgets everything and lists again. What was on its way is part of the list."""
        simulation = self._simulation
        reason = simulation.exited
        connections.disconnect_watches(simulation)
        simulation.recorder.cycle = 0
        simulation.drop_scheduler()
        simulation.recorder.record(Restarted, reason=reason)
        self._list()

    def _reset(self) -> None:
        """Go back to what was imported, at second 0. Cycles and events are numbered on."""
        simulation = self._simulation
        objects = simulation.origin.objects()
        before = {kind.name: simulation.cluster.store.count(kind.name) for kind in KINDS}
        latencies = dict(simulation.cluster.watches.latencies)
        connections.disconnect_watches(simulation)
        helpers = dict(simulation.cluster.helpers.on)
        configured = simulation.config != simulation.settings.config
        simulation.start_over()
        if configured:
            simulation.recorder.record(Configured, config=simulation.config)
        simulation.recorder.record(Restarted, reason="reset")
        for name in helpers:
            simulation.recorder.record(HelperSet, name=name, on=False)
        for name, seconds in simulation.cluster.helpers.on.items():
            simulation.recorder.record(HelperSet, name=name, seconds=seconds)
        for name in latencies:
            simulation.recorder.record(LatencySet, kind=name)
        self.load(objects)
        for kind in KINDS:
            count = simulation.cluster.store.count(kind.name)
            if count != before[kind.name]:
                simulation.recorder.record(
                    ApiWritten, verb="create", resource=kind.resource, kind=kind.name, key="", detail="reset", count=count
                )


def _goes_on_by_itself(binding: BindingCycle) -> bool:
    """Whether a binding cycle was begun by stages, and has one more to run or to wait for."""
    return not binding.by_hand and not binding.waited and not binding.released and binding.stage != stages.ENDED
