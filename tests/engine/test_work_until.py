"""`work_until`: the engine's state after any event, between two stages, from which it continues identically."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from schedviz.engine import Simulation, SimulationSettings
from schedviz.ingest.generate import generate, parse_generate_spec
from schedviz.trace.commands import convert_command
from schedviz.trace.events import AnyEvent
from schedviz.trace.fold import Fold
from schedviz.trace.view import View

COMMANDS: list[dict[str, Any]] = [
    {"op": "run", "max": 3},
    {"op": "latency", "kind": "Pod", "seconds": 2},
    {"op": "run", "max": 2},
    {"op": "step", "unit": "cycle", "count": 2},
    {"op": "schedule"},
    {"op": "delete", "kind": "Node", "name": "node-2"},
    {"op": "advance", "seconds": 5},
    {"op": "run"},
]


def new() -> Simulation:
    made = Simulation(SimulationSettings())
    made.load(list(generate(parse_generate_spec({"nodes": 3, "pods": 14, "shape": "mixed", "seed": 3}))))
    return made


def begin(simulation: Simulation, command: dict[str, Any]) -> None:
    simulation.start(convert_command(command))


def do(simulation: Simulation, command: dict[str, Any]) -> None:
    begin(simulation, command)
    while simulation.work() is None:
        pass


def as_after(event: int) -> Simulation:
    """The engine after an event, or the first boundary after it."""
    simulation = new()
    for command in COMMANDS:
        if simulation.event >= event:
            break
        begin(simulation, command)
        simulation.work_until(event)
    return simulation


@pytest.fixture(scope="module")
def whole() -> tuple[View, list[AnyEvent]]:
    simulation = new()
    view = simulation.view()
    for command in COMMANDS:
        do(simulation, command)
    return view, simulation.drain_events()


@pytest.mark.slow
def test_after_each_event_the_engines_view_equals_the_folded_events(whole: tuple[View, list[AnyEvent]]) -> None:
    view, events = whole
    fold = Fold(view)
    stood_at: set[int] = set()
    for event in events:
        if stood_at and event.event <= max(stood_at):
            continue
        simulation = as_after(event.event)
        stood_at.add(simulation.event)
        fold.apply_all(event for event in events if fold.event < event.event <= simulation.event)
        assert simulation.view() == fold.to_view(), event
        assert simulation.drain_events() == events[: simulation.event]
        assert simulation.running_command is None
    assert len(stood_at) > 100


@pytest.mark.slow
def test_the_engine_can_be_saved_between_two_stages(whole: tuple[View, list[AnyEvent]]) -> None:
    for event in range(1, len(whole[1]), 17):
        simulation = as_after(event)
        assert Simulation.restore(simulation.checkpoint()).checkpoint() == simulation.checkpoint()


def test_an_abandoned_cycle_ends_as_before(whole: tuple[View, list[AnyEvent]]) -> None:
    _, events = whole
    first = list(itertools.takewhile(lambda one: one.cycle <= 1, events))
    for event in range(1, first[-1].event):
        simulation = as_after(event)
        simulation.drain_events()
        left_at = simulation.event
        do(simulation, {"op": "step", "unit": "cycle"})
        went_on = [one for one in simulation.drain_events() if one.cycle == 1]
        assert [type(one) for one in went_on] == [type(one) for one in first if one.event > left_at and one.cycle == 1], event
