"""Runs engines for the tests of histories."""

from __future__ import annotations

from typing import Any

from schedviz.engine import Simulation, SimulationSettings
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent


def node(name: str, *, cpu: str = "4") -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts, "capacity": amounts}}


def pod(name: str, *, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": cpu}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
    }


def events_of(*commands: dict[str, Any], **settings: Any) -> list[AnyEvent]:
    """The events of an engine with these settings that starts with an empty cluster and runs these commands."""
    simulation = Simulation(SimulationSettings(**settings))
    events: list[AnyEvent] = []
    for seq, command in enumerate(commands, start=1):
        simulation.start(convert_command(command), seq=seq)
        simulation.work()
        events += simulation.drain_events()
    return events


def create(thing: dict[str, Any]) -> dict[str, Any]:
    return {"op": "create", "object": thing}
