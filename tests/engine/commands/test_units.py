"""Much work of the simulated controllers is several units of a command. The units change nothing but the length of a step."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.engine.commands import cycle_runner, scheduler_process
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent
from tests.engine.clusters import four_nodes, node, pod


def replica_set(name: str, replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": name}, "spec": spec}


#: Nodes that pods wait for, sets whose pods are made, started, drained and made again, all at a few moments.
COMMANDS: list[dict[str, Any]] = [
    *({"op": "create", "object": replica_set(f"set-{number}", 4)} for number in range(6)),
    {"op": "create", "object": pod("large", cpu="6", terminationGracePeriodSeconds=3)},
    {"op": "helper", "name": "replicaSets"},
    {"op": "helper", "name": "kubelet", "seconds": 2},
    {"op": "run"},
    {"op": "create", "object": node("large", cpu="8")},
    {"op": "latency", "kind": "Pod", "seconds": 0.5},
    {"op": "advance", "seconds": 5},
    {"op": "run"},
    {"op": "drain", "node": "node1"},
    {"op": "advance", "to": "next"},
    {"op": "advance", "seconds": 60},
    {"op": "run"},
]


def run(release: str, *, restores: bool) -> tuple[list[AnyEvent], str, int]:
    """The events of all commands, the digest of the state, and the number of units; `restores`: continue from a checkpoint in each."""
    simulation = four_nodes(release=release)
    events: list[AnyEvent] = []
    units = 0
    for command in COMMANDS:
        simulation.start(convert_command(command))
        while True:
            outcome = simulation.work(stop=lambda: True)
            units += 1
            events += simulation.drain_events()
            if outcome is not None:
                break
            if restores:
                simulation = Simulation.restore(simulation.checkpoint())
    return events, simulation.state_hash(), units


@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
@pytest.mark.parametrize("syncs", [1, 3])
def test_events_and_state_do_not_depend_on_the_length_of_units(release: str, syncs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events, digest, units = run(release, restores=False)
    monkeypatch.setattr(cycle_runner, "MAX_SYNCS", syncs)

    in_short_units = run(release, restores=True)

    assert in_short_units[:2] == (events, digest)
    assert in_short_units[2] > units + 20


@pytest.mark.parametrize("command", ["restart", "reset"])
def test_progress_is_reported_while_a_restarted_scheduler_lists(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_process, "_OBJECTS_PER_REPORT", 2)
    simulation = four_nodes(*(pod(f"p{number}") for number in range(9)))
    reports: list[int] = []
    simulation.on_stage = lambda: reports.append(simulation.event)
    simulation.start(convert_command({"op": command}))
    simulation.work()

    assert len(set(reports)) >= 4
