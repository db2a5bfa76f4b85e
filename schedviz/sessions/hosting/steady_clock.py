"""`SteadyClock`: whether ages can be trusted. For ten minutes after the system clock jumped, forward or back, and after the process
started, nothing is deleted by age: a machine may start with a wrong clock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

#: The system clock has jumped if it moved by this much more or less than the monotonic clock between two looks.
JUMP_SECONDS: Final = 30.0
#: How long the time after a jump must last before it is trusted.
TRUSTED_AFTER_SECONDS: Final = 600.0


class SteadyClock:
    """Compares the system clock with the monotonic clock, which nobody sets. Must be called regularly; safe for any number of threads."""

    def __init__(self, *, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        #: By how much the system clock was ahead of the monotonic clock at the last look.
        self._ahead = wall() - monotonic()
        #: When the system clock jumped, or this process started, by the monotonic clock.
        self._jumped_at = monotonic()

    def is_steady(self) -> bool:
        """Whether this process has run for `TRUSTED_AFTER_SECONDS`, and the system clock has not jumped for as long."""
        with self._lock:
            now = self._monotonic()
            before, self._ahead = self._ahead, self._wall() - now
            if abs(self._ahead - before) > JUMP_SECONDS:
                self._jumped_at = now
            return now - self._jumped_at >= TRUSTED_AFTER_SECONDS

    def trust(self) -> None:
        """Take the present time for right at once."""
        with self._lock:
            self._jumped_at = float("-inf")


#: The clock of this process. What is deleted by its age is deleted only while it is steady.
CLOCK: Final = SteadyClock()
