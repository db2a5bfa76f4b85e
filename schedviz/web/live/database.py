"""Database calls of the event loop, in threads of their own, so that they do not compete with HTTP requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections

from schedviz.web.thread_pool import Threads

P = ParamSpec("P")
T = TypeVar("T")

#: The exceptions of a call while the database is down.
DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)

_threads = Threads("live-database", 8)
close = _threads.close


async def in_database(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The result of the call. Raises one of `DATABASE_UNAVAILABLE` while the database is down; the next call reconnects."""
    return await _threads.run(lambda: _guarded(call, *args, **kwargs))


def _guarded(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    # As Django does before each HTTP request: a call may have handled the error of a broken connection itself, so that it was not closed.
    close_old_connections()
    try:
        return call(*args, **kwargs)
    except DATABASE_UNAVAILABLE:
        connections.close_all()
        raise
