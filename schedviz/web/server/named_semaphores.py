"""Semaphores that share something among clients: one for each name."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary


class NamedSemaphores(WeakValueDictionary[tuple[int, str], asyncio.Semaphore]):
    """By event loop and name, such as that of a client: each exists only while it is in use."""

    def of(self, name: str, maximum: int) -> asyncio.Semaphore:
        """The semaphore of this name in the running event loop, of which `maximum` may be acquired at a time."""
        return self.setdefault((id(asyncio.get_running_loop()), name), asyncio.Semaphore(maximum))
