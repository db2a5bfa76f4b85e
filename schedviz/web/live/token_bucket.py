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

    def take(self, tokens: float = 1) -> bool:
        """Take some tokens, at most as many as the bucket holds; False if there are fewer."""
        now = self._clock()
        self._left = min(self._at_once, self._left + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        tokens = min(tokens, self._at_once)
        if self._left < tokens:
            return False
        self._left -= tokens
        return True
