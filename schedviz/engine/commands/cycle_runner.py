"""`CycleRunner`: runs cycles and lets virtual time pass. All commands are built from its methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from schedviz.engine import stages
from schedviz.engine.binding import BindingCycle
from schedviz.engine.clock import MILLISECOND
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.simulation_state import SimulationState

#: A unit of a command ends after this many syncs of controllers, or after the sync that brings its events to this number, so that no unit
#: takes long and its events fit into memory.
MAX_SYNCS: Final = 256
MAX_EVENTS: Final = 4096


class CycleObserver(Protocol):
    """What a `CycleRunner` reports to."""

    def between_stages(self) -> None:
        """A command is between two stages. May raise, which leaves the command there."""

    def report_progress(self) -> None:
        """A unit that may take long has progressed: a controller has reconciled one object, or objects were listed."""

    def cycle_ended(self, cycle: SchedulingCycle | PodGroupCycle) -> None:
        """A scheduling cycle ended."""

    def binding_ended(self, binding: BindingCycle) -> None:
        """A binding cycle has no stage left to run; called again when it is confirmed."""


class CycleRunner:
    """Runs the cycles of a simulation and moves its clock."""

    def __init__(self, simulation: SimulationState, observer: CycleObserver) -> None:
        self.simulation = simulation
        self._observer = observer

    # Time.

    def tick(self) -> None:
        """Let the time pass that precedes each command."""
        self.move_clock(self.simulation.clock.now + self.simulation.settings.tick_millis * MILLISECOND)

    def move_clock(self, to: int, *, in_units: bool = False) -> bool:
        """Let time pass until `to`, and deliver the watch events that are due on the way.

        False, only `in_units`: the unit has done enough, and the next one continues.
        """
        simulation = self.simulation
        steps, first = 0, simulation.event
        while (due := simulation.cluster.next_due) is not None and due <= to:
            if in_units and (steps >= MAX_SYNCS or simulation.event - first >= MAX_EVENTS):
                return False
            steps += 1
            self.set_clock(max(due, simulation.clock.now))
            simulation.cluster.controllers.act()
            self._observer.report_progress()
            if not self.settle(in_units=in_units):
                return False
        self.set_clock(to)
        return True

    def set_clock(self, to: int) -> None:
        """Set the clock, and deliver nothing."""
        simulation = self.simulation
        simulation.clock.move_to(to)
        simulation.recorder.at = simulation.clock.seconds

    def next_timer(self) -> int | None:
        """When the next timer ends: a watch event or a controller is due, or a backoff, a wait in a binding cycle, an assumed pod or a stay
        in unschedulablePods ends. None: there is none.
        """
        if self.simulation.exited:
            return self.simulation.cluster.next_due
        scheduler = self.simulation.scheduler
        queue, cache = scheduler.state.queue, scheduler.state.cache
        strictly_after = (queue.next_unschedulable_timeout(), cache.next_expiry())
        times = [
            self.simulation.cluster.next_due,
            queue.next_backoff_end(),
            scheduler.waiting_deadline(),
            *(time + 1 for time in strictly_after if time is not None),
        ]
        return min((time for time in times if time is not None), default=None)

    def report_progress(self) -> None:
        """Report progress within a unit that takes long."""
        self._observer.report_progress()

    def settle(self, *, in_units: bool = False) -> bool:
        """Do what is due: deliver watch events, resume binding cycles that waited at Permit or in PreBind, end confirmed bindings.

        False, only `in_units`: the controllers have done enough for one unit and are catching up in the next one.
        """
        simulation = self.simulation
        cluster = simulation.cluster
        syncs, first = 0, simulation.event
        self._deliver_arrived()
        while self._controllers_may_act and cluster.controllers.act():
            self._observer.report_progress()
            self._deliver_arrived()
            if cluster.controllers.is_catching_up:
                # The next unit continues, so that no unit takes long.
                break
            syncs += 1
            if in_units and (syncs >= MAX_SYNCS or simulation.event - first >= MAX_EVENTS):
                cluster.controllers.is_catching_up = True
                return False
        if simulation.exited:
            return True
        for binding in list(simulation.scheduler.bindings):
            if binding.is_waiting and not binding.held:
                self.run_binding(binding)
                if binding.stage == stages.CONFIRM and not binding.by_hand:
                    self._send_watch_event(binding)
        self._end_confirmed_bindings()
        return True

    @property
    def is_catching_up(self) -> bool:
        """Whether the controllers have more to do, and can do it now."""
        return self.simulation.cluster.controllers.is_catching_up and self._controllers_may_act

    @property
    def _controllers_may_act(self) -> bool:
        """Not between two stages of a cycle, so that stepping by stages gives the same result as a whole cycle."""
        return bool(self.simulation.exited) or self.simulation.scheduler.cycle is None

    def _deliver_arrived(self) -> None:
        while self.simulation.cluster.deliver_arrived():
            pass

    def _end_confirmed_bindings(self) -> None:
        simulation = self.simulation
        scheduler, watches = simulation.scheduler, simulation.cluster.watches
        for binding in [binding for binding in scheduler.bindings if binding.stage == stages.CONFIRM]:
            if binding.pod in watches.unconfirmed or any(event.kind == "Pod" and event.key == binding.pod for event in watches.in_flight):
                continue
            scheduler.bindings.remove(binding)
            seen = scheduler.state.informers.by_key("Pod", binding.pod)
            confirmed = seen is None or seen.uid != binding.assumed.uid or bool(seen.spec.node_name)
            binding.end(confirmed=confirmed)
            self._observer.binding_ended(binding)

    # Cycles.

    def can_go_on(self) -> bool:
        """Whether there is a cycle to finish or a pod to schedule. Moves the clock to watch events in flight that may bring a pod."""
        self.settle()
        if self._unfinished() is not None or self.simulation.scheduler.has_pods_to_pop:
            return True
        due = self.simulation.cluster.watches.next_due
        while due is not None and not self.simulation.scheduler.has_pods_to_pop:
            self.move_clock(due)
            due = self.simulation.cluster.watches.next_due
        return self.simulation.scheduler.has_pods_to_pop

    def _unfinished(self) -> SchedulingCycle | PodGroupCycle | BindingCycle | None:
        """The cycle, or binding cycle, in which stages were stepped and which has not ended."""
        scheduler = self.simulation.scheduler
        return scheduler.cycle or next((binding for binding in scheduler.bindings if _is_unfinished(binding)), None)

    def whole_cycle(self, *, hold: bool, before_failure: Callable[[], None] | None = None) -> int:
        """Finish the unfinished cycle, or run that of the next pod. Returns 1, or 0 if there is no pod to pop.

        `before_failure` is called once if a pod cannot be scheduled, before it goes back to the queue.
        """
        scheduler = self.simulation.scheduler
        running = self._unfinished()
        if isinstance(running, BindingCycle):
            self._finish_binding(running)
            return 1
        cycle = running or scheduler.begin_cycle()
        if cycle is None:
            return 0
        while not cycle.has_ended:
            self._observer.between_stages()
            if before_failure is not None and cycle.is_about_to_fail:
                before_failure()
                before_failure = None
            cycle.advance()
        for binding in self._scheduling_ended(cycle, hold=hold):
            if not hold:
                self._finish_binding(binding)
        self.settle()
        return 1

    def one_stage(self) -> bool:
        """Run one stage of the unfinished cycle, or begin a cycle; False: there is nothing to do."""
        running = self._unfinished()
        match running:
            case SchedulingCycle() | PodGroupCycle():
                running.advance()
                if running.has_ended:
                    self._scheduling_ended(running, hold=False)
            case BindingCycle():
                if running.stage == stages.CONFIRM:
                    self._send_watch_event(running)
                else:
                    self._advance_binding(running)
            case None:
                self.tick()
                self.settle()
                return self.simulation.scheduler.begin_cycle() is not None
        self.settle()
        return True

    def _scheduling_ended(self, cycle: SchedulingCycle | PodGroupCycle, *, hold: bool) -> list[BindingCycle]:
        """Report the end of the cycle, and begin its bindings. Returns their cycles."""
        simulation = self.simulation
        simulation.scheduler.cycle = None
        self._observer.cycle_ended(cycle)
        if not simulation.settings.hold_preemption:
            for task in list(simulation.scheduler.preemptions.running):
                simulation.scheduler.run_preemption(task)
        self.deliver_writes()
        bindings = [simulation.scheduler.begin_binding(pod, held=hold) for pod in cycle.scheduled_pods]
        simulation.recorder.cycle = 0
        return bindings

    def deliver_writes(self) -> None:
        """Make the API calls that a cycle left to the dispatcher, and send the watch events of its writes."""
        simulation = self.simulation
        if not simulation.settings.hold_dispatch:
            simulation.scheduler.dispatch()
        simulation.cluster.send_held_events()

    # Bindings.

    def _finish_binding(self, binding: BindingCycle) -> None:
        """Run a binding cycle until it ends or waits, and send its watch event."""
        self._observer.between_stages()
        while binding.is_running and self._advance_binding(binding):
            self._observer.between_stages()
        if binding.stage == stages.CONFIRM:
            self._send_watch_event(binding)

    def run_binding(self, binding: BindingCycle) -> None:
        """Run a binding cycle until it ends or waits, and leave its watch event unsent."""
        while binding.is_running and self._advance_binding(binding):
            pass

    def _advance_binding(self, binding: BindingCycle) -> bool:
        simulation = self.simulation
        cluster = simulation.cluster
        went_on = binding.advance()
        if not went_on:
            cluster.send_held_events()
        if not binding.is_running:
            self.deliver_writes()
            if binding.stage == stages.ENDED:
                simulation.scheduler.bindings.remove(binding)
            self._observer.binding_ended(binding)
            cluster.bound_pod = ""
        return went_on

    def _send_watch_event(self, binding: BindingCycle) -> None:
        """Send the watch event of a binding."""
        binding.watch_event_sent = True
        self.simulation.cluster.confirm(binding.pod)
        self.settle()


def _is_unfinished(binding: BindingCycle) -> bool:
    """Whether a binding cycle was begun by stages and has a stage left to run or to wait for."""
    return not binding.by_hand and not binding.waited and not binding.watch_event_sent and binding.stage != stages.ENDED
