"""Limits on request bodies, enforced before a body is stored.

Django spools a whole body to a temporary file before a view sees it. Without this, anonymous clients could fill the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
import structlog
from django.conf import settings
from django.db import DatabaseError
from django.urls import reverse

from schedviz.sessions import heap_trim
from schedviz.sessions.disk import full_disk
from schedviz.sessions.senders import WITHOUT_ACCOUNT, path_of, sender_group_of
from schedviz.web.api.errors import not_stored
from schedviz.web.api.problem_details import MEDIA_TYPE, problem
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.authentication import bearer_secret
from schedviz.web.auth.permissions import may
from schedviz.web.live.database import in_database
from schedviz.web.live.handshake import actor_with, sent_credentials
from schedviz.web.server.fair_shares import FairShares

log = structlog.get_logger(__name__)

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
_DISCARD_FACTOR: Final = 4
#: How long a refused body is discarded; a client that is still sending then sees a closed connection.
DISCARD_SECONDS = 10.0
#: So many JSON bodies of the maximum size are processed at a time.
_DECODED_BODIES: Final = 2
#: After a JSON body of this size, freed memory is given back to the system.
_TRIMMED_BYTES: Final = 1 << 20
_UPLOAD_SETTING: Final = "SCHEDVIZ_UPLOAD_BYTES"
#: When a client may retry while the spool is full or the database is down.
_RETRY_AFTER: Final = {b"retry-after": b"10"}


class _Refusal(Exception):
    """The response to a body that is refused."""

    def __init__(self, status: int, code: str, message: str, *, headers: Mapping[bytes, bytes] | None = None, **detail: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = msgspec.json.encode(problem(status, code, message, detail))
        self.headers = dict(headers or {})


class BodyNotStored(Exception):
    """A body could not be written to the temporary directory, because of the `OSError` that is the cause."""


class BodyLimit:
    """An ASGI application that responds with 413, 401 or 503 instead of reading a body that the server will not accept.

    - A body has a maximum size, checked against Content-Length first: 413.
    - A body over `ANONYMOUS_BYTES` needs a valid login, token, share link or room participant: 401. An upload of that size needs
      the permission to create sessions: 403.
    - The bodies over `ANONYMOUS_BYTES` which this process has received and processes share SCHEDVIZ_SPOOL_BYTES, and those of one user,
      or of all without an account, half of it: 503.
    - Those that are JSON are decoded in memory, which takes many times their size. Those that are complete and processed share
      `_DECODED_BODIES` times SCHEDVIZ_BODY_BYTES (`FairShares`): 503.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        #: Bytes received of the bodies over `ANONYMOUS_BYTES` of all current requests, by user, and of all without an account.
        self._spooled: Counter[str] = Counter()
        #: Bytes of the JSON bodies that are being processed.
        self._decoded = FairShares()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        body = _Body(self, scope, receive)
        try:
            await body.check_announced()
            await self._app(scope, body.receive, body.unless_refused(send))
        except _Refusal as refusal:
            await body.discard_rest()
            await _send_refusal(send, refusal)
        except BodyNotStored as error:
            await body.discard_rest()
            await _send_refusal(send, _not_stored(error.__cause__))
        else:
            if body.refusal is not None:
                await _send_refusal(send, body.refusal)
        finally:
            if body.reserved:
                self._spooled[body.sender] -= body.reserved
                self._spooled += Counter()
            if body.decoded:
                self._decoded.add(body.sender, -body.decoded)
                if body.decoded >= _TRIMMED_BYTES:
                    heap_trim.SOON.request()

    def reserve(self, sender: str, more: int) -> None:
        """Reserve `more` bytes for a body. One upload of the maximum size always fits if there is no other. Raises `_Refusal`."""
        limit, own, total = settings.SPOOL_BYTES, self._spooled[sender], self._spooled.total()
        if total > own and total + more > limit:
            raise _busy(f"This server has received {total:,} bytes of large requests; {limit:,} are allowed")
        if own + more > max(limit / 2, settings.UPLOAD_BYTES + _ENVELOPE_BYTES):
            raise _busy(f"You are sending large requests of {own:,} bytes; half of {limit:,} is allowed")
        self._spooled[sender] += more

    def admit(self, sender: str, size: int) -> None:
        """Admit a complete JSON body to processing. Raises `_Refusal`."""
        limit = _DECODED_BODIES * settings.BODY_BYTES
        if not self._decoded.admits(sender, limit, size):
            message = (
                f"This server is processing {self._decoded.total:,} bytes of large JSON requests, "
                f"{self._decoded.of(sender):,} of them yours. It processes {limit:,} at a time "
                f"({_DECODED_BODIES} times SCHEDVIZ_BODY_BYTES), and of one user, or of all without an account, half of what others leave. "
                "Try again in a moment."
            )
            raise _Refusal(503, "busy", message, headers={b"retry-after": b"2"})
        self._decoded.add(sender, size)


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
        #: Whom the body counts for, once its size requires it.
        self.sender = ""
        #: Bytes that are reserved in the spool.
        self.reserved = 0
        #: Bytes that are counted while a JSON body is processed.
        self.decoded = 0
        #: Set when a part of the body was not accepted.
        self.refusal: _Refusal | None = None

    async def check_announced(self) -> None:
        """Check the size in Content-Length, before anything is read. Raises `_Refusal`."""
        length = self._headers.get(b"content-length", b"")
        if length.isdigit():
            await self._check_size(int(length))

    async def receive(self) -> Message:
        """The next part of the body; the application sees a disconnected client once a part was not accepted."""
        if self.refusal is not None:
            return {"type": "http.disconnect"}
        message = await self._receive()
        self._read += len(message.get("body", b""))
        self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)
        try:
            await self._check_size(self._read)
            if self._read > ANONYMOUS_BYTES:
                self._limits.reserve(self.sender, self._read - self.reserved)
                self.reserved = self._read
                if self._is_complete and self._setting != _UPLOAD_SETTING and not self.decoded:
                    self._limits.admit(self.sender, self._read)
                    self.decoded = self._read
        except _Refusal as refusal:
            self.refusal = refusal
            await self.discard_rest()
            return {"type": "http.disconnect"}
        return message

    def unless_refused(self, send: Send) -> Send:
        """`send` for the application, whose response is dropped once the body was refused."""

        async def forward(message: Message) -> None:
            if self.refusal is None:
                await send(message)

        return forward

    async def discard_rest(self) -> None:
        """Read and discard the rest. Otherwise a client that is still sending would see a broken connection instead of the response."""
        if self._headers.get(b"expect", b"").lower() == b"100-continue" and not self._read:
            return
        remaining = _DISCARD_FACTOR * self._limit
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                while remaining > 0 and not self._is_complete:
                    message = await self._receive()
                    remaining -= len(message.get("body", b""))
                    self._is_complete = message["type"] != "http.request" or not message.get("more_body", False)

    async def _check_size(self, size: int) -> None:
        """Check a body of `size` bytes, announced or read so far, and who sends it. Raises `_Refusal`."""
        if size > self._limit:
            raise _too_large(self._limit, self._setting)
        if size > ANONYMOUS_BYTES and not self.sender:
            self.sender = await in_database(_authenticate, self._headers, is_upload=self._setting == _UPLOAD_SETTING)


def _authenticate(headers: Mapping[bytes, bytes], *, is_upload: bool) -> str:
    """The user that the body counts for, or all without an account. Raises `_Refusal` if there is none, or if they may not upload."""
    if bearer_secret(headers.get(b"authorization", b"")) is None:
        # Another scheme is meant for a proxy in front, as in REST, so the cookies are used.
        headers = {name: value for name, value in headers.items() if name != b"authorization"}
    try:
        actor = actor_with(sent_credentials(headers))
    except DatabaseError:
        message = "The database is unavailable, so the credentials of this request cannot be checked. Try again later."
        raise _Refusal(503, "database_down", message, headers=_RETRY_AFTER) from None
    if not actor.identity and not actor.links:
        message = f"A body of more than {ANONYMOUS_BYTES:,} bytes needs a login or a valid token."
        raise _Refusal(401, "unauthenticated", message, headers={b"www-authenticate": b'Bearer realm="schedviz"'})
    if is_upload and not may(actor, Verb.CREATE):
        raise _Refusal(403, "forbidden", "You may not create sessions, so you may not upload files.")
    # Senders without an account are easily many, and one of them can have many share links.
    return path_of(sender_group_of(actor.identity).sender)[0] if actor.identity else WITHOUT_ACCOUNT


def _limit(scope: Scope, content_type: bytes) -> tuple[int, str]:
    """The largest body of a request, and the setting with which to raise it. Only imports take files."""
    if content_type.startswith(b"multipart/form-data") and scope["method"] == "POST" and scope["path"] == reverse("sessions"):
        return settings.UPLOAD_BYTES + _ENVELOPE_BYTES, _UPLOAD_SETTING
    return settings.BODY_BYTES, "SCHEDVIZ_BODY_BYTES"


def _too_large(limit: int, setting: str) -> _Refusal:
    hint = f"Compress the files (.gz, .xz), or raise {setting} if this server is yours."
    message = f"The request has more than {limit:,} bytes, the limit {setting} of this server."
    return _Refusal(413, "too_large", message, expected=f"at most {limit} bytes", hint=hint)


def _busy(reason: str) -> _Refusal:
    return _Refusal(503, "busy", f"{reason} at a time (SCHEDVIZ_SPOOL_BYTES). Try again later.", headers=_RETRY_AFTER)


def _not_stored(error: BaseException | None) -> _Refusal:
    if not isinstance(error, OSError) or full_disk(error) is None:
        log.error("a request was not stored", exc_info=error)
        return _Refusal(500, "internal", "An internal error occurred and was logged. The request may be tried again.")
    log.error("a request was not stored", error=str(error))
    return _Refusal(*not_stored(error))


async def _send_refusal(send: Send, refusal: _Refusal) -> None:
    headers = {b"content-type": MEDIA_TYPE.encode(), b"content-length": str(len(refusal.body)).encode(), b"connection": b"close"}
    headers |= refusal.headers
    await send({"type": "http.response.start", "status": refusal.status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": refusal.body})
