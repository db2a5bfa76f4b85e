"""The frames of one session in this process: read once, from Redis or, if Redis is down or has lost some, from the database, and sent to
each viewer at most 20 times a second.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext, suppress
from typing import Any
from uuid import UUID

import msgspec
import redis
import redis.asyncio
import structlog

from schedviz.sessions import frames
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.sessions.redis import stream
from schedviz.web.live.catch_up import CatchUp
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.coalesce import coalesced
from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.live.viewer import Frame, Viewer

log = structlog.get_logger(__name__)

#: After this much silence a frame is sent immediately; otherwise frames are coalesced.
GATHER_SECONDS = 0.05
#: How often the database is polled while Redis is down, and how long Redis may be silent before the database is polled too.
POLL_SECONDS = 1.0
SILENCE_MILLISECONDS = 2000
#: How long the first viewer waits for Redis to say where the notes begin.
_NOTES_SECONDS = 0.5
#: A viewer that is further behind gets a view instead of frames.
RESUME_CHUNKS = 256
#: A cached view with at most this many later chunks is reused for new viewers.
VIEW_MAY_LAG = 64
_REPAIR_FRAMES = 64
#: Redis's name for the end of a stream at the time of a call. In each call it would miss what is added between two calls.
_AFTER_NEWEST = "$"


class _Session(msgspec.Struct):
    status: str = ""


class _Note(msgspec.Struct):
    type: str
    session: _Session | None = None


_note_decoder = msgspec.json.Decoder(_Note)


class Feed:
    """The live events of a session, and its viewers. Owns its Redis `connection`."""

    def __init__(self, session_id: UUID, connection: redis.asyncio.Redis, catch_up: CatchUp, large_views: asyncio.Semaphore) -> None:
        """`large_views` limits how many views of large sessions are read at a time."""
        self.session_id = session_id
        self._catch_up = catch_up
        self._large_views = large_views
        self.viewers: set[Viewer] = set()
        #: The numbers of the last chunk and event that were read.
        self.chunk = 0
        self.event = 0
        self._status = ""
        self._is_small = True
        self._connection = connection
        self._notes_position = _AFTER_NEWEST
        self._frames: list[tuple[int, bytes]] = []
        self._notes: list[bytes] = []
        self._flushed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._view: tuple[int, bytes] | None = None
        self._view_lock = asyncio.Lock()
        self._next_status: asyncio.Task[bytes | None] | None = None
        self._status_lock = asyncio.Lock()
        #: How often the state was replaced without events.
        self._replaced = 0
        #: A Redis call can swallow its cancellation (seen with redis-py 8.1), so the loop checks this too.
        self._stopped = asyncio.Event()
        self._ready = asyncio.Event()
        self._finding_notes: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._run(), name=f"feed {session_id}")
        self._task.add_done_callback(self._ended)

    async def ready(self) -> None:
        """Wait until the feed knows its start."""
        await self._ready.wait()

    async def end(self) -> None:
        """Stop reading, and close the connection."""
        self._stopped.set()
        # None of them may be using the connection when it is closed: redis-py would connect again, and a connection that is left open
        # keeps the event loop from closing.
        tasks = [task for task in (self._task, self._finding_notes) if task is not None]
        for task in tasks:
            task.cancel()
        if self._timer is not None:
            self._timer.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            # Also when the server stops without waiting.
            await self._connection.aclose()

    async def view(self, *, at_least: int = 0) -> tuple[int, bytes]:
        """A compressed view and its chunk: not older than `at_least`, and at most `VIEW_MAY_LAG` chunks behind.

        Cached: during a run, new viewers get a slightly older view and the frames since then.
        """
        async with self._view_lock:
            oldest = max(self.chunk - VIEW_MAY_LAG, at_least)
            while self._view is None or self._view[0] < oldest:
                replaced = self._replaced
                async with nullcontext() if self._is_small else self._large_views:
                    made = await in_database(_compressed_view, self.session_id)
                if replaced == self._replaced:
                    self._view = made
                    break
            assert self._view is not None
            return self._view

    async def frames_between(self, after: int, upto: int) -> list[Frame] | None:
        """The stored frames after one chunk up to another; None if a view is better: there are many, or one is missing."""
        if self._status == Session.Status.IMPORTING:
            return None
        return await self._catch_up.frames_between(self.session_id, after, upto, RESUME_CHUNKS)

    async def status(self) -> bytes | None:
        """The session's status as a message, from a reading that begins after this call and serves all calls until then. None if the
        session was deleted.
        """
        if self._next_status is None:
            self._next_status = asyncio.create_task(self._read_status(), name=f"status of {self.session_id}")
        return await asyncio.shield(self._next_status)

    async def _read_status(self) -> bytes | None:
        async with self._status_lock:
            self._next_status = None
            return await in_database(_status, self.session_id)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._ready.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a feed broke", session=str(self.session_id), exc_info=error)
            for viewer in self.viewers:
                viewer.close(CloseCode.BROKEN)

    # --- reading

    async def _run(self) -> None:
        await self._begin()
        while not self._stopped.is_set():
            try:
                await self._listen()
            except (redis.RedisError, OSError) as error:
                log.warning("Redis is unavailable; polling the database", session=str(self.session_id), error=str(error))
            if self._stopped.is_set():
                return
            try:
                await self._poll_database()
            except DATABASE_UNAVAILABLE as error:
                log.warning("the database is unavailable", session=str(self.session_id), error=str(error))
            await asyncio.sleep(POLL_SECONDS)

    async def _begin(self) -> None:
        # Before any viewer is served: what is published from then on, such as the outcome of the viewer's first command, is sent.
        self._finding_notes = asyncio.create_task(self._try_find_end_of_notes(), name=f"end of the notes of {self.session_id}")
        await asyncio.wait({self._finding_notes}, timeout=_NOTES_SECONDS)
        while True:
            try:
                position = await in_database(_stored_session, self.session_id)
                break
            except DATABASE_UNAVAILABLE:
                await asyncio.sleep(POLL_SECONDS)
        if position is not None:
            self.chunk, self.event, self._status = position.chunk, position.event, position.shown_status
            self._is_small = reading.is_small(position)
        self._ready.set()

    async def _try_find_end_of_notes(self) -> None:
        # `_listen` reports an error and tries again.
        with suppress(redis.RedisError, OSError):
            await self._find_end_of_notes()

    async def _find_end_of_notes(self) -> None:
        """Begin after the newest note."""
        newest: Any = await self._connection.xrevrange(stream.notes_key(self.session_id), count=1)
        if self._notes_position == _AFTER_NEWEST:
            self._notes_position = newest[0][0].decode() if newest else "0-0"

    async def _listen(self) -> None:
        """Read from Redis until it is down."""
        if self._notes_position == _AFTER_NEWEST:
            await self._find_end_of_notes()
        while not self._stopped.is_set():
            positions = {str(self.session_id): (f"{self.chunk}-0", self._notes_position)}
            entries = await stream.read_entries(self._connection, positions, block_milliseconds=SILENCE_MILLISECONDS)
            if not entries:
                await self._try_poll_database()
            for entry in entries:
                if entry.chunk is None:
                    self._notes_position = entry.position
                    await self._take_note(entry.data)
                elif entry.chunk == self.chunk + 1 and self._status != Session.Status.IMPORTING:
                    self._take_frame(entry.chunk, entry.data)
                elif entry.chunk > self.chunk:
                    await self._poll_database()

    async def _try_poll_database(self) -> None:
        try:
            await self._poll_database()
        except DATABASE_UNAVAILABLE as error:
            log.warning("the database is unavailable", session=str(self.session_id), error=str(error))

    async def _poll_database(self) -> None:
        """Read from the database what Redis may have lost: the end of an import, a change of status, frames."""
        position = await in_database(_stored_session, self.session_id)
        if position is None:
            for viewer in self.viewers:
                viewer.close(CloseCode.GONE)
            return
        self._is_small = reading.is_small(position)
        if position.shown_status != self._status:
            self._take_status(position.shown_status, frames.status(frames.session_state(position)))
        while self.chunk < position.chunk:
            missing = await in_database(reading.frames_after, self.session_id, self.chunk, limit=_REPAIR_FRAMES)
            if not missing:
                break
            for chunk, data in missing:
                self._take_frame(chunk, data)
        self.event = max(self.event, position.event)

    # --- sending

    def _take_frame(self, chunk: int, data: bytes) -> None:
        self.chunk = chunk
        self._frames.append((chunk, data))
        self._flush_soon()

    async def _take_note(self, data: bytes) -> None:
        note = _note_decoder.decode(data)
        if note.type == "status" and note.session is not None:
            self._take_status(note.session.status, data)
            return
        self._send_note(data)

    def _take_status(self, status: str, data: bytes) -> None:
        imported = self._status == Session.Status.IMPORTING != status
        self._status = status
        if imported:
            # No events lead from an empty state to the imported one.
            self._view = None
            self._replaced += 1
            for viewer in self.viewers:
                viewer.request_view()
        self._send_note(data)

    def _send_note(self, note: bytes) -> None:
        """Send now, or after the frames that wait: an outcome follows the events that led to it."""
        if self._frames:
            self._notes.append(note)
            return
        for viewer in self.viewers:
            viewer.queue_text(note)

    def _flush_soon(self) -> None:
        if self._timer is not None:
            return
        wait = self._flushed_at + GATHER_SECONDS - time.monotonic()
        if wait <= 0:
            self._flush()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self._flush)

    def _flush(self) -> None:
        self._timer = None
        self._flushed_at = time.monotonic()
        gathered, self._frames = self._frames, []
        notes, self._notes = self._notes, []
        for frame in coalesced(gathered):
            for viewer in self.viewers:
                viewer.offer(frame)
        for note in notes:
            for viewer in self.viewers:
                viewer.queue_text(note)


def _stored_session(session_id: UUID) -> Session | None:
    return Session.objects.filter(pk=session_id).first()


def _compressed_view(session_id: UUID) -> tuple[int, bytes]:
    session = Session.objects.get(pk=session_id)
    moment = reading.state_at_head(session)
    return moment.chunk, frames.view(moment.chunk, moment.view, frames.session_state(session))


def _status(session_id: UUID) -> bytes | None:
    session = _stored_session(session_id)
    return None if session is None else frames.status(frames.session_state(session))
