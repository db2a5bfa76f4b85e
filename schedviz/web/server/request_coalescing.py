"""Request coalescing: a request for a result that another request of this process waits for already is coalesced with it. It waits without
a thread, and is repeated when the result is there. A class of students that asks the same question at once needs the threads of one client.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, TypeVar

from schedviz.web.server.waiting_requests import worker_waits

T = TypeVar("T")

#: The maximum time that a request waits for a worker.
WAIT_SECONDS: Final = 30.0

#: Until when, by the monotonic clock, the current request may be coalesced with another one; None: it cannot be repeated.
coalesces_until: ContextVar[float | None] = ContextVar("coalesces_until", default=None)


class Coalesced(BaseException):
    """Ends a request that is repeated when another one has its result. No `Exception`, because no response may be made of it."""

    def __init__(self, key: Hashable, result: Future[Any]) -> None:
        super().__init__(key)
        self.key = key
        #: Is done when the request is to be repeated.
        self.result = result


#: What the current request was coalesced with before it was repeated.
coalesced_with: ContextVar[Coalesced | None] = ContextVar("coalesced_with", default=None)


def begin_waiting() -> None:
    """Let the current request be coalesced with others, for WAIT_SECONDS from the first call."""
    if coalesces_until.get() is None:
        coalesces_until.set(time.monotonic() + WAIT_SECONDS)


def may_coalesce() -> bool:
    """Whether the current request may raise `Coalesced`."""
    until = coalesces_until.get()
    return until is not None and time.monotonic() < until


class Leaders:
    """The requests that wait for a worker's result, by what they wait for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Future[None]] = {}

    @contextmanager
    def lead(self, key: Hashable) -> Iterator[None]:
        """Wait on behalf of later requests with this key. Raises `Coalesced` if another request does, and this one may be repeated."""
        flight: Future[None] = Future()
        with self._lock:
            earlier = self._flights.setdefault(key, flight)
        if earlier is not flight:
            if may_coalesce():
                raise Coalesced(key, earlier)
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                del self._flights[key]
            flight.set_result(None)


LEADERS: Final = Leaders()


def coalesce(key: Hashable, wait: Callable[[float], T], *, late: type[Exception]) -> T:
    """The result of `wait(seconds)`, which requests a worker's result, and raises `late` if it is not there after these seconds.

    Raises `TooManyWait`, `Coalesced`, and what `wait` raises.
    """
    try:
        with LEADERS.lead(key), worker_waits.slot():
            until = coalesces_until.get()
            return wait(WAIT_SECONDS if until is None else max(0.0, until - time.monotonic()))
    except Coalesced:
        # The worker counts the request for this client, too.
        with suppress(late):
            return wait(0.0)
        raise
