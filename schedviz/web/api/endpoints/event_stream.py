"""Streams of events: server-sent events, or one JSON object per line. They run in the event loop and hold no thread.

A stream is a viewer of the hub, like a WebSocket: stored events are read from the database in pages, new ones come from the feed. Every
event is sent once and in order: gaps in the event numbers are filled from the database.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import structlog
from django.http import StreamingHttpResponse

from schedviz.sessions import frames
from schedviz.sessions.history import reading
from schedviz.trace.events import AnyEvent
from schedviz.web.api.download import THREADS, AsyncSlotBody, SlotResponse, downloads
from schedviz.web.auth.actors import Actor, Verb
from schedviz.web.live.client_names import ClientNames
from schedviz.web.live.connection import HEARTBEAT_SECONDS, RECHECK_SECONDS, random_last_check
from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.live.handshake import Credentials, allowed, allowed_actor
from schedviz.web.live.hub import Full, hub
from schedviz.web.live.viewer import Frame, Viewer
from schedviz.web.server.named_semaphores import NamedSemaphores

log = structlog.get_logger(__name__)

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"
_EVENTS_AT_ONCE = 500
#: Streams of one client that follow, in a process: each sends all events as JSON, which is ten times as much as a socket's frames.
MAX_STREAMS_OF_ONE_CLIENT: Final = 10
#: How many frames are kept in the form of streams.
_MAX_ENCODED: Final = 8
_encoder = msgspec.json.Encoder()


def stream_of_events(
    kind: str, session_id: UUID, credentials: Credentials, *, after: int, follows: bool, network: str = ""
) -> StreamingHttpResponse:
    """The response for such a stream: the events after one and, with `follows`, new events as they happen.

    `network`: of the client's address. Without `follows` it counts as a download. Raises `ApiError` 503 if there are too many.
    """
    form = _SSE_FORM if kind == SSE else _LINES_FORM
    access = _Access(credentials, session_id, network)
    content_type = f"{kind}; charset=utf-8"
    response: StreamingHttpResponse
    if follows:
        response = StreamingHttpResponse(_followed(access, after, form), content_type=content_type)
    else:
        slot = downloads.acquire()
        response = SlotResponse(AsyncSlotBody(_stored(access, after, form), slot), slot, content_type=content_type)
    response["Cache-Control"] = "no-store"
    # Otherwise nginx buffers the stream.
    response["X-Accel-Buffering"] = "no"
    return response


class _Form(NamedTuple):
    """A form of streams: server-sent events, or lines of JSON."""

    #: Writes events.
    events: Callable[[Sequence[AnyEvent]], bytes]
    #: Writes an event about the stream itself: its type and its JSON.
    notice: Callable[[str, bytes], bytes]
    #: The beginning of a stream that follows.
    preamble: bytes
    heartbeat: bytes


def _as_sse(events: Sequence[AnyEvent]) -> bytes:
    return b"".join(b"id: %d\nevent: %b\ndata: %b\n\n" % (event.event, _tag(event), _encoder.encode(event)) for event in events)


def _as_lines(events: Sequence[AnyEvent]) -> bytes:
    return b"".join(_encoder.encode(event) + b"\n" for event in events)


def _tag(event: AnyEvent) -> bytes:
    return str(event.__struct_config__.tag).encode()


def _notice_as_sse(event_type: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event_type.encode(), data)


def _notice_as_line(_event_type: str, data: bytes) -> bytes:
    return data + b"\n"


_SSE_FORM: Final = _Form(_as_sse, _notice_as_sse, preamble=b"retry: 2000\n\n", heartbeat=b": still here\n\n")
_LINES_FORM: Final = _Form(_as_lines, _notice_as_line, preamble=b"", heartbeat=b"\n")


class _Access:
    """The client's access to the session while a stream is open."""

    def __init__(self, credentials: Credentials, session_id: UUID, network: str) -> None:
        self.credentials = credentials
        self.network = network
        self.session_id = session_id
        #: The session was deleted, or the client may not see it any more.
        self.ended = False
        self._checked = random_last_check()

    async def has_ended(self) -> bool:
        """The current value of `ended`, checked every `RECHECK_SECONDS`."""
        if not self.ended and time.monotonic() - self._checked > RECHECK_SECONDS:
            self._checked = time.monotonic()
            self.ended = not await in_database(allowed, self.credentials, Verb.SEE, self.session_id)
        return self.ended


async def _stored(access: _Access, after: int, form: _Form) -> AsyncIterator[bytes]:
    """All stored events, then the end of the stream."""
    async for part, _ in _pages(access, after, form):
        yield part
    if access.ended:
        yield _ended(form)


async def _pages(access: _Access, after: int, form: _Form, *, client: str = "") -> AsyncGenerator[tuple[bytes, int]]:
    """The stored events in pages, each with the number of its last event. Read and encoded in the threads of downloads.

    `client`: whose streams read one page at a time; "" for a download, which has a slot.
    """
    page_slot = _page_slots.of(client, 1) if client else nullcontext()
    while not await access.has_ended():
        async with page_slot:
            events = await THREADS.run(_page, access.session_id, after, form)
        if events is None:
            return
        after = events[1]
        yield events


#: By client, while there are streams.
_page_slots = NamedSemaphores()


def _page(session_id: UUID, after: int, form: _Form) -> tuple[bytes, int] | None:
    some = reading.events(session_id, after=after, limit=_EVENTS_AT_ONCE, max_bytes=reading.PAGE_BYTES)
    return (form.events(some), some[-1].event) if some else None


async def _followed(access: _Access, after: int, form: _Form) -> AsyncIterator[bytes]:
    """Stored events, then new ones, until the session is deleted or the client loses access."""
    session_id = access.session_id
    try:
        actor = await in_database(allowed_actor, access.credentials, Verb.SEE, session_id)
        if actor is None:
            yield _ended(form)
            return
        names = await in_database(ClientNames.of_actor, actor, access.network)
        feed, viewer = await hub().join(session_id, names)
    except DATABASE_UNAVAILABLE as error:
        log.warning("an event stream ended early: the database is unavailable", session=str(session_id), error=str(error))
        return
    except Full as full:
        # The headers were sent, so the error becomes part of the stream. Clients reconnect.
        yield _notice(form, "full", str(full))
        return
    try:
        client = _client_of(actor, names, access.network)
        with _counted(client) as is_allowed:
            if not is_allowed:
                yield _notice(form, "full", f"You have {MAX_STREAMS_OF_ONE_CLIENT} event streams of this server, which is the limit.")
                return
            async with aclosing(_followed_as(viewer, access, after, form, client)) as parts:
                async for part in parts:
                    yield part
    except DATABASE_UNAVAILABLE as error:
        # The client reconnects with the number of the last event that it received.
        log.warning("an event stream ended early: the database is unavailable", session=str(session_id), error=str(error))
    finally:
        hub().leave(feed, viewer)


def _client_of(actor: Actor, names: ClientNames, network: str) -> str:
    """For whom a stream counts. Participants of rooms from one network count together: one client can join under many nicknames, and the
    pages of a class use WebSockets.
    """
    return f"participants from {network}" if actor.user_id is None and actor.guest else names.address_group or names.identity


#: The streams that follow, by client.
_streams: Counter[str] = Counter()


@contextmanager
def _counted(client: str) -> Iterator[bool]:
    """Count a stream of a client; False if it has as many as allowed."""
    if _streams[client] >= MAX_STREAMS_OF_ONE_CLIENT:
        yield False
        return
    _streams[client] += 1
    try:
        yield True
    finally:
        _streams[client] -= 1
        if not _streams[client]:
            del _streams[client]


async def _followed_as(viewer: Viewer, access: _Access, after: int, form: _Form, client: str) -> AsyncGenerator[bytes]:
    """The stream of an admitted client."""
    if form.preamble:
        yield form.preamble
    while True:
        async with aclosing(_pages(access, after, form, client=client)) as pages:
            async for part, last in pages:
                after = last
                yield part
        async with aclosing(_live(viewer, after, form)) as parts:
            async for part, last in parts:
                after = last
                yield part
                if await access.has_ended():
                    break
        if access.ended:
            yield _ended(form)
            return
        if viewer.close_code:
            yield _notice(form, "ended", "The session was deleted.")
            return


class _Encoded(NamedTuple):
    """A frame in the form of a stream, with the numbers of its first and last event; 0 and 0 if it has none."""

    first: int
    last: int
    data: bytes


#: The newest frames of sessions with streams, by event loop, compressed data and form: one stream encodes a frame for all.
_encoded_frames: OrderedDict[tuple[int, bytes, _Form], asyncio.Future[_Encoded]] = OrderedDict()


async def _encoded(frame: Frame, form: _Form) -> _Encoded:
    key = (id(asyncio.get_running_loop()), frame.data, form)
    if (future := _encoded_frames.get(key)) is None:
        future = _encoded_frames[key] = asyncio.ensure_future(THREADS.run(_encode, frame.data, form))
        if len(_encoded_frames) > _MAX_ENCODED:
            _encoded_frames.popitem(last=False)
    return await asyncio.shield(future)


def _encode(data: bytes, form: _Form) -> _Encoded:
    events = frames.events_of(data)
    return _Encoded(events[0].event, events[-1].event, form.events(events)) if events else _Encoded(0, 0, b"")


async def _live(viewer: Viewer, after: int, form: _Form) -> AsyncGenerator[tuple[bytes, int]]:
    """The encoded events of the feed, each with its last number. Ends where events are missing or access must be checked again."""
    while True:
        if not await viewer.wait(HEARTBEAT_SECONDS):
            yield form.heartbeat, after
            continue
        if viewer.close_code:
            return
        if viewer.dropped or viewer.needs_view:
            viewer.clear_queue()
            return
        item = viewer.next_item()
        if not isinstance(item, Frame):
            continue
        encoded = await _encoded(item, form)
        if encoded.last <= after:
            continue
        if encoded.first != after + 1:
            # Events are missing, or some were sent already.
            return
        after = encoded.last
        yield encoded.data, after


def _ended(form: _Form) -> bytes:
    return _notice(form, "ended", "The session was deleted, or you no longer have access to it.")


def _notice(form: _Form, event_type: str, message: str) -> bytes:
    """An event about the stream itself."""
    return form.notice(event_type, _encoder.encode({"t": event_type, "message": message}))
