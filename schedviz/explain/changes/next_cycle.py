"""The next scheduling cycle of one pod, or of a pod group, out of turn, on a copy of a session."""

from __future__ import annotations

from schedviz.engine import Simulation
from schedviz.engine.framework.pod_groups import PodGroupInfo, group_of
from schedviz.explain.what_if import clear_queue
from schedviz.kube.core import Pod
from schedviz.trace.commands import Cycle


def count_running(simulation: Simulation) -> int:
    """The number of pods that have a node and are not being deleted."""
    pods = (obj for obj in simulation.stored_objects() if isinstance(obj, Pod))
    return sum(bool(pod.spec.node_name) and pod.metadata.deletion_timestamp is None for pod in pods)


def next_cycle_of(simulation: Simulation, pod_key: str) -> Pod | None:
    """The pod after its cycle; None if it has none. No other pod is scheduled, and the copy is modified."""
    pod = simulation.cluster.find("Pod", pod_key)
    if not isinstance(pod, Pod):
        return None
    clear_queue(simulation)
    state = simulation.scheduler.state
    state.queue.add(state.pod_info(pod))
    simulation.start(Cycle())
    simulation.work()
    after = simulation.cluster.find("Pod", pod_key)
    return after if simulation.drain_cycles() and isinstance(after, Pod) else None


def next_cycle_of_group(simulation: Simulation, group: PodGroupInfo) -> dict[str, str]:
    """Pod -> node of the pods that the group's cycle schedules. No other pod is scheduled, and the copy is modified."""
    clear_queue(simulation)
    state = simulation.scheduler.state
    members = [obj for obj in simulation.stored_objects() if isinstance(obj, Pod) and group_of(obj) == group]
    waiting = [pod for pod in members if not pod.spec.node_name and pod.metadata.deletion_timestamp is None]
    for pod in waiting:
        state.queue.add(state.pod_info(pod))
    simulation.start(Cycle())
    simulation.work()
    after = [simulation.cluster.find("Pod", pod.key) for pod in waiting]
    return {pod.key: pod.spec.node_name for pod in after if isinstance(pod, Pod) and pod.spec.node_name}
