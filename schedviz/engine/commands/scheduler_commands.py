"""Commands to the scheduler: `permit`, `preempt`, `dispatch` and `configure`."""

from __future__ import annotations

from schedviz.engine.binding import BindingCycle
from schedviz.engine.commands import scheduler_process
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.config import ConfigurationError
from schedviz.engine.framework.runtime import WaitingPod
from schedviz.engine.simulation_state import Outcome, SimulationState
from schedviz.trace import commands
from schedviz.trace.events import Configured, PermitAnswered


def permit(runner: CycleRunner, command: commands.Permit) -> Outcome:
    """Allow or reject a pod that waits at Permit, for one plugin or for all. Upstream: framework/runtime/waiting_pods_map.go waitingPod"""
    simulation = runner.simulation
    runner.tick()
    found = _waiting(simulation, command.pod)
    if found is None:
        return Outcome(result=f"the pod {command.pod} does not wait at Permit")
    binding, waiting = found
    if command.plugin is not None and command.plugin not in waiting.pending:
        names = ", ".join(sorted(waiting.pending)) or "no plugin any more"
        return Outcome(result=f"the pod {command.pod} does not wait for {command.plugin}: it waits for {names}")
    plugins = [command.plugin] if command.plugin is not None else sorted(waiting.pending)
    if command.action == "allow":
        for plugin in plugins:
            waiting.allow(plugin)
    else:
        waiting.reject(plugins[0] if plugins else "", command.message)
    simulation.recorder.record_in_cycle(
        binding.number,
        PermitAnswered,
        pod=command.pod,
        action=command.action,
        plugins=plugins if command.action == "allow" else plugins[:1],
        waiting_for=sorted(waiting.pending),
        message=command.message if command.action == "reject" else "",
    )
    runner.settle()
    return Outcome()


def _waiting(simulation: SimulationState, key: str) -> tuple[BindingCycle, WaitingPod] | None:
    """The oldest binding cycle of the pod that waits at Permit, with its WaitingPod; None: it does not wait there."""
    for binding in simulation.scheduler.bindings:
        if binding.pod == key:
            waiting = binding.framework.waiting_pods.get(binding.assumed.uid)
            if waiting is not None and waiting.signal is None:
                return binding, waiting
    return None


def preempt(runner: CycleRunner, command: commands.Preempt) -> tuple[str, Outcome]:
    """Carry out a held preemption of v1.36 to its end. Returns the preemptor ("": none) and the outcome."""
    simulation = runner.simulation
    runner.tick()
    scheduler, cluster = simulation.scheduler, simulation.cluster
    if not simulation.features.scheduler_async_preemption:
        why = _why_off(simulation, "SchedulerAsyncPreemption")
        return "", Outcome(result=f"the scheduler evicts victims in its scheduling cycles: {why}")
    running = scheduler.preemptions.running
    task = next((preemption for preemption in running if command.pod in ("*", preemption.preemptor.key)), None)
    if task is None:
        return "", Outcome(result="no held preemption")
    cluster.delete_failure, cluster.delivers_at_once = command.fail, command.deliver == "during"
    try:
        scheduler.run_preemption(task)
    finally:
        cluster.delete_failure, cluster.delivers_at_once = "", False
    runner.deliver_writes()
    runner.settle()
    return task.preemptor.key, Outcome()


def dispatch(runner: CycleRunner) -> Outcome:
    """Make the API calls that v1.36 left to its dispatcher."""
    runner.tick()
    scheduler = runner.simulation.scheduler
    if scheduler.state.api_dispatcher is None:
        why = _why_off(runner.simulation, "SchedulerAsyncAPICalls")
        return Outcome(result=f"the scheduler makes its API calls at once: {why}")
    scheduler.dispatch()
    runner.simulation.cluster.send_held_events()
    runner.settle()
    return Outcome()


def _why_off(simulation: SimulationState, gate: str) -> str:
    if gate in simulation.release.gates:
        return f"the feature gate {gate} is off"
    return f"{simulation.release.version} has no feature gate {gate}"


def configure(runner: CycleRunner, command: commands.Configure) -> Outcome:
    """Replace the configuration, in place or with a restart. An invalid configuration changes nothing."""
    simulation = runner.simulation
    if not command.restart:
        why = _why_not_in_place(simulation)
        if why:
            return Outcome(result=why)
    before, extenders, configuration = simulation.config, simulation.extenders, simulation.configuration
    try:
        simulation.configure(command.config)
        profiles = simulation.scheduler.profiles_of(simulation.configuration, simulation.extenders)
    except ConfigurationError as error:
        simulation.config, simulation.extenders, simulation.configuration = before, extenders, configuration
        return Outcome(error=f"config: {error}")
    if not command.restart:
        runner.tick()
    simulation.recorder.record(Configured, config=simulation.config)
    if command.restart:
        scheduler_process.restart(runner, settles=True)
        return Outcome()
    simulation.scheduler.reconfigure(simulation.configuration, profiles, simulation.extenders)
    runner.settle()
    return Outcome()


def _why_not_in_place(simulation: SimulationState) -> str:
    """Why the configuration can be replaced only with a restart; "": it can be replaced in place."""
    if simulation.exited:
        return scheduler_process.exited_result(simulation)
    instead = "or configure with a restart"
    cycle = simulation.scheduler.cycle
    if cycle is not None:
        return f"the scheduling cycle of {cycle.title} is at {cycle.stage}: let it end first (step), {instead}"
    for binding in simulation.scheduler.bindings:
        if binding.is_running:
            how = "permit" if binding.waiting_for else "bind" if binding.held else "step or advance"
            return f"the binding cycle of {binding.pod} is at {binding.stage}: let it end first ({how}), {instead}"
    return ""
