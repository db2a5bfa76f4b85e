"""Database calls for the messages of clients, a few at a time for each client: it cannot use all threads, with however many sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from schedviz.web.live.database import in_database
from schedviz.web.server.named_semaphores import NamedSemaphores

P = ParamSpec("P")
T = TypeVar("T")

#: Calls of one client at a time, of the eight threads.
_MAX_CALLS_OF_ONE_CLIENT: Final = 2
_semaphores = NamedSemaphores()


async def in_database_for(client: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of the call, as `in_database`, when the earlier calls of this client have ended."""
    async with _semaphores.of(client, _MAX_CALLS_OF_ONE_CLIENT):
        return await in_database(call, *args, **kwargs)
