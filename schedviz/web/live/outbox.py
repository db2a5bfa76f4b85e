"""The outgoing messages of one open socket, with the wake-up of its sending loop."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod


class Outbox(ABC):
    """A queue of outgoing items that its reader can wait for."""

    def __init__(self) -> None:
        #: The close code, once the socket is to be closed.
        self.close_code = 0
        self._awake = asyncio.Event()

    @property
    @abstractmethod
    def has_items(self) -> bool:
        """Whether there is an item to send."""

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """Whether nothing more is sent."""

    def close(self, code: int) -> None:
        """Close the socket. The first reason counts."""
        self.close_code = self.close_code or code
        self._awake.set()

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to do; False after a timeout."""
        if self.has_items or self.close_code:
            return True
        self._awake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._awake.wait()
        except TimeoutError:
            return False
        return True
