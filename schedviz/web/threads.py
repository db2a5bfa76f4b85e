"""Threads that keep their connections to the database. Under ASGI Django would make both for each request, and that costs more than most
answers; PostgreSQL would run out of connections besides.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

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
        return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: call(*args, **kwargs))

    def close(self, *, wait: bool = True) -> None:
        """End them and close their connections, and `wait` until that is done; the next call begins anew."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        for _ in range(self._most):
            executor.submit(connections.close_all)
        executor.shutdown(wait=wait)
