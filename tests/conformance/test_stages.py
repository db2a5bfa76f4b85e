"""An engine that is saved and restored between two stages of a cycle, anywhere in a trace, goes on as one that never was."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import pytest

from schedviz.engine import Simulation, settings_of
from schedviz.trace.commands import AnyCommand, convert_command
from schedviz.trace.events import AnyEvent, encode_events

_spec = importlib.util.spec_from_file_location("conformance_traces", Path(__file__).with_name("traces.py"))
assert _spec is not None
assert _spec.loader is not None
traces = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(traces)

#: A cycle that finds no room and preempts has more stages than any other.
MOST_STAGES = 45
#: The random traces, and every fourth of the others.
FILES = [path for index, path in enumerate(traces.FILES) if not path.name[0].isdigit() or index % 4 == 0]


@pytest.mark.parametrize("path", FILES, ids=traces.name_of)
def test_restoring_between_two_stages_changes_nothing(path: Path) -> None:
    trace = traces.trace_in(path)
    commands = _with_stages(trace.steps, random.Random(path.name))
    straight = _go(settings_of(trace), commands, None)
    restored = _go(settings_of(trace), commands, random.Random(path.name))
    assert restored[1] == straight[1]
    assert restored[2] == straight[2]
    assert restored[0].observed_state() == straight[0].observed_state()
    assert restored[0].state_hash() == straight[0].state_hash()


def _with_stages(steps: tuple[AnyCommand, ...], source: random.Random) -> list[AnyCommand]:
    """The steps, with some cycles taken a few stages far before other things happen and a later step ends them."""
    commands = []
    for step in steps:
        if source.random() < 0.3:
            count = source.randint(1, MOST_STAGES)
            commands.append(convert_command({"op": "step", "unit": "stage", "count": count}))
        commands.append(step)
    return commands


def _go(settings: Any, commands: list[AnyCommand], source: random.Random | None) -> tuple[Simulation, bytes, list[Any]]:
    """Carry out commands, with restores here and there if there is a `source`: the engine, its events, the record of each cycle."""
    simulation = Simulation(settings)
    simulation.detail = True
    events: list[AnyEvent] = []
    records: list[Any] = []
    cuts = 40 / len(commands)
    for command in commands:
        simulation.start(command)
        outcome = None
        while outcome is None:
            outcome = simulation.work(stop=lambda: source is not None and source.random() < cuts)
            events += simulation.drain_events()
            if outcome is None or (source is not None and source.random() < cuts):
                records += simulation.cycle_records
                simulation = Simulation.restore(simulation.checkpoint())
                simulation.detail = True
        records += simulation.cycle_records
    # A record of a binding is made as the binding ends, for the cycle whose record is still at hand: not after a restore.
    return simulation, encode_events(events), [(number, {**record, "binding": None}) for number, record in records]
