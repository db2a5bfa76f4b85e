"""The base of all WebSockets: accepts or refuses a client, then runs a sending and a receiving loop."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

import msgspec
import structlog
from django.conf import settings
from django.core.exceptions import RequestAborted

from schedviz.sessions.token_bucket import Bucket
from schedviz.web.api.errors import DATABASE_DOWN
from schedviz.web.api.problem_details import MEDIA_TYPE, problem
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.database import DATABASE_UNAVAILABLE
from schedviz.web.live.handshake import Refused, accepted_protocol
from schedviz.web.live.hub import Full
from schedviz.web.live.message_budget import CHARACTERS_PER_SECOND, budget_of
from schedviz.web.live.outbox import Outbox
from schedviz.web.server.client_places import PLACES

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 15.0
#: The interval between permission checks of an open socket.
RECHECK_SECONDS = 60.0
#: The rate and burst of refused messages that a socket may cause before it is disconnected.
REFUSED_PER_SECOND = 50
REFUSED_AT_ONCE = 1000
#: The time limit for closing the socket of a client that does not read.
_CLOSING_SECONDS = 5.0


T = TypeVar("T")
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def random_last_check() -> float:
    """A random time (of `time.monotonic`) within the last RECHECK_SECONDS.

    It spreads the permission checks of sockets that were opened together, such as those of a class, or of all pages after a restart: 200
    simultaneous checks blocked all viewers for half a second.
    """
    return time.monotonic() - random.uniform(0.0, RECHECK_SECONDS)  # noqa: S311 (no secret)


async def accept_socket(scope: Scope, receive: Receive, send: Send, enter: Callable[[], Awaitable[T]]) -> T | None:
    """The result of `enter`, with the socket accepted; None if the client left or was refused. `enter` raises `Refused` or `Full`."""
    if (await receive())["type"] != "websocket.connect":
        return None
    try:
        place = await PLACES.take(scope, receive)
        try:
            return await enter()
        finally:
            place.release()
    except RequestAborted:
        pass
    except Refused as refused:
        await _refuse(scope, send, refused)
    except Full as full:
        await _refuse(scope, send, Refused(503, str(full)))
    except DATABASE_UNAVAILABLE:
        await _refuse(scope, send, Refused(503, DATABASE_DOWN[1]))
    return None


async def _refuse(scope: Scope, send: Send, refused: Refused) -> None:
    """Refuse a handshake with a response."""
    if "websocket.http.response" in scope.get("extensions", {}):
        body = msgspec.json.encode(problem(refused.status, "refused", str(refused)))
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "websocket.http.response.start", "status": refused.status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": body})
    else:
        await send({"type": "websocket.close", "code": 4000 + refused.status})


class SocketConnection(ABC):
    """An accepted socket. Subclasses define what it sends and receives."""

    #: The sockets that share a budget of characters, in words.
    sharing_sockets: ClassVar[str]

    def __init__(self, outbox: Outbox, scope: Scope, receive: Receive, send: Send, *, client: str, **named: str) -> None:
        """The client's sockets with this name share a budget of characters."""
        self._outbox = outbox
        self._bucket = Bucket(settings.SOCKET_COMMANDS_PER_SECOND, settings.SOCKET_COMMANDS_AT_ONCE)
        self._refusals = Bucket(REFUSED_PER_SECOND, REFUSED_AT_ONCE)
        self._budget = budget_of(client)
        self._scope = scope
        self._receive = receive
        self._send = _until_closed(send)
        #: The session or room of the socket, for log lines.
        self._named = named

    async def run(self) -> None:
        """Send and receive until one of both ends."""
        await self._send({"type": "websocket.accept", **accepted_protocol(self._scope)})
        sending = asyncio.create_task(self._send_loop())
        receiving = asyncio.create_task(self._receive_loop())
        done, pending = await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for task in done:
            # Sending to a closed socket raises OSError; the receiving loop would report the same a moment later.
            if (error := task.exception()) is not None and not isinstance(error, _Disconnected | OSError):
                log.error("a socket broke", **self._named, exc_info=error)
                with contextlib.suppress(_Disconnected):
                    await self._close(CloseCode.BROKEN)
        if sending not in done and self._outbox.close_code:
            # The sending loop was cancelled; it may have been blocked by a client that does not read.
            with contextlib.suppress(OSError, TimeoutError, _Disconnected):
                async with asyncio.timeout(_CLOSING_SECONDS):
                    await self._close(self._outbox.close_code)

    # --- sending

    async def _send_loop(self) -> None:
        last_sent_at = time.monotonic()
        checked = random_last_check()
        while not self._outbox.is_finished:
            if not await self._send_next():
                await self._outbox.wait(max(0.0, last_sent_at + HEARTBEAT_SECONDS - time.monotonic()))
            now = time.monotonic()
            if now - last_sent_at >= HEARTBEAT_SECONDS:
                last_sent_at = now
                await self._text(self._heartbeat())
            if now - checked >= RECHECK_SECONDS:
                checked = now
                await self._recheck()
        await self._close(self._outbox.close_code)

    @abstractmethod
    async def _send_next(self) -> bool:
        """Send the next item; False if nothing is waiting."""

    @abstractmethod
    def _heartbeat(self) -> bytes:
        """A heartbeat message."""

    @abstractmethod
    async def _recheck(self) -> None:
        """Close the socket of a client that lost its permission."""

    async def _text(self, data: bytes) -> None:
        await self._send({"type": "websocket.send", "text": data.decode()})

    async def _close(self, code: int) -> None:
        await self._send({"type": "websocket.close", "code": code})

    # --- receiving

    async def _receive_loop(self) -> None:
        while not self._outbox.is_finished:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                raise _Disconnected
            if (text := self._admit(message.get("text"))) is not None:
                await self._take_message(text)

    def _admit(self, text: str | None) -> str | None:
        """A message that may be read. None: it (None: a binary message) was refused with an error."""
        if not self._bucket.take():
            self._drop(text, f"More than {settings.SOCKET_COMMANDS_PER_SECOND} messages a second.")
        elif not self._budget.take(text):
            self._drop(text, f"More than {CHARACTERS_PER_SECOND:,} characters a second in the messages of all your {self.sharing_sockets}.")
        elif text is None:
            self._refuse("bad_message", "Binary messages are not supported; send JSON text.")
        elif len(text.encode(errors="surrogatepass")) > settings.SOCKET_MESSAGE_BYTES:
            limit = f"{settings.SOCKET_MESSAGE_BYTES} bytes (SCHEDVIZ_SOCKET_MESSAGE_BYTES)"
            self._refuse("too_large", f"Messages are limited to {limit}; use REST.")
        else:
            return text
        return None

    def _drop(self, text: str | None, why: str) -> None:
        """Refuse a message over a limit; a client that keeps sending such messages is disconnected."""
        if self._refusals.take() and self._budget.refuse():
            self._refuse("too_many_requests", f"{why} This message was dropped; send it again.", text)
        else:
            self._outbox.close(CloseCode.FLOOD)

    @abstractmethod
    def _refuse(self, code: str, message: str, text: str | None = None) -> None:
        """Send an error about a message that was not read. `text`: the message, which may contain a key."""

    @abstractmethod
    async def _take_message(self, text: str) -> None:
        """Read a message, and do what it says."""


class _Disconnected(Exception):
    """The client has disconnected."""


def _until_closed(send: Send) -> Send:
    """Sends as `send`, and raises `_Disconnected` where the server has closed the socket, such as after a malformed frame: uvicorn then
    raises a RuntimeError.
    """

    async def sent(message: dict[str, Any]) -> None:
        try:
            await send(message)
        except RuntimeError as error:
            if not str(error).startswith("Unexpected ASGI message"):
                raise
            raise _Disconnected from error

    return sent
