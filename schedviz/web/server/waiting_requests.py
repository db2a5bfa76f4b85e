"""Limits the HTTP threads that wait for a worker, so that the other threads remain free for requests that need no worker.

A request waits with `Prefer: wait`, for the result of an analysis, for the details of a cycle, for the validation of settings, or until the
plans of others are read. It holds its thread for up to 30 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final

from schedviz.web.server.client_places import give_back
from schedviz.web.server.fair_shares import FairShares

#: How many requests wait for a worker's result: half of the HTTP threads (schedviz.web.server.asgi_handler).
MAX_WAITING: Final = 16
#: The same for requests with `Prefer: wait`, which cost nothing but their thread, so that they do not take the places of the others.
MAX_PREFERRING: Final = 8

#: The sender of the current request (`schedviz.sessions.senders`).
requester: ContextVar[str] = ContextVar("requester", default="")


class TooManyWait(Exception):
    """The maximum number of requests are already waiting."""


class WaitingRequests:
    """The requests of this process that wait for a worker, by requester, each of which has a share."""

    def __init__(self, maximum: int) -> None:
        self.maximum = maximum
        self._lock = Lock()
        self._waiting = FairShares()

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Count the current request while it waits. Raises `TooManyWait` above a limit."""
        client = requester.get()
        with self._lock:
            own, total = self._waiting.of(client), self._waiting.total
            if total >= self.maximum:
                raise TooManyWait(f"This web server has {total} requests waiting for a worker, which is its limit.")
            if not self._waiting.admits(client, self.maximum):
                raise TooManyWait(f"You have {own} of the {total} requests of this web server that wait for a worker; others need a place.")
            self._waiting.add(client)
        give_back()
        try:
            yield
        finally:
            with self._lock:
                self._waiting.add(client, -1)


worker_waits: Final = WaitingRequests(MAX_WAITING)
prefer_waits: Final = WaitingRequests(MAX_PREFERRING)
