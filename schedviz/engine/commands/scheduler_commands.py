"""What people ask of the scheduler beside its cycles: `permit` answers for a pod that waits, `configure` gives it another configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.engine.binding import BindingCycle
from schedviz.engine.commands import connections
from schedviz.engine.config import ConfigurationError
from schedviz.engine.framework.runtime import WaitingPod
from schedviz.engine.outcome import Outcome
from schedviz.trace import commands
from schedviz.trace.events import Configured, PermitAnswered

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


def permit(simulation: Simulation, command: commands.Permit) -> Outcome:
    """Allow or reject a pod that waits at Permit, for one plugin or for all. Upstream: framework/runtime/waiting_pods_map.go waitingPod"""
    simulation.operations.tick()
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
    simulation.operations.settle()
    return Outcome()


def _waiting(simulation: Simulation, key: str) -> tuple[BindingCycle, WaitingPod] | None:
    """The oldest binding cycle of the pod that waits for somebody's word."""
    for binding in simulation.scheduler.bindings:
        if binding.pod == key:
            waiting = binding.framework.waiting_pods.get(binding.assumed.uid)
            if waiting is not None and waiting.signal is None:
                return binding, waiting
    return None


def configure(simulation: Simulation, command: commands.Configure) -> Outcome:
    """Take another configuration: in place, or with a restart. One that is refused changes nothing."""
    if not command.restart:
        why = _why_not_in_place(simulation)
        if why:
            return Outcome(result=why)
    before, extenders, configuration = simulation.config, simulation.extenders, simulation.configuration
    try:
        simulation.configure(command.config)
        profiles = simulation.scheduler.profiles_of(simulation.configuration)
    except ConfigurationError as error:
        simulation.config, simulation.extenders, simulation.configuration = before, extenders, configuration
        return Outcome(error=f"config: {error}")
    if not command.restart:
        simulation.operations.tick()
    simulation.recorder.record(Configured, config=simulation.config)
    if command.restart:
        simulation.operations.restart()
    else:
        simulation.scheduler.reconfigure(simulation.configuration, profiles, simulation.extenders)
    simulation.operations.settle()
    return Outcome()


def _why_not_in_place(simulation: Simulation) -> str:
    """Why the scheduler cannot be configured without a restart; "": it can."""
    if simulation.exited:
        return connections.why_not(simulation)
    instead = "or configure with a restart"
    cycle = simulation.scheduler.cycle
    if cycle is not None:
        return f"the scheduling cycle of {cycle.pod.key} is at {cycle.stage}: let it end first (step), {instead}"
    for binding in simulation.scheduler.bindings:
        if binding.is_running:
            how = "permit" if binding.waiting_for else "bind" if binding.held else "step or advance"
            return f"the binding cycle of {binding.pod} is at {binding.stage}: let it end first ({how}), {instead}"
    return ""
