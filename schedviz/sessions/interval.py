"""`Interval`: does something at most once in a number of seconds, however often it is asked."""

from __future__ import annotations

import time
from collections.abc import Callable


class Interval:
    """The time between two runs of a piece of work in this process. The first run is due at once."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next_run = float("-inf")

    def is_due(self, *, force: bool = False) -> bool:
        """Whether to run now, which starts the next interval. `force`: even if the interval has not passed."""
        now = self._clock()
        if not force and now < self._next_run:
            return False
        self._next_run = now + self._seconds
        return True

    def reset(self) -> None:
        """Make the next run due at once."""
        self._next_run = float("-inf")
