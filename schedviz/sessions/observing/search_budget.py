"""The time for searching the order of decisions in which a binding would agree, so that many disagreements do not delay the session.

A disagreement takes up to some dozens of dry runs. A session whose configuration differs from the cluster's disagrees on most bindings.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

#: The share of the time that judging bindings may take before no more orders are searched, in CPU time of the thread.
SHARE: Final = 0.15
#: The most time that is saved up: enough for a burst of bindings.
MAX_SAVED_SECONDS: Final = 4.0


class SearchBudget:
    """What is left of the time. It is used up by all judgements, and limits only the search."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = MAX_SAVED_SECONDS
        self._filled_at = clock()

    @property
    def is_left(self) -> bool:
        """Whether other orders may be searched now."""
        now = self._clock()
        self._left = min(MAX_SAVED_SECONDS, self._left + (now - self._filled_at) * SHARE)
        self._filled_at = now
        return self._left > 0

    def use(self, seconds: float) -> None:
        """Count the time of a judgement. If it exceeds the budget, the difference must be saved up before orders are searched again."""
        self._left -= seconds
