"""Verifies that a replay reproduces the recorded events when users' plugins are installed.

Without such plugins a replay is deterministic by construction, and tests verify it; comparing events would cost as much as the replay. With
them, each event is compared with the stored one. A plugin that uses a clock or a random source, or has changed since, is detected and named
before its session continues with a different past.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final
from uuid import UUID

import msgspec

from schedviz.engine import Simulation
from schedviz.engine.framework.plugins.installed import installed_plugins
from schedviz.sessions.errors import ReplayDiverged
from schedviz.sessions.history import reading
from schedviz.trace.added_members import without_added_members
from schedviz.trace.events import AnyEvent, CycleEnded, StageEnded

_encode = msgspec.json.Encoder().encode
_MAX_SHOWN_CHARACTERS: Final = 200
_READ_AT_ONCE: Final = 2000


class DeterminismCheck:
    """Compares the events of a replay with the stored events of a session."""

    def __init__(self, session_id: UUID, *, after: int, until: int) -> None:
        self._session_id = session_id
        self._until = until
        #: The stored events are loaded up to this one; those not yet compared, the next one last.
        self._read = after
        self._ahead: list[AnyEvent] = []
        #: The first difference, which is reported again on later calls.
        self._diverged: ReplayDiverged | None = None

    def check(self, simulation: Simulation) -> None:
        """Compare the events since the engine was last drained. Raises `ReplayDiverged`."""
        if self._diverged is not None:
            raise self._diverged
        names = installed_plugins(simulation.configuration, simulation.release.in_tree_registry())
        done = simulation.pending_events if names else ()
        for index, event in enumerate(done):
            expected = self._at(event.event) if event.event <= self._until else None
            # Events that are no longer stored are not compared.
            if expected is not None and not _same(expected, event):
                self._diverged = self._differs(expected, done[index:], names)
                raise self._diverged

    def _at(self, number: int) -> AnyEvent | None:
        if not self._ahead and self._read < number:
            # Read eagerly: a replay can end at any point, and must leave no statement open.
            some = reading.events(self._session_id, after=number - 1, before=self._until + 1, limit=_READ_AT_ONCE)
            self._ahead = some[::-1]
            self._read = some[-1].event if some else self._until
        if self._ahead and self._ahead[-1].event == number:
            return self._ahead.pop()
        return None

    def _differs(self, expected: AnyEvent, done: Sequence[AnyEvent], names: list[str]) -> ReplayDiverged:
        # Plugins' results appear in stages and at the end of the cycle, which may come after the first difference.
        expected_results, actual = _results_of([expected, *reversed(self._ahead)], expected.cycle), _results_of(done, done[0].cycle)
        differing = {name for key in expected_results.keys() & actual.keys() for name in _differing(expected_results[key], actual[key])}
        return ReplayDiverged(
            f"The replay differs from the recording at event {expected.event}: it was {_short(expected)} and is now {_short(done[0])}."
            + suspicion(names, differing)
        )


def _same(expected: AnyEvent, done: AnyEvent) -> bool:
    """Whether two events are equal, also if an earlier build stored one of them."""
    stored = _encode(expected)
    return stored == _encode(done) or stored == _encode(without_added_members(done))


def suspicion(names: Sequence[str], differing: Collection[str] = ()) -> str:
    """The installed plugins that may have caused a difference: those that `differing` names, otherwise all; "" if there are none."""
    if not names:
        return ""
    culprits = [name for name in names if name in differing]
    if culprits:
        return f" The installed plugin {' and '.join(culprits)} gave a different result: it was changed or is not deterministic."
    return f" The installed plugins ({', '.join(names)}) may be the cause: one was changed or is not deterministic."


def _results_of(events: Sequence[AnyEvent], cycle: int) -> dict[str, Any]:
    """The plugins' results in a cycle, by stage, as plain data."""
    results = {}
    for event in events:
        if event.cycle == cycle and isinstance(event, StageEnded):
            results[event.stage] = msgspec.to_builtins([event.statuses, event.rejections, event.facts])
        elif event.cycle == cycle and isinstance(event, CycleEnded):
            results[""] = msgspec.to_builtins([event.winner, event.runner_up, event.unschedulable_plugins])
    return results


def _differing(before: Any, actual: Any) -> Iterator[str]:
    """The names at which two values differ: keys, strings, and the `plugin` of a record."""
    if before == actual:
        return
    for value in (before, actual):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("plugin"), str):
            yield value["plugin"]
    if isinstance(before, dict) and isinstance(actual, dict):
        for key in before.keys() | actual.keys():
            if before.get(key) != actual.get(key):
                yield key
                yield from _differing(before.get(key), actual.get(key))
    elif isinstance(before, list) and isinstance(actual, list):
        # Later differences in a list follow from the first one, such as which plugin ran after a rejection.
        yield from next((list(_differing(first, other)) for first, other in zip_longest(before, actual) if first != other), [])


def _short(event: AnyEvent) -> str:
    text = _encode(event).decode()
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[: _MAX_SHOWN_CHARACTERS - 1]}…"
