"""Waits for something while the client of a request is connected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from django.core.exceptions import RequestAborted

#: ASGI's `receive` after the last message of a request or handshake: the next one says that the client has left.
Receive = Callable[[], Awaitable[Any]]


async def while_connected(wanted: Coroutine[Any, Any, Any], receive: Receive, *, seconds: float | None = None) -> None:
    """Wait until `wanted` is done or `seconds` are over, and cancel it if it is not. Raises `RequestAborted` if the client has left."""
    waiting, leaving = asyncio.ensure_future(wanted), asyncio.ensure_future(receive())
    try:
        await asyncio.wait((waiting, leaving), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            raise RequestAborted
    finally:
        for task in (waiting, leaving):
            task.cancel()
        await asyncio.gather(waiting, leaving, return_exceptions=True)
