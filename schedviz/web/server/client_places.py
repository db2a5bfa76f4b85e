"""Shares the HTTP threads among clients: a few requests of each client run at a time, and its others wait without a thread. Handshakes of
WebSockets count with them.

A client is known by its credentials once a request with them was authenticated, until then by its address: credentials that nobody checked
can be invented.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from contextvars import ContextVar
from typing import Any, Final

from django.conf import settings
from django.http import parse_cookie

from schedviz.sessions.senders import path_of
from schedviz.web.addresses import network_of_scope
from schedviz.web.auth.authentication import bearer_secret
from schedviz.web.server.disconnects import Receive, while_connected
from schedviz.web.server.named_semaphores import NamedSemaphores

#: Requests of one user that run at a time, of the 32 threads (schedviz.web.server.asgi_handler).
MAX_THREADS_PER_CLIENT: Final = 4
#: The same for all clients without an account, which are easily many, for each part of them (schedviz.sessions.senders.path_of), and for
#: each client. Threads that compute share one interpreter, so more would only slow the requests of users.
MAX_THREADS_WITHOUT_ACCOUNT: Final = 4
MAX_THREADS_PER_PART: Final = 3
MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT: Final = 2
#: Probes wait for no other requests, and for one probe of each other address: a server that is slow for some clients must not be restarted
#: for all. Those of this server alone (`?self`) do not wait for those of all parts, which may be slow.
_HEALTH_PATH: Final = "/healthz"
MAX_PROBES: Final = 4
#: How many credentials are remembered with their client.
_MAX_KNOWN: Final = 4096


class Place:
    """A running request's place among those of its client, until it is released."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._acquired: list[asyncio.Semaphore] = []

    async def acquire(self, *semaphores: asyncio.Semaphore) -> None:
        """Acquire all of them. If this is cancelled, `release` those that were acquired."""
        for semaphore in semaphores:
            await semaphore.acquire()
            self._acquired.append(semaphore)

    def release(self) -> None:
        """Release it, in the event loop. Further calls have no effect."""
        while self._acquired:
            self._acquired.pop().release()

    def give_back(self) -> None:
        """Release it from the request's thread, which will wait for something else and use no processor time."""
        self._loop.call_soon_threadsafe(self.release)


#: The place of the current request.
place: ContextVar[Place | None] = ContextVar("place", default=None)


def give_back() -> None:
    """Give back the place of the current request, which begins to wait."""
    if (own := place.get()) is not None:
        own.give_back()


class ClientPlaces:
    """The places of all clients, for requests and for handshakes of WebSockets. Used in the event loop."""

    def __init__(self) -> None:
        #: By client or part, while there are requests.
        self._semaphores = NamedSemaphores()
        #: The clients of credentials, by digest; the one that was used last at the end.
        self._known: OrderedDict[bytes, str] = OrderedDict()

    async def take(self, scope: dict[str, Any], receive: Receive) -> Place:
        """A place for a request, when earlier requests of the client, and of those that it counts with, have ended or wait. Raises
        `RequestAborted` if the client leaves before.
        """
        # From the client on: a request that waits for a place of its client or part holds none of those that they count with.
        semaphores = [self._semaphores.of(name, maximum) for name, maximum in self._limits(scope)]
        result = Place(asyncio.get_running_loop())
        try:
            if any(semaphore.locked() for semaphore in semaphores):
                await while_connected(result.acquire(*semaphores), receive)
            else:
                await result.acquire(*semaphores)
        except BaseException:
            result.release()
            raise
        return result

    def _limits(self, scope: dict[str, Any]) -> list[tuple[str, int]]:
        """The client of a request and what it counts with, each with the number of its places."""
        if scope["path"] == _HEALTH_PATH:
            kind = "probes of this server" if b"self" in scope["query_string"] else "probes"
            return [(f"{kind} from {network_of_scope(scope)}", 1), (kind, MAX_PROBES)]
        *parts, client = path_of(self._client(scope))
        maxima = (MAX_THREADS_WITHOUT_ACCOUNT, MAX_THREADS_PER_PART)
        own = (client, MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT if parts else MAX_THREADS_PER_CLIENT)
        return [own, *reversed(list(zip(parts, maxima, strict=False)))]

    def authenticated(self, scope: dict[str, Any], client: str) -> None:
        """The credentials of a request are those of this client; "": they are of nobody."""
        if client and (digest := _digest_of_credentials(scope)):
            self._known[digest] = client
            self._known.move_to_end(digest)
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)

    def _client(self, scope: dict[str, Any]) -> str:
        if known := self._known.get(_digest_of_credentials(scope)):
            return known
        return f"address {network_of_scope(scope)}"


PLACES: Final = ClientPlaces()


def _digest_of_credentials(scope: dict[str, Any]) -> bytes:
    """A digest of the credentials that decide who the client is, and of nothing else that it can vary; b"" if there are none."""
    headers = scope["headers"]
    credentials = bearer_secret(next((value for name, value in headers if name == b"authorization"), b""))
    if credentials is None:
        cookies = parse_cookie(b"; ".join(value for name, value in headers if name == b"cookie").decode("latin-1"))
        credentials = cookies.get(settings.SESSION_COOKIE_NAME) or cookies.get(settings.ROOM_GUEST_COOKIE)
    return hashlib.blake2b(credentials.encode("utf-8", "surrogateescape"), digest_size=16).digest() if credentials else b""
