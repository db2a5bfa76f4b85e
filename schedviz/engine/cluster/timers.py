"""A heap of controllers' timers."""

from __future__ import annotations

import heapq

import msgspec


class Timer(msgspec.Struct, frozen=True, array_like=True, order=True):
    """One timer. Of timers that are due at the same time, the one that was set first comes first."""

    due: int
    number: int
    owner: str
    key: str


class TimersState(msgspec.Struct, frozen=True):
    """All timers."""

    number: int = 0
    timers: list[Timer] = []


class Timers:
    """Timers by owner and key. If one is set twice, the earlier time counts."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._set: dict[tuple[str, str], Timer] = {}
        self._number = 0

    def set(self, owner: str, key: str, due: int) -> None:
        """Set a timer, unless it is set for that time or an earlier one."""
        existing = self._set.get((owner, key))
        if existing is not None and existing.due <= due:
            return
        self._number += 1
        timer = self._set[owner, key] = Timer(due, self._number, owner, key)
        heapq.heappush(self._heap, timer)

    def drop(self, owner: str) -> None:
        """Remove the timers of an owner."""
        self._set = {name: timer for name, timer in self._set.items() if timer.owner != owner}
        self._heap = sorted(self._set.values())

    @property
    def next(self) -> Timer | None:
        """The timer that is due first."""
        while self._heap and self._set.get((self._heap[0].owner, self._heap[0].key)) is not self._heap[0]:
            heapq.heappop(self._heap)
        return self._heap[0] if self._heap else None

    @property
    def next_due(self) -> int | None:
        """When the first timer is due."""
        timer = self.next
        return None if timer is None else timer.due

    def pop(self, now: int) -> Timer | None:
        """Remove and return the first timer that is due."""
        timer = self.next
        if timer is None or timer.due > now:
            return None
        heapq.heappop(self._heap)
        del self._set[timer.owner, timer.key]
        return timer

    def to_state(self) -> TimersState:
        """The timers in order."""
        return TimersState(self._number, sorted(self._set.values()))

    def load(self, state: TimersState) -> None:
        """Load the timers of `to_state`."""
        self._number = state.number
        self._heap = list(state.timers)
        self._set = {(timer.owner, timer.key): timer for timer in state.timers}
