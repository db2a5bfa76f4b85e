"""Database calls for the messages of clients, a few at a time for each client: it cannot use all threads, with however many sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from schedviz.web.live.database import in_database

P = ParamSpec("P")
T = TypeVar("T")

#: Calls of one client at a time, of the eight threads.
_MAX_CALLS_OF_ONE_CLIENT: Final = 2
#: By event loop and client, while there are calls.
_semaphores: WeakValueDictionary[tuple[int, str], asyncio.Semaphore] = WeakValueDictionary()


async def in_database_for(client: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of the call, as `in_database`, when the earlier calls of this client have ended."""
    semaphore = _semaphores.setdefault((id(asyncio.get_running_loop()), client), asyncio.Semaphore(_MAX_CALLS_OF_ONE_CLIENT))
    async with semaphore:
        return await in_database(call, *args, **kwargs)
