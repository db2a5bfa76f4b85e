"""Streams of events: server-sent events, or one JSON object per line. They run in the event loop and hold no thread.

A stream is a viewer of the hub, like a WebSocket: stored events are read from the database in pages, new ones come from the feed. Every
event is sent once and in order: gaps in the event numbers are filled from the database.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.http import StreamingHttpResponse

from schedviz.sessions import frames
from schedviz.sessions.history import reading
from schedviz.trace.events import AnyEvent
from schedviz.web.actors import Verb
from schedviz.web.live.connection import HEARTBEAT_SECONDS, RECHECK_SECONDS, some_while_ago
from schedviz.web.live.database import DATABASE_AWAY, in_database
from schedviz.web.live.handshake import Credentials, allowed, allowed_actor
from schedviz.web.live.hub import Full, hub
from schedviz.web.live.viewer import Frame, Viewer

log = structlog.get_logger(__name__)

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
_EVENTS_AT_ONCE = 500
_encoder = msgspec.json.Encoder()


def stream_of_events(kind: str, session_id: UUID, credentials: Credentials, *, after: int, follows: bool) -> StreamingHttpResponse:
    """The response for such a stream: the events after one and, with `follows`, new events as they happen."""
    write = _as_sse if kind == SSE else _as_lines
    pieces = _followed(session_id, credentials, after, write) if follows else _stored(session_id, after, write)
    response = StreamingHttpResponse(pieces, content_type=f"{kind}; charset=utf-8")
    response["Cache-Control"] = "no-store"
    # Otherwise nginx buffers the stream.
    response["X-Accel-Buffering"] = "no"
    return response


def _as_sse(events: Sequence[AnyEvent]) -> bytes:
    return b"".join(b"id: %d\nevent: %b\ndata: %b\n\n" % (one.event, _tag(one), _encoder.encode(one)) for one in events)


def _as_lines(events: Sequence[AnyEvent]) -> bytes:
    return b"".join(_encoder.encode(one) + b"\n" for one in events)


def _tag(event: AnyEvent) -> bytes:
    return str(event.__struct_config__.tag).encode()


Write = Callable[[Sequence[AnyEvent]], bytes]


async def _stored(session_id: UUID, after: int, write: Write) -> AsyncIterator[bytes]:
    """All stored events, then the end of the stream."""
    while some := await in_database(reading.events, session_id, after=after, limit=_EVENTS_AT_ONCE):
        yield write(some)
        after = some[-1].event


async def _followed(session_id: UUID, credentials: Credentials, after: int, write: Write) -> AsyncIterator[bytes]:
    """Stored events, then new ones, until the session is deleted or the client loses access."""
    try:
        actor = await in_database(allowed_actor, credentials, Verb.SEE, session_id)
        if actor is None:
            yield _word(write, "ended", "The session was deleted, or you may not see it any more.")
            return
        feed, viewer = await hub().join(session_id, actor.identity)
    except DATABASE_AWAY as error:
        log.warning("an event stream ended early: the database does not answer", session=str(session_id), error=str(error))
        return
    except Full as full:
        # The headers were sent, so the error becomes part of the stream. Clients reconnect.
        yield _word(write, "full", str(full))
        return
    try:
        checked = some_while_ago()
        if write is _as_sse:
            yield b"retry: 2000\n\n"
        while True:
            while some := await in_database(reading.events, session_id, after=after, limit=_EVENTS_AT_ONCE):
                yield write(some)
                after = some[-1].event
            async with aclosing(_live(viewer, after, write)) as pieces:
                async for piece, last in pieces:
                    after = last
                    yield piece
                    if time.monotonic() - checked > RECHECK_SECONDS:
                        checked = time.monotonic()
                        if not await in_database(allowed, credentials, Verb.SEE, session_id):
                            yield _word(write, "ended", "The session was deleted, or you may not see it any more.")
                            return
            if viewer.close_code:
                yield _word(write, "ended", "The session was deleted.")
                return
    except DATABASE_AWAY as error:
        # The client reconnects with the number of the last event that it received.
        log.warning("an event stream ended early: the database does not answer", session=str(session_id), error=str(error))
    finally:
        hub().leave(feed, viewer)


async def _live(viewer: Viewer, after: int, write: Write) -> AsyncGenerator[tuple[bytes, int]]:
    """The pieces of the feed, each with the number of its last event. Ends where events are missing or access must be checked again."""
    while True:
        if not await viewer.wait(HEARTBEAT_SECONDS):
            yield (b": still here\n\n" if write is _as_sse else b"\n"), after
            continue
        if viewer.close_code:
            return
        if viewer.dropped or viewer.needs_view:
            viewer.forget_dropped()
            return
        item = viewer.take()
        if not isinstance(item, Frame):
            continue
        fresh = [one for one in frames.events_of(item.data) if one.event > after]
        if not fresh:
            continue
        if fresh[0].event != after + 1:
            return
        after = fresh[-1].event
        yield write(fresh), after


def _word(write: Write, what: str, message: str) -> bytes:
    data: Any = _encoder.encode({"t": what, "message": message})
    return b"event: %b\ndata: %b\n\n" % (what.encode(), data) if write is _as_sse else data + b"\n"
