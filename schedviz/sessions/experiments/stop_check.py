"""`StopCheck`: when long work of a worker must stop, because it is no longer wanted or takes too long."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class TookTooLongError(Exception):
    """The work took longer than this server allows."""


class StopCheck:
    """Checks at an interval whether the work is still wanted."""

    def __init__(self, is_wanted: Callable[[], bool], *, every_seconds: float, limit_seconds: float = 0) -> None:
        """`limit_seconds`: how long the work may take; 0: without a limit."""
        self._is_wanted = is_wanted
        self._every_seconds = every_seconds
        self._due = time.monotonic() + every_seconds
        self._ends = time.monotonic() + limit_seconds if limit_seconds else math.inf

    def should_stop(self) -> bool:
        """Whether the work must stop because it is no longer wanted. Raises `TookTooLongError`."""
        now = time.monotonic()
        if now >= self._ends:
            raise TookTooLongError
        if now < self._due:
            return False
        self._due = now + self._every_seconds
        return not self._is_wanted()
