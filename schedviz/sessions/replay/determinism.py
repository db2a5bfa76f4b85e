"""Whether a replay does what was done first, where code runs that schedviz does not answer for: plugins of users.

Without such plugins a replay is the same by construction, and tests hold it; comparing would cost as much as the replay. With them each
event is compared with the stored one, so that a plugin that asks a clock or a random source, or is another version by now, is found out
and named before its session goes on with a past that it never had.
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
_SHOWN_CHARACTERS: Final = 200
_READ_AT_ONCE: Final = 2000


class SameEvents:
    """The stored events of a session, beside which those of its replay are held."""

    def __init__(self, session_id: UUID, *, after: int, until: int) -> None:
        self._session_id = session_id
        self._until = until
        #: Up to which event the stored ones were read, and those of them that were not compared yet, the next one last.
        self._read = after
        self._ahead: list[AnyEvent] = []
        #: What was found: it is told again whoever asks again.
        self._diverged: ReplayDiverged | None = None

    def check(self, simulation: Simulation) -> None:
        """Compare what the engine has done since it was last drained. Raises `ReplayDiverged`."""
        if self._diverged is not None:
            raise self._diverged
        names = installed_plugins(simulation.configuration, simulation.release.in_tree_registry())
        done = simulation.pending_events if names else ()
        for place, event in enumerate(done):
            told = self._at(event.event) if event.event <= self._until else None
            # What is not stored any more is not compared.
            if told is not None and not _same(told, event):
                self._diverged = self._differs(told, done[place:], names)
                raise self._diverged

    def _at(self, number: int) -> AnyEvent | None:
        if not self._ahead and self._read < number:
            # At once and not as they are needed: a replay can end anywhere, and must leave no statement open.
            some = reading.events(self._session_id, after=number - 1, before=self._until + 1, limit=_READ_AT_ONCE)
            self._ahead = some[::-1]
            self._read = some[-1].event if some else self._until
        if self._ahead and self._ahead[-1].event == number:
            return self._ahead.pop()
        return None

    def _differs(self, told: AnyEvent, done: Sequence[AnyEvent], names: list[str]) -> ReplayDiverged:
        # What plugins gave is told with the stages and at the end of the cycle, and that can be after the first difference.
        was, found = _answers([told, *reversed(self._ahead)], told.cycle), _answers(done, done[0].cycle)
        said = {name for key in was.keys() & found.keys() for name in _differing(was[key], found[key])}
        return ReplayDiverged(
            f"At event {told.event} the replay does something else than was done first: it was {_short(told)} and is {_short(done[0])}."
            + suspicion(names, said)
        )


def _same(told: AnyEvent, done: AnyEvent) -> bool:
    """Whether they are the same, also where an earlier build stored what was told."""
    stored = _encode(told)
    return stored == _encode(done) or stored == _encode(without_added_members(done))


def suspicion(names: Sequence[str], said: Collection[str] = ()) -> str:
    """Which installed plugins it can have been: those whose names are `said` where two events differ, else all; "" where there are none."""
    if not names:
        return ""
    culprits = [name for name in names if name in said]
    if culprits:
        return f" The installed plugin {' and '.join(culprits)} answered otherwise: it was changed, or is not deterministic."
    return f" It runs with installed plugins: {', '.join(names)}. One that was changed, or that is not deterministic, does this."


def _answers(events: Sequence[AnyEvent], cycle: int) -> dict[str, Any]:
    """What plugins answered in a cycle, by stage, as plain data."""
    found = {}
    for event in events:
        if event.cycle == cycle and isinstance(event, StageEnded):
            found[event.stage] = msgspec.to_builtins([event.statuses, event.rejections, event.facts])
        elif event.cycle == cycle and isinstance(event, CycleEnded):
            found[""] = msgspec.to_builtins([event.winner, event.runner_up, event.unschedulable_plugins])
    return found


def _differing(was: Any, found: Any) -> Iterator[str]:
    """The names where two values differ: keys, texts, and the `plugin` of a record."""
    if was == found:
        return
    for value in (was, found):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("plugin"), str):
            yield value["plugin"]
    if isinstance(was, dict) and isinstance(found, dict):
        for key in was.keys() | found.keys():
            if was.get(key) != found.get(key):
                yield key
                yield from _differing(was.get(key), found.get(key))
    elif isinstance(was, list) and isinstance(found, list):
        # The rest of a list follows from its first difference: who was asked after a refusal, say.
        yield from next((list(_differing(one, other)) for one, other in zip_longest(was, found) if one != other), [])


def _short(event: AnyEvent) -> str:
    text = _encode(event).decode()
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
