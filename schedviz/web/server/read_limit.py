"""Drops connections whose clients do not read: what was sent to them keeps its memory until then.

A closed transport waits for its client, too: asyncio sends the rest of its buffer before it closes the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import sys
import termios
from typing import Final

from django.conf import settings

#: The lowest rate in bytes per second at which a client may read.
MIN_RATE: Final = 1000
#: The ASGI extension whose `call` drops the connection of a request with what is unsent. To be called in the event loop.
DISCONNECT: Final = "schedviz.disconnect"


class ReadLimit:
    """Watches the client of one connection while something is unsent, and drops the connection if the client reads at less than MIN_RATE
    over SCHEDVIZ_RESPONSE_IDLE_SECONDS. A protocol calls `start` when its writing is paused, and `stop` when it continues.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """The client does not read fast enough."""
        if settings.RESPONSE_IDLE_SECONDS and self._timer is None:
            self._timer = self._loop.call_later(settings.RESPONSE_IDLE_SECONDS, self._drop_if_idle, self._unread_bytes())

    def stop(self) -> None:
        """The client has read most of what was sent, or has left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _drop_if_idle(self, unread: int) -> None:
        """Drop the connection unless the client has read enough since `unread` bytes were left."""
        self._timer = None
        if unread - self._unread_bytes() < MIN_RATE * settings.RESPONSE_IDLE_SECONDS:
            self._transport.abort()
        else:
            self.start()

    def _unread_bytes(self) -> int:
        """Bytes that the client has not acknowledged. A slow reader may empty the kernel's buffer for minutes before the transport
        resumes.
        """
        unread: int = self._transport.get_write_buffer_size()
        with contextlib.suppress(OSError, AttributeError):
            in_kernel = fcntl.ioctl(self._transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
            unread += int.from_bytes(in_kernel, sys.byteorder)
        return unread
