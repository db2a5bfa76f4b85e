"""Much work of the simulated controllers, and the first lists of a scheduler, are several units of a command. The units change nothing but the length of a step."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation
from schedviz.engine.commands import cycle_runner, scheduler_process
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent
from schedviz.trace.fold import Fold
from tests.engine.clusters import do, four_nodes, node, pod


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


def run(commands: list[dict[str, Any]], simulation: Simulation, *, restores: bool) -> tuple[list[AnyEvent], str, int]:
    """The events of all commands, the digest of the state, and the number of units; `restores`: continue from a checkpoint in each."""
    events: list[AnyEvent] = []
    units = 0
    fold = Fold(simulation.view())
    for command in commands:
        simulation.start(convert_command(command))
        while True:
            outcome = simulation.work(stop=lambda: True)
            units += 1
            events += (news := simulation.drain_events())
            fold.apply_all(news)
            assert fold.to_view() == simulation.view()
            if outcome is not None:
                break
            if restores:
                simulation = Simulation.restore(simulation.checkpoint())
    return events, simulation.state_hash(), units


@pytest.mark.slow
@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
@pytest.mark.parametrize(("limit", "count"), [("MAX_SYNCS", 1), ("MAX_SYNCS", 3), ("MAX_EVENTS", 1)])
def test_events_and_state_do_not_depend_on_the_length_of_units(
    release: str, limit: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, digest, units = run(COMMANDS, four_nodes(release=release), restores=False)
    monkeypatch.setattr(cycle_runner, limit, count)

    in_short_units = run(COMMANDS, four_nodes(release=release), restores=True)

    assert in_short_units[:2] == (events, digest)
    assert in_short_units[2] > units + 20


#: A scheduler that starts again, with and without another configuration, with pods in each state and events in flight.
RESTARTS: list[dict[str, Any]] = [
    {"op": "create", "object": pod("large", cpu="6")},
    {"op": "run", "max": 5},
    {"op": "latency", "kind": "Pod", "seconds": 60},
    {"op": "create", "object": pod("in-flight")},
    {"op": "restart"},
    {"op": "helper", "name": "kubelet", "seconds": 0.0},
    {"op": "configure", "config": {"percentageOfNodesToScore": 50}, "restart": True},
    {"op": "run"},
    {"op": "delete", "kind": "Node", "name": "node1", "namespace": ""},
    {"op": "reset"},
    {"op": "run", "max": 2},
    {"op": "restart"},
    {"op": "run"},
]


def restarted(release: str, *, restores: bool = False) -> tuple[list[AnyEvent], str, int]:
    return run(RESTARTS, nine_pods(release), restores=restores)


def nine_pods(release: str) -> Simulation:
    foreign = pod("foreign", schedulerName="other")
    return four_nodes(foreign, *(pod(f"p{number}", node_name="node2" if number % 3 == 0 else "") for number in range(9)), release=release)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["v1.27.1", "v1.36"])
@pytest.mark.parametrize("objects", [1, 2, 4, 7])
def test_a_restarted_scheduler_lists_in_units(release: str, objects: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events, digest, units = restarted(release)
    monkeypatch.setattr(scheduler_process, "MAX_LISTED_IN_UNIT", objects)

    in_short_units = restarted(release, restores=True)

    assert in_short_units[:2] == (events, digest)
    assert in_short_units[2] >= units + 4 * (14 // objects - 1)


def test_a_command_first_finishes_the_lists_of_an_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_process, "MAX_LISTED_IN_UNIT", 3)
    simulation = nine_pods("v1.36")
    simulation.start(convert_command({"op": "restart"}))
    assert simulation.work(stop=lambda: True) is None
    simulation.interrupt()
    assert not simulation.scheduler.state.informers.list("Pod")

    do(simulation, "create", object=pod("later"))

    assert [seen.metadata.name for seen in simulation.scheduler.state.informers.list("Pod")] == [
        "foreign",
        "later",
        *(f"p{n}" for n in range(9)),
    ]


def test_the_engine_between_two_lists_shows_what_was_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_process, "MAX_LISTED_IN_UNIT", 6)
    simulation = nine_pods("v1.36")
    simulation.start(convert_command({"op": "restart"}))

    assert simulation.work_until(simulation.event + 2)
    assert len(simulation.view().cache.list) == 4
    assert [seen.metadata.name for seen in simulation.scheduler.state.informers.list("Pod")] == ["foreign", "p0"]
