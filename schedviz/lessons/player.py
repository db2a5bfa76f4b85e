"""Plays a lesson on an engine of its own, and records the state at each stop."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from schedviz.engine import RULES_OF_NEW_SESSIONS, Outcome, Simulation, SimulationSettings, graceful_victims
from schedviz.engine.reporting import observation_v1_36
from schedviz.kube import codec
from schedviz.lessons.expressions import HINT_MEMBERS, as_text, find
from schedviz.lessons.lesson import Lesson, LiveHint, Plan, Stop
from schedviz.lessons.stop_state import CheckedClaim, StopState
from schedviz.trace.commands import AnyCommand, Confirm
from schedviz.trace.releases import V1_27, ReleaseName


def play(lesson: Lesson, *, release: ReleaseName | None = None) -> Iterator[StopState]:
    """Play the stops in order, on another release than the lesson's if it is given. Raises `ExpressionError` or `ConfigurationError`."""
    player = _Player(lesson, release or lesson.plan.release)
    for stop in lesson.plan.stops:
        yield player.play(stop)


def differing_stops(lesson: Lesson, release: ReleaseName) -> list[str]:
    """The stops at which an answer or the value of a check is different in another release.

    Raises `ExpressionError` or `ConfigurationError`.
    """
    both = zip(play(lesson), play(lesson, release=release), strict=True)
    return [first.stop.id for first, second in both if (first.answer, first.checks) != (second.answer, second.checks)]


def hint_holds(lesson: Lesson, stop: Stop, hint: LiveHint) -> bool:
    """Whether a hint is shown after its commands; without commands, on arrival or at the end of the stop. Raises `ExpressionError`."""
    player = _Player(lesson, lesson.plan.release)
    for before in itertools.takewhile(lambda earlier: earlier is not stop, lesson.plan.stops):
        player.play(before)
    player.do(stop.do)
    # Not lazily: the commands of the second one follow those of the first.
    results = [player.shows(hint, commands) for commands in ((hint.after,) if hint.after else ((), stop.reveal))]
    return any(results)


def _settings(plan: Plan, release: ReleaseName) -> SimulationSettings:
    members = msgspec.structs.asdict(plan.settings)
    graceful = graceful_victims(asked=plan.settings.graceful_victims)
    return SimulationSettings(**{**RULES_OF_NEW_SESSIONS, **members, "graceful_victims": graceful, "release": release})


class _Player:
    """An engine with the cluster of a lesson, and beside it that of `compareWith`, which executes the same commands."""

    def __init__(self, lesson: Lesson, release: ReleaseName, *, compares: bool = True) -> None:
        self._release = release
        other = lesson.plan.compare_with if compares else None
        self._other = None if other is None else _Player(lesson, other, compares=False)
        self._simulation = Simulation(_settings(lesson.plan, release))
        self._simulation.records = "full"
        self._simulation.load(codec.from_dict(obj) for obj in lesson.objects)
        self._simulation.drain_events()
        self._state = self._simulation.observed_state()

    def play(self, stop: Stop) -> StopState:
        state = self.do(stop.do)
        arrived = self._simulation.event
        facts = {name: as_text(find(expression, state)) for name, expression in stop.facts.items()}
        after = self.do(stop.reveal) if stop.reveal else state
        answer = find(stop.question.answer, after) if stop.question else None
        answer = as_text(answer) if isinstance(answer, bool) else answer
        facts_after = {name: as_text(find(expression, after)) for name, expression in stop.facts.items()}
        checks = [CheckedClaim(check, find(check.that, after)) for check in stop.check]
        return StopState(stop, arrived, self._simulation.event, facts, {**facts_after, "answer": as_text(answer)}, answer, checks)

    def shows(self, hint: LiveHint, commands: Sequence[AnyCommand]) -> bool:
        """Execute commands; returns whether the hint is shown then."""
        after = self.do(commands)
        return find(hint.when, {name: after[name] for name in HINT_MEMBERS}) is True

    def do(self, commands: Sequence[AnyCommand]) -> dict[str, Any]:
        """Execute commands; returns the document for expressions."""
        simulation = self._simulation
        before = self._state
        events: list[Any] = []
        outcome = Outcome()
        cycle = binding = None
        for command in commands:
            simulation.start(command)
            outcome = simulation.work() or outcome
            events += simulation.drain_events()
            simulation.drain_cycles()
            simulation.drain_extender_responses()
            cycle = simulation.cycle_records[-1][1] if simulation.cycle_records else cycle
            binding = binding if isinstance(command, Confirm) else simulation.binding_record or binding
        self._state = simulation.observed_state()
        document: dict[str, Any] = msgspec.to_builtins(
            {
                "state": self._state,
                "before": before,
                "events": events,
                "cycle": cycle,
                "binding": binding,
                "outcome": {"result": outcome.result, "error": outcome.error},
                "clockSeconds": simulation.clock_seconds,
                "heldBindings": [binding.pod for binding in simulation.scheduler.held_bindings],
                "unconfirmed": list(simulation.cluster.watches.unconfirmed),
            }
        )
        if self._release != V1_27:
            document |= observation_v1_36.queue_decisions(events) | observation_v1_36.pending_work(simulation.scheduler)
        return document if self._other is None else document | {"other": self._other.do(commands)}
