"""A token bucket: a rate and a burst."""

from __future__ import annotations

from collections.abc import Callable, Collection
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
        return take_from_all([self], tokens)

    def has(self, tokens: float) -> bool:
        """Whether the bucket holds so many tokens, or is full."""
        now = self._clock()
        self._left = min(self._at_once, self._left + (now - self._filled_at) * self._per_second)
        self._filled_at = now
        return self._left >= min(tokens, self._at_once)

    def remove(self, tokens: float) -> None:
        """Take some tokens, which the bucket has."""
        self._left -= min(tokens, self._at_once)


def take_from_all(buckets: Collection[Bucket], tokens: float) -> bool:
    """Take some tokens from each bucket; False, and from none, if one of them has fewer."""
    if not all(bucket.has(tokens) for bucket in buckets):
        return False
    for bucket in buckets:
        bucket.remove(tokens)
    return True
