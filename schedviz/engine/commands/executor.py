"""`CommandExecutor`: what each command does. tests/conformance/FORMAT.md defines the operations of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.engine.clock import nanoseconds
from schedviz.engine.cluster import Refusal
from schedviz.engine.cluster.cluster import BindFailure
from schedviz.engine.commands import cluster_commands, connections, scheduler_commands, scheduler_process
from schedviz.engine.commands.cycle_runner import CycleObserver, CycleRunner
from schedviz.engine.framework.pod_groups import group_of
from schedviz.engine.reporting.idle import why_idle
from schedviz.engine.simulation_state import Outcome, RunningCommand, SimulationState
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.errors import KubeError
from schedviz.kube.kinds import BY_NAME
from schedviz.trace import commands
from schedviz.trace.events import BindingReleased, ClockAdvanced, LatencySet

#: A run ends when pod groups failed in this many cycles in a row, and in twice as many cycles as pods back off.
_MAX_FAILED_GROUP_CYCLES: Final = 20
#: Groups named in the result of a run that repeats.
_MAX_NAMED_GROUPS: Final = 3


class CommandExecutor:
    """Runs commands in units: a cycle of a run, a stage of a step, or the whole of any other command."""

    def __init__(self, simulation: SimulationState, observer: CycleObserver) -> None:
        self._simulation = simulation
        self.runner = CycleRunner(simulation, observer)
        #: The pod of the last bind, confirm or preempt, which may have named it as `*`; "": there was none.
        self.pod = ""

    def unit(self, running: RunningCommand) -> Outcome | None:
        """Run the next unit: a part of the scheduler's first lists, one sync of a simulated controller that is catching up, or a unit of
        the command itself. None: more units follow.

        Raises `SchedulerExitError`.
        """
        if self._simulation.listing is not None:
            scheduler_process.continue_listing(self.runner)
        elif self.runner.is_catching_up:
            self.runner.settle(in_units=True)
        elif running.outcome is None:
            running.outcome = self._unit(running)
        return None if self._simulation.listing is not None or self.runner.is_catching_up else running.outcome

    def _unit(self, running: RunningCommand) -> Outcome | None:
        command = running.command
        if self._simulation.exited and not isinstance(command, scheduler_process.WITHOUT_SCHEDULER):
            return Outcome(result=scheduler_process.exited_result(self._simulation))
        match command:
            case commands.Run():
                return self._run(running, command)
            case commands.Step():
                return self._step(running, command)
            case commands.Create() | commands.Update():
                return self._write(command)
            case commands.Delete():
                return self._delete(command)
            case commands.Schedule() | commands.Cycle():
                return self._one_cycle(running, command)
            case commands.Bind() | commands.BindFail():
                return self._bind(command)
            case commands.Confirm():
                return self._confirm(command)
            case commands.Preempt():
                self.pod, outcome = scheduler_commands.preempt(self.runner, command)
                return outcome
            case commands.Dispatch():
                return scheduler_commands.dispatch(self.runner)
            case commands.Advance():
                return self._advance(running, command)
            case commands.Snapshot():
                return self._snapshot()
            case commands.Latency():
                return self._latency(command)
            case commands.Watch():
                return connections.watch(self.runner, command)
            case commands.Helper():
                return cluster_commands.helper(self.runner, command)
            case commands.Cordon():
                return cluster_commands.cordon(self.runner, command)
            case commands.Evict():
                return cluster_commands.evict(self.runner, command)
            case commands.Drain():
                return cluster_commands.drain(self.runner, command)
            case commands.Permit():
                return scheduler_commands.permit(self.runner, command)
            case commands.Configure():
                return scheduler_commands.configure(self.runner, command)
            case commands.Restart():
                scheduler_process.restart(self.runner)
            case commands.Reset():
                scheduler_process.reset(self.runner)
            case commands.Pause():
                pass
        return Outcome()

    # Objects.

    def _write(self, command: commands.Create | commands.Update, *, ticks: bool = True) -> Outcome:
        try:
            obj = default_object(codec.from_dict(command.object, strict=True))
        except KubeError as error:
            return Outcome(error=f"object.{error}" if getattr(error, "path", "") else f"object: {error}")
        if ticks:
            self.runner.tick()
        cluster = self._simulation.cluster
        try:
            if isinstance(command, commands.Create):
                cluster.create(obj, lost=command.drop or "")
            else:
                cluster.update(obj, command.object, lost=command.drop or "")
        except Refusal as refusal:
            return Outcome(result=str(refusal))
        self.runner.settle()
        return Outcome()

    def _delete(self, command: commands.Delete, *, ticks: bool = True) -> Outcome:
        if command.kind not in BY_NAME:
            kinds = ", ".join(sorted(BY_NAME))
            return Outcome(error=f"kind: the scheduler does not read the kind {command.kind!r}; it reads {kinds}")
        if ticks:
            self.runner.tick()
        try:
            self._simulation.cluster.delete(
                command.kind,
                command.namespace,
                command.name,
                graceful=command.graceful,
                finalizers=command.finalizers,
                lost=command.drop or "",
            )
        except Refusal as refusal:
            return Outcome(result=str(refusal))
        self.runner.settle()
        return Outcome()

    def _write_all(self, writes: Sequence[commands.Create | commands.Update | commands.Delete]) -> None:
        """Write objects while a cycle runs, after the writes of the cycle so far. A write that fails is not reported."""
        if writes:
            self._simulation.cluster.send_held_events()
        for write in writes:
            if isinstance(write, commands.Delete):
                self._delete(write, ticks=False)
            else:
                self._write(write, ticks=False)

    # Cycles.

    def _one_cycle(self, running: RunningCommand, command: commands.Schedule | commands.Cycle) -> Outcome:
        self.runner.tick()
        if isinstance(command, commands.Schedule):
            running.cycles = self.runner.whole_cycle(hold=True, before_failure=lambda: self._write_all(command.during))
        else:
            running.cycles = self.runner.whole_cycle(hold=False)
        return Outcome(result="" if running.cycles else why_idle(self._simulation), cycles=running.cycles)

    def _run(self, running: RunningCommand, command: commands.Run) -> Outcome | None:
        if running.units and not self.runner.can_go_on():
            return Outcome(cycles=running.cycles, stopped="empty")
        self.runner.tick()
        if not self.runner.can_go_on():
            return Outcome(cycles=running.cycles, stopped="empty")
        running.units += 1
        running.cycles += self.runner.whole_cycle(hold=False)
        if command.max is not None and running.units >= command.max:
            return Outcome(cycles=running.cycles, stopped="max")
        if self._groups_repeat(running):
            return Outcome(result=self._repeating(), cycles=running.cycles, stopped="repeating")
        return None if self.runner.can_go_on() else Outcome(cycles=running.cycles, stopped="empty")

    def _groups_repeat(self, running: RunningCommand) -> bool:
        """Whether the scheduler does nothing but try groups again. It pops a group's pods without waiting for the end of their backoff."""
        simulation = self._simulation
        group = simulation.shown_pod_group
        failed = group is not None and group.outcome == "unschedulable"
        running.failed_groups = running.failed_groups + 1 if failed else 0
        waiting = len(simulation.scheduler.state.queue.pods_in_backoff_q())
        return running.failed_groups >= max(_MAX_FAILED_GROUP_CYCLES, 2 * waiting) and simulation.cluster.watches.next_due is None

    def _repeating(self) -> str:
        """Which groups are tried over and over, and what to do."""
        pods = (queued.pod for queued in self._simulation.scheduler.state.queue.pods_in_backoff_q())
        groups = sorted({group.key for pod in pods if (group := group_of(pod)) is not None})
        more = len(groups) - _MAX_NAMED_GROUPS
        named = ", ".join(groups[:_MAX_NAMED_GROUPS]) + (f" and {more} more" if more > 0 else "")
        noun, verbs = ("group", ("does not fit", "is")) if len(groups) == 1 else ("groups", ("do not fit", "are"))
        return (
            f"the pod {noun} {named} {verbs[0]} and {verbs[1]} popped from backoffQ over and over; the same would happen in every further "
            "cycle. Ask why one of the pods is pending, change the cluster, then run again"
        )

    def _step(self, running: RunningCommand, command: commands.Step) -> Outcome | None:
        if command.unit == "cycle":
            self.runner.tick()
            ended = self.runner.whole_cycle(hold=False)
            moved = bool(ended)
            running.cycles += ended
        else:
            before = self._simulation.cycle
            moved = self.runner.one_stage()
            if self._simulation.scheduler.cycle is None and self._simulation.cycle > before:
                running.cycles += 1
        running.units += 1
        if not moved:
            return Outcome(result=why_idle(self._simulation), cycles=running.cycles, stopped="empty")
        return Outcome(cycles=running.cycles) if running.units >= command.count else None

    # Bindings.

    def _bind(self, command: commands.Bind | commands.BindFail) -> Outcome:
        self.runner.tick()
        held = self._simulation.scheduler.held_bindings
        binding = next((binding for binding in held if command.pod in ("*", binding.pod)), None)
        self.pod = binding.pod if binding is not None else ""
        if binding is None:
            return Outcome(result="no held binding")
        if isinstance(command, commands.BindFail):
            self._simulation.cluster.bind_failure = BindFailure(command.message, after_write=command.after_write)
        binding.held = False
        if binding.waiting_for:
            self._simulation.recorder.record_in_cycle(binding.number, BindingReleased, pod=binding.pod)
        self.runner.run_binding(binding)
        self._simulation.cluster.bind_failure = None
        self.runner.settle()
        return Outcome()

    def _confirm(self, command: commands.Confirm) -> Outcome:
        self.runner.tick()
        simulation = self._simulation
        cluster, scheduler = simulation.cluster, simulation.scheduler
        pod = command.pod
        if pod == "*":
            pod = next(iter(cluster.watches.unconfirmed), "")
        self.pod = pod
        node = command.node
        if node is None and cluster.confirm(pod):
            self.runner.settle()
            return Outcome()
        if node is None:
            node = next((binding.node for binding in scheduler.held_bindings if binding.pod == pod), None)
        if not isinstance(cluster.find("Pod", pod), Pod) or node is None:
            self.pod = ""
            return Outcome(result="nothing to confirm")
        refused = cluster.bind_by_other_scheduler(pod, node)
        if refused:
            return Outcome(result=refused)
        self.runner.settle()
        return Outcome()

    # Time, the snapshot and watch latency.

    def _advance(self, running: RunningCommand, command: commands.Advance) -> Outcome | None:
        simulation = self._simulation
        if command.to is None and command.seconds is None:
            return Outcome(error='advance needs seconds, or "to": "next"')
        if running.until is None:
            if command.to == "next":
                timer = self.runner.next_timer()
                if timer is None:
                    return Outcome(result="nothing is going to happen by itself")
                running.until = max(timer, simulation.clock.now)
            else:
                self.runner.tick()
                running.until = simulation.clock.now + nanoseconds(command.seconds or 0.0)
        if not self.runner.move_clock(running.until, in_units=True):
            return None
        simulation.recorder.record(ClockAdvanced)
        if not simulation.exited:
            simulation.scheduler.flush()
        self.runner.settle(in_units=True)
        return Outcome()

    def _snapshot(self) -> Outcome:
        simulation = self._simulation
        if simulation.scheduler.cycle is not None:
            return Outcome(result="a scheduling cycle is running: it has its own snapshot")
        self.runner.tick()
        state = simulation.scheduler.state
        simulation.snapshot_update = state.cache.update_snapshot(state.snapshot)
        return Outcome()

    def _latency(self, command: commands.Latency) -> Outcome:
        if command.kind != "*" and command.kind not in self._simulation.cluster.watched_kinds:
            return Outcome(error=f'kind: {command.kind!r} is not a kind that the scheduler watches; "*" is every kind')
        simulation = self._simulation
        watches = simulation.cluster.watches
        for kind in [kind for kind in watches.latencies if command.kind == "*" and kind != "*"]:
            simulation.recorder.record(LatencySet, kind=kind)
        watches.set_latency(command.kind, nanoseconds(command.seconds))
        simulation.recorder.record(LatencySet, kind=command.kind, seconds=command.seconds)
        return Outcome()
