"""How large a request may be: Django would write any body to a temporary file before it looked at the first byte."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from django.conf import settings

from schedviz.web.api.problems import MEDIA_TYPE, problem

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: What a multipart body has besides its files.
_ENVELOPE_BYTES = 1 << 20
#: So many times the limit is thrown away at most.
_DISCARDED = 4


class BodyLimit:
    """An ASGI application that answers 413 for a body over the limit, before it is read where its length is known."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        limit, setting = _limit(headers.get(b"content-type", b""))
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > limit:
            if headers.get(b"expect", b"").lower() != b"100-continue":
                await _discard(receive, _DISCARDED * limit)
            await _refuse(send, limit, setting)
            return
        read = 0
        refused = False

        async def counted() -> Message:
            nonlocal read, refused
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit and not refused:
                refused = True
                if message.get("more_body", False):
                    await _discard(receive, _DISCARDED * limit)
                await _refuse(send, limit, setting)
            return {"type": "http.disconnect"} if refused else message

        async def unless_refused(message: Message) -> None:
            if not refused:
                await send(message)

        await self._app(scope, counted, unless_refused)


async def _discard(receive: Receive, most: int) -> None:
    """Read a body for nothing: who is still sending does not listen, and would see a broken connection and not the answer."""
    while most > 0:
        message = await receive()
        most -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def _limit(content_type: bytes) -> tuple[int, str]:
    if content_type.startswith(b"multipart/form-data"):
        return settings.UPLOAD_BYTES + _ENVELOPE_BYTES, "SCHEDVIZ_UPLOAD_BYTES"
    return settings.BODY_BYTES, "SCHEDVIZ_BODY_BYTES"


async def _refuse(send: Send, limit: int, setting: str) -> None:
    message = f"The request has more than {limit:,} bytes, the limit {setting} of this server."
    detail = {"expected": f"at most {limit} bytes", "hint": f"Compress the files (.gz, .xz), or raise {setting} if this server is yours."}
    body = msgspec.json.encode(problem(413, "too_large", message, detail))
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
