"""An engine that is saved and restored somewhere in a run, also between two stages of a cycle, goes on as one that never was."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from schedviz.engine import Simulation, SimulationSettings
    from schedviz.engine.trace_run import Trace
    from schedviz.trace.commands import AnyCommand
    from schedviz.trace.events import AnyEvent

#: How often the engine is restored in one run, about.
RESTORES: Final = 40
#: How many of the steps are preceded by a few stages of a cycle, which a later step ends.
_LEFT_OPEN: Final = 0.3
#: A cycle that finds no room and preempts has more stages than any other.
_MOST_STAGES: Final = 45
_SHOWN_CHARACTERS: Final = 160


class Run(msgspec.Struct):
    """What came of a run."""

    simulation: Simulation
    events: list[AnyEvent]
    #: The record of each cycle with its number.
    records: list[tuple[int, Any]]
    restores: int = 0


def differences(trace: Trace, *, seed: str) -> Iterator[str]:
    """Do the steps of a trace twice, without and with restores: sentences on how the two differ; none: events, the records of cycles and
    the state are the same. The places are drawn by `seed`, uniformly over the events."""
    from schedviz.engine.trace_run import settings_of
    from schedviz.trace.commands import AnyCommand

    steps = [step for step in trace.steps if isinstance(step, AnyCommand)]
    source = random.Random(seed)  # noqa: S311  (a draw, not a secret)
    commands = list(_with_stages(steps, source))
    straight = run(settings_of(trace), commands, [])
    places = sorted(source.randint(1, max(1, straight.simulation.event)) for _ in range(RESTORES))
    yield from between(straight, run(settings_of(trace), commands, places))


def _with_stages(steps: Sequence[AnyCommand], source: random.Random) -> Iterator[AnyCommand]:
    """The steps, with some cycles taken a few stages far before other things happen."""
    from schedviz.trace.commands import Step

    for step in steps:
        if source.random() < _LEFT_OPEN:
            yield Step(unit="stage", count=source.randint(1, _MOST_STAGES))
        yield step


def run(settings: SimulationSettings, commands: Sequence[AnyCommand], places: Sequence[int]) -> Run:
    """Carry out commands; at the first boundary from each of these events on the engine is saved and restored."""
    from schedviz.engine import Simulation

    done = Run(Simulation(settings), [], [])
    done.simulation.detail = True
    ahead = list(reversed(places))
    for command in commands:
        done.simulation.start(command)
        outcome = None
        while outcome is None:
            outcome = done.simulation.work(stop=lambda: bool(ahead) and done.simulation.event >= ahead[-1])
            done.events += done.simulation.drain_events()
            if ahead and done.simulation.event >= ahead[-1]:
                done.records += done.simulation.cycle_records
                done.simulation = Simulation.restore(done.simulation.checkpoint())
                done.simulation.detail = True
                done.restores += 1
                while ahead and done.simulation.event >= ahead[-1]:
                    ahead.pop()
        done.records += done.simulation.cycle_records
    return done


def between(straight: Run, restored: Run) -> Iterator[str]:
    """How two runs of the same commands differ: at most the first event, the first record and the state."""
    from schedviz.trace.events import encode_events

    for one, other in zip_longest(straight.events, restored.events):
        if one is None or other is None or encode_events([one]) != encode_events([other]):
            number = (one or other).event
            yield f"after {restored.restores} restores event {number} differs: {_short(one)} without, {_short(other)} with them"
            break
    for one, other in zip_longest(straight.records, restored.records):
        if _without_binding(one) != _without_binding(other):
            yield f"after {restored.restores} restores the record of cycle {(one or other)[0]} differs"
            break
    if straight.simulation.state_hash() != restored.simulation.state_hash():
        yield f"after {restored.restores} restores the state in the end differs"


def _without_binding(record: tuple[int, Any] | None) -> Any:
    """A record of a binding is made as it ends, for the cycle whose record is still at hand: not after a restore."""
    return None if record is None else (record[0], {**record[1], "binding": None})


def _short(event: AnyEvent | None) -> str:
    text = "nothing" if event is None else msgspec.json.encode(event).decode()
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
