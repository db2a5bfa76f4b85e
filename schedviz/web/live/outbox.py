"""What waits for one open socket, and how long its giving side may sleep."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod


class Waiting(ABC):
    """A queue of things to send, of some kind, with an alarm clock."""

    def __init__(self) -> None:
        #: A WebSocket close code, once the socket is to be closed.
        self.close_code = 0
        self._awake = asyncio.Event()

    @property
    @abstractmethod
    def anything(self) -> bool:
        """Whether there is something to send."""

    @property
    @abstractmethod
    def ended(self) -> bool:
        """Whether nothing more is sent."""

    def close(self, code: int) -> None:
        """Let the socket be closed, for the first reason that is given."""
        self.close_code = self.close_code or code
        self._awake.set()

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to do; False when there was nothing for so long."""
        if self.anything or self.close_code:
            return True
        self._awake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._awake.wait()
        except TimeoutError:
            return False
        return True
