"""Paces a run with a rate: how many of its cycles are due by wall time."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Cycles of fast runs are computed in batches at this interval, which is the frame rate of viewers.
BATCH_SECONDS = 0.05
#: A run that is further behind than this, on a busy machine or after a change of owner, does not catch up in one burst.
_FORGIVEN_SECONDS = 0.25


class Pace:
    """The clock of one run. The first cycle is due at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate = rate
        self._clock = clock
        self._next_at = clock()
        self._batch = max(1, int(rate * BATCH_SECONDS))
        #: The last slice did fewer cycles than are due: the run uses all the CPU time that it gets.
        self.is_behind = False

    def wait_seconds(self) -> float:
        """How long until the next batch is due; 0 when it is."""
        return max(0.0, self._next_at + (self._batch - 1) / self.rate - self._clock())

    def due(self) -> int:
        """How many cycles are due now, at least 1. Call it when `wait_seconds` is 0."""
        return max(1, int((self._clock() - self._next_at) * self.rate + 1e-9) + 1)

    def did(self, cycles: int) -> None:
        """Count cycles that were done."""
        self._next_at += cycles / self.rate
        self.is_behind = self.wait_seconds() == 0
        now = self._clock()
        if self._next_at < now - _FORGIVEN_SECONDS:
            self._next_at = now
