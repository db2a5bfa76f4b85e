"""Foldings: states that the web server computes from stored views and events, for simultaneous requests.

A large state takes seconds, in which the event loop gets little of the interpreter, and up to hundreds of megabytes. So few are computed at
a time, one of each client, and equal ones once. A folding includes the encoding of the response.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Any, Final, TypeVar

from schedviz.web.shares import Shares
from schedviz.web.waiting import TooManyWait, requester, waits

T = TypeVar("T")

#: How many foldings run at a time. One client, and all of one group without an account, have half of them.
MAX_FOLDINGS: Final = 2


class Foldings:
    """Runs foldings in the threads of their requests."""

    def __init__(self) -> None:
        self._running = Shares()
        self._ended = Condition()
        self._lock = Lock()
        #: By key, the foldings that requests are computing or waiting to compute.
        self._requested: dict[Hashable, Future[Any]] = {}

    def once(self, key: Hashable, fold: Callable[[], T]) -> T:
        """The result of `fold`, the same object for simultaneous requests with the same key.

        Raises what `fold` raises, or `TooManyWait`.
        """
        with self._lock:
            shared = self._requested.get(key)
            if shared is None:
                own: Future[T] = Future()
                self._requested[key] = own
        if shared is not None:
            with waits.one():
                result: T = shared.result()
            return result
        try:
            with self.slot():
                own.set_result(fold())
        except TooManyWait:
            # The limit may be that of this client, which is not that of others who wait for the result.
            own.set_exception(TooManyWait("Many requests of this server are waiting for large states."))
            raise
        except BaseException as error:
            own.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._requested[key]
        return own.result()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for one of the places. Raises `TooManyWait`."""
        client = requester.get()
        if not self._take(client):
            with waits.one():
                self._wait_and_take(client)
        try:
            yield
        finally:
            self._leave(client)

    def _take(self, client: str) -> bool:
        with self._ended:
            is_free = self._is_free(client)
            if is_free:
                self._running.add(client)
            return is_free

    def _wait_and_take(self, client: str) -> None:
        with self._ended:
            self._ended.wait_for(lambda: self._is_free(client))
            self._running.add(client)

    def _leave(self, client: str) -> None:
        with self._ended:
            self._running.add(client, -1)
            self._ended.notify_all()

    def _is_free(self, client: str) -> bool:
        return self._running.total < MAX_FOLDINGS and self._running.of_group(client) < MAX_FOLDINGS // 2


FOLDINGS: Final = Foldings()
