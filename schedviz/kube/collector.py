"""The cyclic collector, kept from looking for cycles where there are none: that takes longer than making the objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def keep_what_is_loaded() -> None:
    """Let it never look again at what is there: what a process has loaded stays until it ends. A full collection would keep everybody in
    the process waiting for a fifth of a second.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause it. A third of the time of restoring an engine with 50,000 pods, and half of that of an import."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
