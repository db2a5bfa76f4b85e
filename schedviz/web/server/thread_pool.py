"""A thread pool whose threads keep their database connections. Under ASGI, Django would create a thread and a connection for each request,
which costs more than most responses and could exceed PostgreSQL's connections.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connections

P = ParamSpec("P")
T = TypeVar("T")

#: The exceptions of a call while the database is down.
DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)


class Threads:
    """A pool of at most this many threads, which start when they are needed."""

    def __init__(self, name: str, maximum: int) -> None:
        self._name = name
        self._maximum = maximum
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the call, or its exception, from a thread of the pool. Waits while all threads are busy."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._maximum, thread_name_prefix=self._name)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            if future.cancelled():
                return
            try:
                result = call(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 -- the awaiting task raises it.
                loop.call_soon_threadsafe(_resolve, future, future.set_exception, error)
            else:
                loop.call_soon_threadsafe(_resolve, future, future.set_result, result)

        # Not run_in_executor, which chains two futures: that takes as long as a small query.
        self._executor.submit(work)
        return await future

    def close(self, *, wait: bool = True) -> None:
        """End the threads and close their connections; `wait` until that is done. The next call starts new threads."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # Locked so that two calls do not start the same thread.
        all_threads = Barrier(self._maximum)

        def leave() -> None:
            all_threads.wait()
            connections.close_all()

        for _ in range(self._maximum):
            executor.submit(leave)
        executor.shutdown(wait=wait)


class DatabaseThreads(Threads):
    """A pool for database calls outside HTTP requests, before and after which Django closes connections that no longer work."""

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As in `Threads`. Raises one of `DATABASE_UNAVAILABLE` while the database is down; the next call reconnects."""
        return await super().run(lambda: _with_usable_connections(call, *args, **kwargs))


def _with_usable_connections(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    # A call may have handled the error of a broken connection itself, so that it was not closed.
    close_old_connections()
    try:
        return call(*args, **kwargs)
    except DATABASE_UNAVAILABLE:
        connections.close_all()
        raise


def _resolve(future: asyncio.Future[T], set_outcome: Callable[[Any], None], outcome: Any) -> None:
    """Runs in the event loop. The awaiting task may be cancelled."""
    if not future.done():
        set_outcome(outcome)
