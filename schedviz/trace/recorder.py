"""`Recorder`: where the engine writes what it did. Numbers trace events and keeps them until they are drained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Concatenate, ParamSpec

import msgspec

from schedviz.trace.events import AnyEvent, TraceEvent

#: The members of one kind of event, without those that every event has.
Members = ParamSpec("Members")


class StageTiming(msgspec.Struct, frozen=True):
    """How long a stage took, in seconds, and the time of its plugins by extension point, where those were timed."""

    seconds: float
    plugins: Mapping[str, Mapping[str, float]] = {}


class Recorder:
    """The events since the last drain, numbered without gaps.

    The engine's owner keeps `at` and `cycle` up to date. Code that changes state calls `record` once, after the change. While
    `silent`, nothing is recorded and no number is used; an import fills cache and queue in this mode.
    """

    def __init__(self) -> None:
        #: The number of the last event.
        self.event = 0
        #: The virtual clock in seconds.
        self.at = 0.0
        #: The scheduling cycle that is running; 0: none.
        self.cycle = 0
        self.silent = False
        #: Kinds of events that are left out: those that a session of an older version does not have.
        self.omitted_kinds: frozenset[Any] = frozenset()
        #: The host's clock, in seconds, with which stages are timed; None: stages are not timed.
        self.stage_clock: Callable[[], float] | None = None
        #: Timings of stages since the last drain, by the number of the stage's event.
        self.stage_timings: dict[int, StageTiming] = {}
        #: Each is an AnyEvent.
        self._events: list[Any] = []

    def record(
        self, kind: Callable[Concatenate[int, float, int, Members], TraceEvent], /, *args: Members.args, **members: Members.kwargs
    ) -> None:
        """Record one event of the running cycle. mypy checks `members` against the fields of `kind`."""
        if self.silent or kind in self.omitted_kinds:
            return
        self.event += 1
        self._events.append(kind(self.event, self.at, self.cycle, *args, **members))

    def record_in_cycle(
        self,
        cycle: int,
        kind: Callable[Concatenate[int, float, int, Members], TraceEvent],
        /,
        *args: Members.args,
        **members: Members.kwargs,
    ) -> None:
        """Record one event of another cycle than the running one; 0: of none."""
        if self.silent or kind in self.omitted_kinds:
            return
        self.event += 1
        self._events.append(kind(self.event, self.at, cycle, *args, **members))

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Record nothing until the `with` ends."""
        before, self.silent = self.silent, True
        try:
            yield
        finally:
            self.silent = before

    @property
    def pending(self) -> Sequence[AnyEvent]:
        """The events that have not been drained yet."""
        return self._events

    def drain(self) -> list[AnyEvent]:
        """The events that have not been drained yet, oldest first."""
        events, self._events = self._events, []
        return events

    def drain_stage_timings(self) -> dict[int, StageTiming]:
        """The timings of stages since the last drain, by the number of the stage's event. Empty without a `stage_clock`."""
        timings, self.stage_timings = self.stage_timings, {}
        return timings
