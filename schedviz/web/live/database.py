"""Database calls of the event loop: in a few threads of their own, which keep their connections.

A connection made for each call would cost more than the call. HTTP requests have their own threads and connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connections

P = ParamSpec("P")
T = TypeVar("T")

#: What a call raises while the database is down.
DATABASE_AWAY = (OperationalError, InterfaceError)

_THREADS = 8
_executor: ThreadPoolExecutor | None = None


async def in_database(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the call returns. Raises one of `DATABASE_AWAY` when the database is down; the next call connects again."""
    global _executor  # noqa: PLW0603 - one for the process
    if _executor is None:
        _executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="live-database")
    return await asyncio.get_running_loop().run_in_executor(_executor, lambda: _guarded(call, *args, **kwargs))


def _guarded(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return call(*args, **kwargs)
    except DATABASE_AWAY:
        connections.close_all()
        raise


def close() -> None:
    """End the threads and close their connections; the next call begins anew."""
    global _executor
    executor, _executor = _executor, None
    if executor is None:
        return
    for _ in range(_THREADS):
        executor.submit(connections.close_all)
    executor.shutdown(wait=True)
