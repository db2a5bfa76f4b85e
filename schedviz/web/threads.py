"""Threads that keep their connections to the database. Under ASGI Django would make both for each request, and that costs more than most
answers; PostgreSQL would run out of connections besides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """So many at most; they are made as they are needed, and stay."""

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the call returns, or raises, in one of them; it waits for one where none is free."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._most, thread_name_prefix=self._name)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            if answered.cancelled():
                return
            try:
                result = call(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 -- it is raised where the call is awaited.
                loop.call_soon_threadsafe(_settle, answered, answered.set_exception, error)
            else:
                loop.call_soon_threadsafe(_settle, answered, answered.set_result, result)

        # Not run_in_executor, which chains two futures: that takes as long as a small statement of the database.
        self._executor.submit(work)
        return await answered

    def close(self, *, wait: bool = True) -> None:
        """End them and close their connections, and `wait` until that is done; the next call begins anew."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # None takes the turn of another.
        all_here = Barrier(self._most)

        def leave() -> None:
            all_here.wait()
            connections.close_all()

        for _ in range(self._most):
            executor.submit(leave)
        executor.shutdown(wait=wait)


def _settle(answered: asyncio.Future[T], how: Callable[[Any], None], outcome: Any) -> None:
    """In the event loop. Whoever awaited it may have gone."""
    if not answered.done():
        how(outcome)
