"""A token bucket: a rate and a burst."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Bucket:
    """Holds up to `at_once` tokens, refilled with `per_second`."""

    def __init__(self, per_second: float, at_once: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._clock = clock
        self._left = at_once
        self._filled_at = clock()

    def take(self) -> bool:
        """Take a token; False if the bucket is empty."""
        now = self._clock()
        self._left = min(self._at_once, self._left + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
