"""Gives freed memory back to the system. glibc keeps most of it for later allocations of the process."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Final

#: glibc's `malloc_trim`; None: another C library.
_malloc_trim: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)
#: What holds the memory at the time of the call is usually released soon after it.
_DELAY_SECONDS: Final = 1.0


def trim() -> None:
    """Give freed memory back now. Other threads run meanwhile, but those that allocate may wait some milliseconds."""
    if _malloc_trim is not None:
        _malloc_trim(0)


class DelayedTrim:
    """Gives freed memory back a second after it was requested, once for all requests of that second."""

    def __init__(self, trim: Callable[[], None] = trim, delay_seconds: float = _DELAY_SECONDS) -> None:
        self._trim = trim
        self._delay_seconds = delay_seconds
        self._lock = threading.Lock()
        self._is_pending = False

    def request(self) -> None:
        """Callable in any thread."""
        with self._lock:
            if self._is_pending:
                return
            self._is_pending = True
        timer = threading.Timer(self._delay_seconds, self._run)
        timer.daemon = True
        timer.start()

    def _run(self) -> None:
        with self._lock:
            self._is_pending = False
        self._trim()
