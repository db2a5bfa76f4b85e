"""`Side`: the interface of a run that can be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Protocol

import msgspec

from schedviz.trace.events import AnyEvent
from schedviz.trace.view import CycleView, View


class Summary(msgspec.Struct, frozen=True):
    """A cycle that ended, and the events between which it ran."""

    cycle: CycleView
    first_event: int
    last_event: int


class Side(Protocol):
    """A run up to a moment."""

    @property
    def session(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def view(self) -> View:
        """The state at the moment."""

    def events(self, after: int) -> Iterator[AnyEvent]:
        """The events after a given one, up to the moment, in order."""

    def cycles(self, after: int) -> Iterator[Summary]:
        """The cycles after a given one that ended up to the moment, in order."""

    def detail(self, cycle: int) -> dict[str, Any] | None:
        """FORMAT.md's `cycle`, with the scores of all nodes; None: not available now."""

    def messages(self, pods: Collection[str]) -> dict[str, str]:
        """The messages of these pods' last attempts."""
