"""Gives freed memory back to the system. glibc keeps most of it for later allocations of the process."""

from __future__ import annotations

import ctypes
from typing import Final

from schedviz.sessions.interval import DelayedCall

#: glibc's `malloc_trim`; None: another C library.
_malloc_trim: Final = getattr(ctypes.CDLL(None), "malloc_trim", None)


def trim() -> None:
    """Give freed memory back now. Other threads run meanwhile, but those that allocate may wait some milliseconds."""
    if _malloc_trim is not None:
        _malloc_trim(0)


#: Trims a second after it was requested: what holds memory after a large request or response is released soon after it.
SOON: Final = DelayedCall(trim, 1.0)
