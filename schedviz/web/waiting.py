"""Limits the HTTP threads that wait for a worker, so that the other threads remain free for requests that need no worker.

A request waits with `Prefer: wait`, for the result of an analysis, for the details of a cycle, for the validation of settings, or until the
plans of others are read. It holds its thread for up to 30 s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final

#: The limit for all clients: half of the HTTP threads (schedviz.web.asgi_handler).
MAX_WAITING: Final = 16
#: The limit for one user, participant or share link.
MAX_WAITING_PER_CLIENT: Final = 8

#: The sender of the current request: `Actor.identity`, or the share links.
requester: ContextVar[str] = ContextVar("requester", default="")


class TooManyWait(Exception):
    """The maximum number of requests are already waiting."""


class WaitingRequests:
    """The requests of this process that wait for a worker, by requester."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count the current request while it waits. Raises `TooManyWait` above a limit."""
        client = requester.get()
        with self._lock:
            if self._waiting[client] >= MAX_WAITING_PER_CLIENT:
                raise TooManyWait(f"You have {MAX_WAITING_PER_CLIENT} requests waiting for a worker, the limit for one user or share link.")
            if self._waiting.total() >= MAX_WAITING:
                raise TooManyWait(f"This web server has {MAX_WAITING} requests waiting for a worker, which is its limit.")
            self._waiting[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting[client] -= 1
                self._waiting += Counter()


waits: Final = WaitingRequests()
