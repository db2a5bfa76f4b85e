"""Totals of events: the final levels equal those of the view."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.ingest.generate import generate, parse_generate_spec
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent
from schedviz.trace.tally import Levels, levels_of, tally

COMMANDS: list[dict[str, Any]] = [
    {"op": "run", "max": 6},
    {"op": "step", "unit": "stage", "count": 4},
    {"op": "delete", "kind": "Node", "name": "node-2"},
    {"op": "run"},
    {"op": "advance", "seconds": 30},
    {"op": "run", "max": 3},
    {"op": "restart"},
    {"op": "run"},
    {"op": "reset"},
    {"op": "run", "max": 2},
]


def levels(simulation: Simulation) -> Levels:
    view = simulation.view()
    return levels_of(view.queue, view.api.objects)


@pytest.fixture
def simulation() -> Simulation:
    made = Simulation(SimulationSettings())
    made.load(list(generate(parse_generate_spec({"nodes": 3, "pods": 60, "shape": "mixed", "seed": 5}))))
    return made


def done(simulation: Simulation, command: dict[str, Any]) -> list[AnyEvent]:
    simulation.start(convert_command(command))
    while simulation.work() is None:
        pass
    return simulation.drain_events()


def test_the_levels_after_some_events_equal_those_of_the_view(simulation: Simulation) -> None:
    before = levels(simulation)
    assert before.active_q
    for command in COMMANDS:
        before = tally(done(simulation, command), before).levels

        assert before == levels(simulation), command


def test_a_pod_that_backs_off_after_an_error_counts_towards_the_level_of_backoff_q() -> None:
    scripted = {"name": "Scripted", "args": {"rules": [{"point": "reserve", "code": "Error", "times": 1}]}}
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": "Scripted"}]}}, "pluginConfig": [scripted]}
    simulation = Simulation(SimulationSettings(release="v1.36", config={"profiles": [profile]}))
    simulation.load(list(generate(parse_generate_spec({"nodes": 1, "pods": 1}))))
    before = levels(simulation)

    after = tally(done(simulation, {"op": "cycle"}), before).levels

    assert (before.backoff_q, after.backoff_q) == (0, 1)
    assert after == levels(simulation)
    assert tally(done(simulation, {"op": "run"}), after).levels == levels(simulation)


def test_cycles_and_moves_are_counted(simulation: Simulation) -> None:
    counts = tally(done(simulation, {"op": "run"}), levels(simulation)).counts
    ended = simulation.drain_cycles()

    assert counts.cycles == len(ended)
    for outcome, counted in (("scheduled", counts.scheduled), ("unschedulable", counts.unschedulable), ("error", counts.errors)):
        assert counted == sum(cycle.outcome == outcome for cycle in ended)
    assert counts.bound == counts.scheduled > 0
    assert counts.unschedulable > 0
    assert counts.pod_moves >= counts.cycles


def test_creating_and_deleting_a_node_counts_as_two_changes(simulation: Simulation) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}, "status": {"allocatable": {"cpu": "1", "pods": "10"}}}
    created = done(simulation, {"op": "create", "object": node})
    deleted = done(simulation, {"op": "delete", "kind": "Node", "name": "new"})

    result = tally([*created, *deleted], Levels(nodes=3))

    assert (result.counts.node_changes, result.levels.nodes) == (2, 3)


def test_without_events_the_levels_do_not_change() -> None:
    assert tally([], Levels(active_q=3)).levels == Levels(active_q=3)
