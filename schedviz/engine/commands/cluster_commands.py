"""Commands to the simulated cluster: `helper`, `cordon`, `evict` and `drain`."""

from __future__ import annotations

from schedviz.engine.cluster.controllers import eviction
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.simulation_state import Outcome
from schedviz.kube.core import Node, Pod
from schedviz.trace import commands
from schedviz.trace.events import HelperSet


def helper(runner: CycleRunner, command: commands.Helper) -> Outcome:
    """Switch a controller on or off."""
    simulation = runner.simulation
    controllers = simulation.cluster.controllers
    if command.seconds is not None and not controllers.has_delay(command.name):
        return Outcome(error=f"seconds: the helper {command.name} acts at once, it has no delay")
    runner.tick()
    if not controllers.switch(command.name, on=command.on, seconds=command.seconds):
        return Outcome(result=f"the helper {command.name} is {'on' if command.on else 'off'} already")
    simulation.recorder.record(HelperSet, name=command.name, on=command.on, seconds=controllers.delays.get(command.name, 0.0))
    runner.settle(in_units=True)
    return Outcome()


def cordon(runner: CycleRunner, command: commands.Cordon) -> Outcome:
    """Set or clear a node's spec.unschedulable."""
    simulation = runner.simulation
    node = simulation.cluster.find("Node", command.node)
    if not isinstance(node, Node):
        return Outcome(result=f'nodes "{command.node}" not found')
    runner.tick()
    changed = eviction.cordon(node, simulation.cluster, on=command.on)
    runner.settle(in_units=True)
    return Outcome(result="" if changed else f"node {node.name} is already {'cordoned' if command.on else 'uncordoned'}")


def evict(runner: CycleRunner, command: commands.Evict) -> Outcome:
    """Evict a pod with the eviction API."""
    simulation = runner.simulation
    runner.tick()
    pod = simulation.cluster.find("Pod", command.pod)
    if not isinstance(pod, Pod):
        return Outcome(result=f'pods "{command.pod.rpartition("/")[2]}" not found')
    refused = eviction.evict(pod, simulation.cluster)
    runner.settle(in_units=True)
    return Outcome(result=refused)


def drain(runner: CycleRunner, command: commands.Drain) -> Outcome:
    """Cordon a node and evict its pods, once each."""
    simulation = runner.simulation
    runner.tick()
    node = simulation.cluster.find("Node", command.node)
    if not isinstance(node, Node):
        return Outcome(result=f'nodes "{command.node}" not found')
    refused = eviction.drain(node, simulation.cluster)
    runner.settle(in_units=True)
    if not refused:
        return Outcome()
    reasons = "; ".join(f"{pod}: {why}" for pod, why in refused)
    return Outcome(result=f"{len(refused)} of the pods of {node.name} stay, drain it again when they may go. {reasons}")
