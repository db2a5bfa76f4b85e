"""Checks that an engine which is saved and restored at random places, also between two stages of a cycle, continues identically."""

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

#: Approximate number of restores in one run.
RESTORES: Final = 40
#: The part of the steps that are preceded by a few stages of a cycle, which a later step completes.
_OPEN_CYCLE_SHARE: Final = 0.3
#: More than the stages of any cycle, except one that preempts.
_MAX_STAGES: Final = 45
_MAX_SHOWN_CHARACTERS: Final = 160


class Run(msgspec.Struct):
    """The result of a run."""

    simulation: Simulation
    events: list[AnyEvent]
    #: The record of each cycle with its number.
    records: list[tuple[int, Any]]
    restores: int = 0


def differences(trace: Trace, *, seed: str) -> Iterator[str]:
    """Run the steps of a trace twice, without and with restores, at places that `seed` draws uniformly over the events.

    Returns sentences about the differences in events, cycle records and state; empty if there are none.
    """
    from schedviz.engine.trace_run import settings_of
    from schedviz.trace.commands import AnyCommand

    steps = [step for step in trace.steps if isinstance(step, AnyCommand)]
    source = random.Random(seed)  # noqa: S311  (a draw, not a secret)
    commands = list(_with_stages(steps, source))
    straight = run(settings_of(trace), commands, [])
    restore_events = sorted(source.randint(1, max(1, straight.simulation.event)) for _ in range(RESTORES))
    yield from between(straight, run(settings_of(trace), commands, restore_events))


def _with_stages(steps: Sequence[AnyCommand], source: random.Random) -> Iterator[AnyCommand]:
    """The steps, with a few cycles advanced by some stages in between."""
    from schedviz.trace.commands import Step

    for step in steps:
        if source.random() < _OPEN_CYCLE_SHARE:
            yield Step(unit="stage", count=source.randint(1, _MAX_STAGES))
        yield step


def run(settings: SimulationSettings, commands: Sequence[AnyCommand], restore_events: Sequence[int]) -> Run:
    """Apply commands, and save and restore the engine at the first boundary after each of these events."""
    from schedviz.engine import Simulation

    done = Run(Simulation(settings), [], [])
    done.simulation.records = "full"
    ahead = list(reversed(restore_events))
    for command in commands:
        done.simulation.start(command)
        outcome = None
        while outcome is None:
            outcome = done.simulation.work(stop=lambda: bool(ahead) and done.simulation.event >= ahead[-1])
            done.events += done.simulation.drain_events()
            if ahead and done.simulation.event >= ahead[-1]:
                done.records += done.simulation.cycle_records
                done.simulation = Simulation.restore(done.simulation.checkpoint())
                done.simulation.records = "full"
                done.restores += 1
                while ahead and done.simulation.event >= ahead[-1]:
                    ahead.pop()
        done.records += done.simulation.cycle_records
    return done


def between(straight: Run, restored: Run) -> Iterator[str]:
    """How two runs of the same commands differ: at most the first event, the first record and the final state."""
    from schedviz.trace.events import encode_events

    for expected, actual in zip_longest(straight.events, restored.events):
        if expected is None or actual is None or encode_events([expected]) != encode_events([actual]):
            number = (expected or actual).event
            yield f"after {restored.restores} restores event {number} differs: {_short(expected)} without, {_short(actual)} with them"
            break
    for expected, actual in zip_longest(straight.records, restored.records):
        if _without_binding(expected) != _without_binding(actual):
            yield f"after {restored.restores} restores the record of cycle {(expected or actual)[0]} differs"
            break
    if straight.simulation.state_hash() != restored.simulation.state_hash():
        yield f"after {restored.restores} restores the final state differs"


def _without_binding(record: tuple[int, Any] | None) -> Any:
    """The record without its binding, which is recorded when it ends, and only if the record of its cycle was not dropped by a restore."""
    if record is None:
        return None
    number, cycle = record
    group = cycle.get("podGroup")
    if group is not None:
        # A pod group's cycle is followed by one binding for each pod.
        cycle = {**cycle, "podGroup": {**group, "pods": [{**pod, "binding": None} for pod in group["pods"]]}}
    return (number, {**cycle, "binding": None})


def _short(event: AnyEvent | None) -> str:
    text = "nothing" if event is None else msgspec.json.encode(event).decode()
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[: _MAX_SHOWN_CHARACTERS - 3] + "..."
