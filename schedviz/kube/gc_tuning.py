"""Avoids runs of the cyclic garbage collector that find nothing and take longer than creating the objects.

It is here because every other package may import this one.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def freeze_loaded_objects() -> None:
    """Exclude all present objects from collections (`gc.freeze`), because what a process has loaded stays until it ends. A full collection
    would stop all threads for 0.2 s.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause the collector. This saves a third of the time of restoring an engine with 50,000 pods, and half of that of an import."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
