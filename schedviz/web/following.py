"""Requests for a result that another request of this process waits for. They follow it: they wait without a thread or a place, and are
repeated when the result is there. A class that asks the same question at once needs the places of one client.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any, Final, TypeVar

from schedviz.web.waiting import waits

T = TypeVar("T")

#: The maximum time that a request waits for a worker.
WAIT_SECONDS: Final = 30.0

#: Until when, by the monotonic clock, the current request may follow another one; None: it cannot be repeated.
follows_until: ContextVar[float | None] = ContextVar("follows_until", default=None)


class Following(BaseException):
    """Ends a request that is repeated when another one has its result. No `Exception`, because no response may be made of it."""

    def __init__(self, key: Hashable, result: Future[Any]) -> None:
        super().__init__(key)
        self.key = key
        #: Is done when the request is to be repeated.
        self.result = result


#: What the current request followed before it was repeated.
followed: ContextVar[Following | None] = ContextVar("followed", default=None)


def begin_waiting() -> None:
    """Let the current request follow others, for WAIT_SECONDS from the first call."""
    if follows_until.get() is None:
        follows_until.set(time.monotonic() + WAIT_SECONDS)


def may_follow() -> bool:
    """Whether the current request may raise `Following`."""
    until = follows_until.get()
    return until is not None and time.monotonic() < until


class Leaders:
    """The requests that wait for a worker's result, by what they wait for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Future[None]] = {}

    @contextmanager
    def lead(self, key: Hashable) -> Iterator[None]:
        """Wait on behalf of later requests with this key. Raises `Following` if another request does, and this one may be repeated."""
        flight: Future[None] = Future()
        with self._lock:
            earlier = self._flights.setdefault(key, flight)
        if earlier is not flight:
            if may_follow():
                raise Following(key, earlier)
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                del self._flights[key]
            flight.set_result(None)


LEADERS: Final = Leaders()


def lead_or_follow(key: Hashable, wait: Callable[[float], T], *, late: type[Exception]) -> T:
    """The result of `wait(seconds)`, which requests a worker's result, and raises `late` if it is not there after these seconds.

    Raises `TooManyWait`, `Following`, and what `wait` raises.
    """
    try:
        with LEADERS.lead(key), waits.one():
            until = follows_until.get()
            return wait(WAIT_SECONDS if until is None else max(0.0, until - time.monotonic()))
    except Following:
        # The worker counts the request for this client, too.
        with suppress(late):
            return wait(0.0)
        raise
