"""The WebSocket of a session, `/ws/v1/sessions/{id}/?from=`: sends views and frames, receives commands."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
import structlog
from django.conf import settings

from schedviz.kube.nesting import TOO_DEEP, is_nested_deeper
from schedviz.sessions import frames
from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import SessionError
from schedviz.sessions.metrics import process as process_metrics
from schedviz.sessions.models import Session
from schedviz.trace.commands import AnyCommand, Configure, convert_command
from schedviz.web.addresses import network_of_scope
from schedviz.web.api.errors import not_stored, struct_error
from schedviz.web.auth.actors import Verb
from schedviz.web.extender_commands import require_extender_permission
from schedviz.web.live.client_names import ClientNames
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.connection import Receive, Scope, Send, SocketConnection, accept_socket
from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.live.fair_calls import in_database_for
from schedviz.web.live.feed import Feed
from schedviz.web.live.handshake import Credentials, Refused, allowed, allowed_actor, credentials_of
from schedviz.web.live.hub import hub
from schedviz.web.live.messages import PONG, AnyIncoming, CommandMessage, PingMessage, ResumeMessage, decode_incoming
from schedviz.web.live.viewer import Frame, Viewer

#: A `resume` counts as this many messages against the rate limit, because the response has many.
_RESUME_MESSAGES = 10


async def session_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application of a session's WebSocket."""
    session_id: UUID = scope["url_route"]["kwargs"]["session_id"]
    structlog.contextvars.bind_contextvars(session=str(session_id))
    entered = await accept_socket(scope, receive, send, partial(_enter, scope, session_id))
    if entered is None:
        return
    credentials, feed, viewer = entered
    if (after := _resume_from(scope)) is None:
        viewer.request_view()
    else:
        viewer.resume_from(after)
    try:
        await _SessionConnection(feed, viewer, credentials, scope, receive, send).run()
    finally:
        hub().leave(feed, viewer)


async def _enter(scope: Scope, session_id: UUID) -> tuple[Credentials, Feed, Viewer]:
    credentials = credentials_of(scope)
    actor = await in_database(allowed_actor, credentials, Verb.SEE, session_id)
    if actor is None:
        raise Refused(404, "No such session, or you do not have access to it.")
    names = await in_database(ClientNames.of_actor, actor, network_of_scope(scope))
    feed, viewer = await hub().join(session_id, names)
    return credentials, feed, viewer


def _resume_from(scope: Scope) -> int | None:
    raw = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("from", [""])[0]
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) < 18 else None


class _SessionConnection(SocketConnection):
    """An accepted socket."""

    sharing_sockets = "sockets for sessions"

    def __init__(self, feed: Feed, viewer: Viewer, credentials: Credentials, scope: Scope, receive: Receive, send: Send) -> None:
        names, session_id = viewer.names, feed.session_id
        super().__init__(viewer, scope, receive, send, client=names.for_budget(session_id), session=str(session_id))
        self._feed = feed
        self._viewer = viewer
        self._credentials = credentials
        self._client = names.for_database(session_id)
        self._sender = names.for_validation(session_id)
        #: The last chunk that this viewer was sent; None before the first.
        self._chunk: int | None = None

    # --- sending

    async def _send_next(self) -> bool:
        if self._viewer.resume is not None:
            await self._resume(self._viewer.resume)
        elif self._viewer.needs_view:
            await self._send_view()
        elif self._viewer.dropped:
            await self._send_after_drop()
        elif (item := self._viewer.next_item()) is None:
            return False
        elif isinstance(item, Frame):
            await self._send_frame(item)
        else:
            await self._text(item.data)
        return True

    def _heartbeat(self) -> bytes:
        return frames.heartbeat(self._feed.chunk, self._feed.event)

    async def _recheck(self) -> None:
        if not await in_database(allowed, self._credentials, Verb.SEE, self._feed.session_id):
            self._viewer.close(CloseCode.FORBIDDEN)

    async def _resume(self, after: int) -> None:
        """The frames after the viewer's chunk, else a view."""
        self._viewer.resume = None
        head = self._feed.chunk
        missing = None
        if after <= head:
            missing = await self._frames_between(after, head)
        if missing is None:
            await self._send_view(instead_of=after + 1)
            return
        self._chunk = after
        for frame in missing:
            await self._frame(frame)
        await self._send_status()

    async def _send_view(self, *, instead_of: int | None = None) -> None:
        """Send a view and the frames after it. `instead_of`: the chunk whose frame the viewer expects, which a `gap` then reports."""
        self._viewer.clear_queue()
        try:
            chunk, data = await self._feed.view(at_least=self._chunk or 0)
        except DATABASE_UNAVAILABLE:
            self._viewer.close(CloseCode.TRY_AGAIN)
            return
        except Session.DoesNotExist:
            self._viewer.close(CloseCode.GONE)
            return
        if instead_of is not None:
            await self._text(frames.gap(instead_of, chunk))
        self._chunk = chunk
        await self._send({"type": "websocket.send", "bytes": data})
        # Later frames continue from the head, so the frames up to it are sent now.
        for frame in await self._frames_between(chunk, self._feed.chunk) or []:
            await self._frame(frame)
        await self._send_status()

    async def _send_status(self) -> None:
        # A view is cached until the next chunk; the session's status in it may be outdated.
        with contextlib.suppress(*DATABASE_UNAVAILABLE):
            if (state := await self._feed.status()) is not None:
                await self._text(state)

    async def _send_after_drop(self) -> None:
        assert self._chunk is not None
        await self._send_view(instead_of=self._chunk + 1)

    async def _send_frame(self, frame: Frame) -> None:
        assert self._chunk is not None
        if frame.last <= self._chunk:
            return
        if frame.first == self._chunk + 1:
            await self._frame(frame)
            return
        # It starts before the viewer's chunk (a view was sent in between), or after a gap: the database has the single chunks.
        missing = await self._frames_between(self._chunk, frame.last)
        if missing is None:
            await self._send_view(instead_of=self._chunk + 1)
            return
        for missing_frame in missing:
            await self._frame(missing_frame)

    async def _frame(self, frame: Frame) -> None:
        self._chunk = frame.last
        await self._send({"type": "websocket.send", "bytes": frame.data})
        process_metrics.FRAMES.inc()
        process_metrics.FRAME_BYTES.inc(len(frame.data))

    async def _frames_between(self, after: int, upto: int) -> list[Frame] | None:
        """The frames after one chunk up to another; None if the viewer needs a view instead, or while the database is down."""
        try:
            return await self._feed.frames_between(after, upto)
        except DATABASE_UNAVAILABLE:
            return None

    # --- receiving

    async def _take_message(self, text: str) -> None:
        try:
            incoming = decode_incoming(text)
        except msgspec.ValidationError as error:
            refused = struct_error(error, _plain(text), AnyIncoming)
            self._error(refused.code, refused.message, detail=refused.detail, key=_key_in(text))
            return
        except (msgspec.DecodeError, RecursionError) as error:
            self._error("bad_json", f"The message is not JSON: {error}")
            return
        if isinstance(incoming, CommandMessage) and is_nested_deeper(incoming.command):
            self._error("invalid", f"$.command: {TOO_DEEP}", key=incoming.key)
            return
        match incoming:
            case PingMessage():
                self._viewer.queue_text(PONG)
            case ResumeMessage():
                if self._bucket.take(_RESUME_MESSAGES - 1):
                    self._viewer.resume_from(incoming.from_)
                else:
                    self._error("too_many_requests", f"A resume counts as {_RESUME_MESSAGES} messages. This one was dropped.")
            case CommandMessage():
                await self._take_command(incoming)

    def _refuse(self, code: str, message: str, text: str | None = None) -> None:
        self._error(code, message, key=_key_in(text) if text is not None and len(text) <= settings.SOCKET_MESSAGE_BYTES else None)

    async def _take_command(self, message: CommandMessage) -> None:
        try:
            command = convert_command(message.command)
            accepted = await in_database_for(
                self._client, _accept, self._credentials, self._feed.session_id, command, message.key, self._sender
            )
        except msgspec.ValidationError as error:
            refused = struct_error(error, message.command, AnyCommand)
            self._error(refused.code, refused.message, detail=refused.detail, key=message.key)
        except SessionError as error:
            self._error(error.code, str(error), key=message.key)
        except DATABASE_UNAVAILABLE as error:
            _, code, text = not_stored(error)
            self._error(code, text, key=message.key)
        else:
            if accepted is None:
                self._error("forbidden", "You may view this session, but not command it.", key=message.key)
            else:
                self._viewer.queue_text(frames.ack(accepted.key, accepted.seq))

    def _error(self, code: str, message: str, *, key: str | None = None, detail: Any = None) -> None:
        self._viewer.queue_text(frames.error(code, message, key=key, detail=detail))


def _accept(credentials: Credentials, session_id: UUID, command: AnyCommand, key: str, sender: str) -> inbox.Accepted | None:
    """Accept a command, if the client has the permission; None if it does not, or no longer."""
    actor = allowed_actor(credentials, Verb.COMMAND, session_id)
    if actor is None:
        return None
    if isinstance(command, Configure) and (session := Session.objects.only("calls_extenders").filter(pk=session_id).first()) is not None:
        require_extender_permission(actor, session, command)
    return inbox.accept(session_id, command, key, sender=sender)


class _Keyed(msgspec.Struct):
    key: str | None = None


def _plain(text: str) -> object:
    """The message as plain JSON, to explain an error; None if it is not JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _key_in(text: str) -> str | None:
    """The key of an invalid message, so that its sender can identify it."""
    try:
        return msgspec.json.decode(text, type=_Keyed).key
    except (msgspec.MsgspecError, RecursionError):
        return None
