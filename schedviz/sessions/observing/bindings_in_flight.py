"""`BindingsInFlight`: bindings that have overtaken others, which are judged together when those have arrived, too."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

import msgspec

from schedviz.explain.shadowing.in_flight import Bound
from schedviz.sessions.observing.pending import PendingPods

#: Bindings in flight are judged when no further one has arrived for this long, even if some that were decided before them are missing ...
_PATIENCE_SECONDS: Final = 2.0
#: ... or after this long, because a pod can wait for a volume while others are bound ...
_MAX_WAIT_SECONDS: Final = 10.0
#: ... or when there are this many.
_MAX_BINDINGS: Final = 256


class BindingInFlight(msgspec.Struct, frozen=True):
    """A binding in flight, and the event before it."""

    bound: Bound
    event: int


class BindingsInFlight:
    """The bindings in flight, in the order in which they arrived."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._bindings: list[BindingInFlight] = []
        self._first_at = self._last_at = 0.0
        #: The pods that were decided before them, by uid, whose bindings have not arrived.
        self._awaited: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._bindings)

    def add(self, binding: BindingInFlight, ahead: Collection[str]) -> None:
        """Add a binding. `ahead`: the uids of pods that were decided before it."""
        self._last_at = self._clock()
        if not self._bindings:
            self._first_at = self._last_at
        self._bindings.append(binding)
        self._awaited.update(ahead)

    def is_due(self, pending: PendingPods) -> bool:
        """Whether they can be judged, or have waited long enough. `pending`: the pods that may still be decided."""
        if not self._bindings:
            return False
        self._awaited = {uid for uid in self._awaited if pending.is_to_be_decided(uid)}
        return not self._awaited or len(self._bindings) >= _MAX_BINDINGS or self.is_overdue()

    def is_overdue(self) -> bool:
        """Whether they have waited long enough for others."""
        now = self._clock()
        return now - self._last_at >= _PATIENCE_SECONDS or now - self._first_at >= _MAX_WAIT_SECONDS

    def take(self) -> tuple[list[BindingInFlight], set[str]]:
        """Remove all; returns them, and the uids of the pods whose bindings have not arrived."""
        taken = self._bindings, self._awaited
        self._bindings, self._awaited = [], set()
        return taken
