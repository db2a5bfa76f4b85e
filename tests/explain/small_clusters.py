"""Small clusters whose results can be counted by hand."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation, SimulationSettings
from schedviz.kube import codec
from schedviz.kube.defaults import default_object
from schedviz.trace.commands import AnyCommand, convert_command


def node(
    name: str, *, cpu: str = "4", memory: str = "16Gi", zone: str = "a", taints: tuple[str, ...] = (), cordoned: bool = False, **labels: str
) -> dict[str, Any]:
    """A node; a taint is `key=value:effect`."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, **labels}},
        "spec": {"unschedulable": cordoned, "taints": [_taint(text) for text in taints]},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}},
    }


def _taint(text: str) -> dict[str, str]:
    key, _, rest = text.partition("=")
    value, _, effect = rest.partition(":")
    return {"key": key, "value": value, "effect": effect}


def pod(
    name: str,
    *,
    cpu: str = "1",
    memory: str = "",
    on: str = "",
    priority: int | None = None,
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A pod with one container."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, **({"memory": memory} if memory else {})}}}]
    requests: dict[str, Any] = {"containers": containers, "nodeName": on, "priority": priority, **spec}
    requests = {key: value for key, value in requests.items() if value not in ("", None)}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": requests, "status": {"phase": "Running" if on else "Pending"}}


def cluster(*objects: dict[str, Any], config: dict[str, Any] | None = None, **settings: Any) -> Simulation:
    """An engine with these objects, which has scheduled nothing yet."""
    simulation = Simulation(SimulationSettings(config=config, **settings))
    simulation.load([default_object(codec.from_dict(obj)) for obj in objects])
    return simulation


def do(simulation: Simulation, op: str, **members: Any) -> None:
    """Carry out a command to its end."""
    command: AnyCommand = convert_command({"op": op, **members})
    simulation.start(command)
    simulation.work()
    simulation.drain_events()
    simulation.drain_cycles()
