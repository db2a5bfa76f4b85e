"""Small clusters, and functions that run commands on a simulation."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Outcome, Simulation, SimulationSettings
from schedviz.engine.invariants import validate_state
from schedviz.kube import codec
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent, encode_events


def node(name: str, *, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    resources = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {"kind": "Node", "metadata": {"name": name}, "spec": spec, "status": {"capacity": resources, "allocatable": resources}}


def pod(name: str, *, cpu: str = "1", node_name: str = "", phase: str = "", **spec: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec},
    }
    if node_name:
        made["spec"]["nodeName"] = node_name
    if phase:
        made["status"] = {"phase": phase}
    return made


def claim(name: str, storage_class: str) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, "resources": {"requests": {"storage": "1Gi"}}}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def objects(*dicts: dict[str, Any]) -> list[KubeObject]:
    return [codec.from_dict(manifest) for manifest in dicts]


def do(simulation: Simulation, op: str, **members: Any) -> Outcome:
    """Run one command, and check the invariants."""
    outcome = do_unchecked(simulation, op, **members)
    state = simulation.scheduler.state
    validate_state(state.cache, state.snapshot, state.queue)
    return outcome


def do_unchecked(simulation: Simulation, op: str, **members: Any) -> Outcome:
    """Run one command, without a check of the invariants."""
    simulation.start(convert_command({"op": op, **members}))
    outcome = simulation.work()
    assert outcome is not None
    return outcome


def four_nodes(*pods: dict[str, Any], **settings: Any) -> Simulation:
    simulation = Simulation(SimulationSettings(**settings))
    simulation.load(objects(*(node(f"node{number}") for number in range(1, 5)), *pods))
    return simulation


def without_numbers(events: list[AnyEvent]) -> list[bytes]:
    """Events without CommandDone and without members that depend on their number."""
    lines = []
    for event in events:
        if type(event).__name__ != "CommandDone":
            encoded = encode_events([event])
            lines.append(encoded.replace(f'"event":{event.event},'.encode(), b""))
    return lines
