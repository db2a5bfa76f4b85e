"""Does something at most once in a number of seconds, however often it is asked: now (`Interval`) or after them (`DelayedCall`)."""

from __future__ import annotations

import threading
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


class DelayedCall:
    """Calls a function, in a thread of its own, some seconds after it was requested: once for all requests of that time."""

    def __init__(self, call: Callable[[], object], seconds: float) -> None:
        self._call = call
        self._seconds = seconds
        self._lock = threading.Lock()
        self._is_pending = False

    def request(self) -> None:
        """Callable in any thread."""
        with self._lock:
            if self._is_pending:
                return
            self._is_pending = True
        timer = threading.Timer(self._seconds, self._run)
        timer.daemon = True
        timer.start()

    def _run(self) -> None:
        with self._lock:
            self._is_pending = False
        self._call()
