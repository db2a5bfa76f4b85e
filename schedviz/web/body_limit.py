"""Limits on request bodies, enforced before a body is stored.

Django spools a whole body to a temporary file before a view sees it. Without this, anonymous clients could fill the disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from django.conf import settings
from django.db import DatabaseError
from django.urls import reverse

from schedviz.web.api.problems import MEDIA_TYPE, problem
from schedviz.web.authentication import bearer_secret
from schedviz.web.live.database import in_database
from schedviz.web.live.handshake import actor_with, sent_credentials

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: A larger body needs valid credentials before it is read further.
ANONYMOUS_BYTES: Final = 64 * 1024
#: Of a multipart body, in addition to its files.
_ENVELOPE_BYTES: Final = 1 << 20
#: A refused body is read up to this multiple of its limit, and discarded.
_DISCARDED: Final = 4
#: Seconds after which a client may retry when the spool is full.
_RETRY_SECONDS: Final = 10


class _Refusal(Exception):  # noqa: N818 -- an answer, not an error.
    """The answer to a body that is not accepted."""

    def __init__(self, status: int, code: str, message: str, *, headers: Mapping[bytes, bytes] | None = None, **detail: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = msgspec.json.encode(problem(status, code, message, detail))
        self.headers = dict(headers or {})


class BodyLimit:
    """An ASGI application that answers 413, 401 or 503 in place of reading a body which the server will not accept.

    - A body has a maximum size, checked against Content-Length first: 413.
    - A body over `ANONYMOUS_BYTES` needs a valid login, token, share link or room participant: 401.
    - The bodies over `ANONYMOUS_BYTES` which this process is receiving or processing share SCHEDVIZ_SPOOL_BYTES: 503.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        #: Bytes of the bodies over `ANONYMOUS_BYTES` of all current requests.
        self._spooled = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = _Body(self, scope, receive)
        try:
            await body.check_announced()
            await self._app(scope, body.receive, body.unless_refused(send))
        except _Refusal as refusal:
            await body.discard_rest()
            await _answer(send, refusal)
        else:
            if body.refusal is not None:
                await _answer(send, body.refusal)
        finally:
            self._spooled -= body.reserved

    def reserve(self, size: int, *, own: int) -> None:
        """Raise the reservation of a body from `own` to `size` bytes. The only body is always accepted. Raises `_Refusal`."""
        others = self._spooled - own
        if others and others + size > settings.SPOOL_BYTES:
            message = (
                f"The server is receiving other large requests of {others:,} bytes. Together they may have "
                f"{settings.SPOOL_BYTES:,} bytes, the limit SCHEDVIZ_SPOOL_BYTES of this server. Try again later."
            )
            raise _Refusal(503, "busy", message, headers={b"retry-after": str(_RETRY_SECONDS).encode()})
        self._spooled = others + size


class _Body:
    """The body of one request while it is received."""

    def __init__(self, limits: BodyLimit, scope: Scope, receive: Receive) -> None:
        self._limits = limits
        self._scope = scope
        self._receive = receive
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self._limit, self._setting = _limit(scope, self._headers.get(b"content-type", b""))
        self._read = 0
        self._is_complete = False
        self._is_authenticated = False
        #: Bytes that are reserved in the spool.
        self.reserved = 0
        #: Set when a part of the body was not accepted.
        self.refusal: _Refusal | None = None

    async def check_announced(self) -> None:
        """Check the size in Content-Length, before anything is read. Raises `_Refusal`."""
        length = self._headers.get(b"content-length", b"")
        if length.isdigit():
            await self._accept(int(length))

    async def receive(self) -> Message:
        """The next part of the body; the application sees a disconnected client once a part was not accepted."""
        if self.refusal is not None:
            return {"type": "http.disconnect"}
        message = await self._receive()
        self._read += len(message.get("body", b""))
        self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        try:
            await self._accept(self._read)
        except _Refusal as refusal:
            self.refusal = refusal
            await self.discard_rest()
            return {"type": "http.disconnect"}
        return message

    def unless_refused(self, send: Send) -> Send:
        """`send` for the application, whose answer does not count once the body was refused."""

        async def forward(message: Message) -> None:
            if self.refusal is None:
                await send(message)

        return forward

    async def discard_rest(self) -> None:
        """Read the rest for nothing: a client that is still sending would see a broken connection instead of the answer."""
        if self._headers.get(b"expect", b"").lower() == b"100-continue" and not self._read:
            return
        left = _DISCARDED * self._limit
        while left > 0 and not self._is_complete:
            message = await self._receive()
            left -= len(message.get("body", b""))
            self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)

    async def _accept(self, size: int) -> None:
        """Check a body of `size` bytes, announced or read so far. Raises `_Refusal`."""
        if size > self._limit:
            raise _too_large(self._limit, self._setting)
        if size <= ANONYMOUS_BYTES:
            return
        if not self._is_authenticated:
            await in_database(_authenticate, self._headers)
            self._is_authenticated = True
        if size > self.reserved:
            self._limits.reserve(size, own=self.reserved)
            self.reserved = size


def _authenticate(headers: Mapping[bytes, bytes]) -> None:
    """Find the owner of the credentials in the request. Raises `_Refusal` if there is none."""
    if bearer_secret(headers.get(b"authorization", b"")) is None:
        # Another scheme is for a proxy in front, as in REST: the cookies count.
        headers = {name: value for name, value in headers.items() if name != b"authorization"}
    try:
        actor = actor_with(sent_credentials(headers))
    except DatabaseError:
        # The application reports it in its own words, from a small request.
        message = "The database is unavailable, so the credentials of this request cannot be checked. Try again later."
        raise _Refusal(503, "database_down", message, headers={b"retry-after": str(_RETRY_SECONDS).encode()}) from None
    if not (actor.is_known or actor.links or actor.guest):
        message = f"A body of more than {ANONYMOUS_BYTES:,} bytes needs a login or a valid token."
        raise _Refusal(401, "unauthenticated", message, headers={b"www-authenticate": b'Bearer realm="schedviz"'})


def _limit(scope: Scope, content_type: bytes) -> tuple[int, str]:
    """The largest body of a request, and the setting with which to raise it. Only imports take files."""
    if content_type.startswith(b"multipart/form-data") and scope["method"] == "POST" and scope["path"] == reverse("sessions"):
        return settings.UPLOAD_BYTES + _ENVELOPE_BYTES, "SCHEDVIZ_UPLOAD_BYTES"
    return settings.BODY_BYTES, "SCHEDVIZ_BODY_BYTES"


def _too_large(limit: int, setting: str) -> _Refusal:
    hint = f"Compress the files (.gz, .xz), or raise {setting} if this server is yours."
    message = f"The request has more than {limit:,} bytes, the limit {setting} of this server."
    return _Refusal(413, "too_large", message, expected=f"at most {limit} bytes", hint=hint)


async def _answer(send: Send, refusal: _Refusal) -> None:
    headers = {b"content-type": MEDIA_TYPE.encode(), b"content-length": str(len(refusal.body)).encode(), b"connection": b"close"}
    headers |= refusal.headers
    await send({"type": "http.response.start", "status": refusal.status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": refusal.body})
