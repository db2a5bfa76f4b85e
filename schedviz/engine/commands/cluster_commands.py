"""What people ask of the simulated cluster rather than of the scheduler: `helper`, `cordon`, `evict` and `drain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.engine.cluster.controllers import eviction
from schedviz.engine.outcome import Outcome
from schedviz.kube.core import Node, Pod
from schedviz.trace import commands
from schedviz.trace.events import HelperSet

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


def helper(simulation: Simulation, command: commands.Helper) -> Outcome:
    """Switch a helper on or off."""
    helpers = simulation.cluster.helpers
    if command.seconds is not None and not helpers.has_delay(command.name):
        return Outcome(error=f"seconds: the helper {command.name} acts at once, it has no delay")
    simulation.operations.tick()
    if not helpers.switch(command.name, on=command.on, seconds=command.seconds):
        return Outcome(result=f"the helper {command.name} is {'on' if command.on else 'off'} already")
    simulation.recorder.record(HelperSet, name=command.name, on=command.on, seconds=helpers.on.get(command.name, 0.0))
    simulation.operations.settle()
    return Outcome()


def cordon(simulation: Simulation, command: commands.Cordon) -> Outcome:
    """Set or take back a node's spec.unschedulable."""
    node = simulation.cluster.find("Node", command.node)
    if not isinstance(node, Node):
        return Outcome(result=f'nodes "{command.node}" not found')
    simulation.operations.tick()
    changed = eviction.cordon(node, simulation.cluster, on=command.on)
    simulation.operations.settle()
    return Outcome(result="" if changed else f"node {node.name} is {'' if command.on else 'not '}cordoned already")


def evict(simulation: Simulation, command: commands.Evict) -> Outcome:
    """Ask the eviction API to delete a pod."""
    simulation.operations.tick()
    pod = simulation.cluster.find("Pod", command.pod)
    if not isinstance(pod, Pod):
        return Outcome(result=f'pods "{command.pod.rpartition("/")[2]}" not found')
    refused = eviction.evict(pod, simulation.cluster)
    simulation.operations.settle()
    return Outcome(result=refused)


def drain(simulation: Simulation, command: commands.Drain) -> Outcome:
    """Cordon a node and evict its pods, once each."""
    simulation.operations.tick()
    node = simulation.cluster.find("Node", command.node)
    if not isinstance(node, Node):
        return Outcome(result=f'nodes "{command.node}" not found')
    refused = eviction.drain(node, simulation.cluster)
    simulation.operations.settle()
    if not refused:
        return Outcome()
    stay = "; ".join(f"{pod}: {why}" for pod, why in refused)
    return Outcome(result=f"{len(refused)} of the pods of {node.name} stay, drain it again when they may go. {stay}")
