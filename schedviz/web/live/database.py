"""Database calls of the event loop, in threads of their own, so that they do not compete with HTTP requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from schedviz.web.server.thread_pool import DATABASE_UNAVAILABLE, DatabaseThreads

__all__ = ["DATABASE_UNAVAILABLE", "close", "in_database"]

P = ParamSpec("P")
T = TypeVar("T")

_threads = DatabaseThreads("live-database", 8)
close = _threads.close


async def in_database(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of the call. Raises one of `DATABASE_UNAVAILABLE` while the database is down; the next call reconnects."""
    return await _threads.run(call, *args, **kwargs)
