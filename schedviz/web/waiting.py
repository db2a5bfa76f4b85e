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

from schedviz.web.client_places import give_back

#: The limits for all clients and for one user, participant or share link: of requests that need a worker's result. All together are half of
#: the HTTP threads (schedviz.web.asgi_handler).
MAX_WAITING: Final = 16
MAX_WAITING_PER_CLIENT: Final = 8
#: Of requests with `Prefer: wait`, which cost nothing but their thread, so that they do not take the places of the others.
MAX_PREFERRING: Final = 8
MAX_PREFERRING_PER_CLIENT: Final = 4

#: The sender of the current request: `Actor.identity`, the share links, or the address (`schedviz.sessions.turns`).
requester: ContextVar[str] = ContextVar("requester", default="")


class TooManyWait(Exception):
    """The maximum number of requests are already waiting."""


class WaitingRequests:
    """The requests of this process that wait for a worker, by requester. One client has at most half of what others leave."""

    def __init__(self, maximum: int, per_client: int) -> None:
        self.maximum = maximum
        self.per_client = per_client
        self._lock = Lock()
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count the current request while it waits. Raises `TooManyWait` above a limit."""
        client = requester.get()
        with self._lock:
            own, total = self._waiting[client], self._waiting.total()
            if own >= self.per_client:
                raise TooManyWait(f"You have {own} requests waiting for a worker, the limit for one user or share link.")
            if total >= self.maximum:
                raise TooManyWait(f"This web server has {total} requests waiting for a worker, which is its limit.")
            if own >= (self.maximum - total + own + 1) // 2:
                raise TooManyWait(f"You have {own} of the {total} requests of this web server that wait for a worker; others need a place.")
            self._waiting[client] += 1
        give_back()
        try:
            yield
        finally:
            with self._lock:
                self._waiting[client] -= 1
                self._waiting += Counter()


waits: Final = WaitingRequests(MAX_WAITING, MAX_WAITING_PER_CLIENT)
preferring: Final = WaitingRequests(MAX_PREFERRING, MAX_PREFERRING_PER_CLIENT)
