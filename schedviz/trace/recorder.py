"""Where the engine writes what it did: numbers trace events and keeps them until they are drained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from schedviz.trace.events import AnyEvent, TraceEvent


class Lap(msgspec.Struct, frozen=True):
    """How long a stage took, in seconds, and the plugins in it by extension point, where those were timed."""

    seconds: float
    plugins: Mapping[str, Mapping[str, float]] = {}


class Recorder:
    """The events since the last drain, numbered without gaps.

    Whoever runs the engine keeps `at` and `cycle` up to date; whoever changes state calls `record` once, after the change. While
    `silent`, nothing is recorded and no number is used: an import fills cache and queue like this.
    """

    def __init__(self, *, event: int = 0, at: float = 0.0, cycle: int = 0) -> None:
        #: The number of the last event.
        self.event = event
        #: The virtual clock in seconds.
        self.at = at
        #: The scheduling cycle that runs; 0: none.
        self.cycle = cycle
        self.silent = False
        #: A clock of the host's, in seconds, where it wants to know how long stages take.
        self.watch: Callable[[], float] | None = None
        #: How long the stage took that an event tells of, by its number; since the last drain.
        self.laps: dict[int, Lap] = {}
        #: Each is an AnyEvent.
        self._events: list[Any] = []

    def record(self, kind: type[TraceEvent], /, *, cycle: int | None = None, **members: Any) -> None:
        """Record one event of this kind, with the members that are its own; `cycle` where it is not the one that runs."""
        if self.silent:
            return
        self.event += 1
        self._events.append(kind(event=self.event, at=self.at, cycle=self.cycle if cycle is None else cycle, **members))

    @property
    def pending(self) -> Sequence[AnyEvent]:
        """The events that were not drained yet."""
        return self._events

    def drain(self) -> list[AnyEvent]:
        """The events that were not drained yet, oldest first."""
        events, self._events = self._events, []
        return events

    def drain_laps(self) -> dict[int, Lap]:
        """How long stages took, by the numbers of the events that tell of them. Empty without a `watch`."""
        laps, self.laps = self.laps, {}
        return laps
