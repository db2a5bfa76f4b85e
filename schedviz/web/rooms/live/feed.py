"""The feed of one room in this process: woken through Redis, read from the database, filtered for each open connection."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import UUID

import msgspec
import redis
import redis.asyncio
import structlog

from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.live.fair_calls import in_database_for
from schedviz.web.rooms import notify, presence, state
from schedviz.web.rooms.live.member_socket import MemberSocket
from schedviz.web.rooms.live.messages import MomentMessage, RoomMessage
from schedviz.web.rooms.live.relay import Relay
from schedviz.web.rooms.models import Room
from schedviz.web.rooms.schemas import Moment, RoomBody

log = structlog.get_logger(__name__)

#: Changes are collected for this long before the room is sent again, and at least for so many times as long as sending it took.
GATHER_SECONDS = 0.2
_GATHER_COSTS = 4.0
#: How many sockets are sent the room before the event loop serves others.
_MEMBERS_AT_ONCE = 20
#: How often the database is polled while Redis is down, and how long Redis may be silent before it is polled too.
POLL_SECONDS = 1.0
SILENCE_MILLISECONDS = 2000
#: Positions are stored up to a second after they are sent. A stored position that is newer than the last received one by more than this was
#: missed.
_LATE_SECONDS = 2.0
_moments = msgspec.json.Decoder(Moment)


class RoomFeed:
    """A room and its open connections. Owns its Redis `connection`."""

    def __init__(self, room_id: UUID, connection: redis.asyncio.Redis) -> None:
        self.room_id = room_id
        #: The open sockets.
        self.members: set[MemberSocket] = set()
        self.relay = Relay(room_id, connection)
        self._connection = connection
        #: The Redis ID of the last entry of the room's stream that was read.
        self._last_entry_id = "0-0"
        #: The teacher's newest known moment, its time, and the sessions that it may be in.
        self._moment: Moment | None = None
        self._moment_at = 0.0
        self._sessions: frozenset[str] = frozenset()
        self._revision = -1
        self._has_changed = asyncio.Event()
        self._present_at = 0.0
        self._ready = asyncio.Event()
        #: A Redis call can swallow its cancellation (seen with redis-py 8.1), so the loop checks this too.
        self._stopped = False
        self._tasks = [
            asyncio.create_task(self._receive_loop(), name=f"room {room_id}"),
            asyncio.create_task(self._send_loop(), name=f"updates of room {room_id}"),
        ]
        for task in self._tasks:
            task.add_done_callback(self._ended)

    def add(self, member: MemberSocket) -> None:
        """Add a connection, and send it the room."""
        self.members.add(member)
        self._has_changed.set()

    async def end(self) -> None:
        """Stop, once the teacher's last position is stored, and close the connection."""
        self._stopped = True
        for task in self._tasks:
            task.cancel()
        try:
            await asyncio.gather(*self._tasks, self.relay.end(), return_exceptions=True)
        finally:
            # Also when the server stops without waiting.
            await self._connection.aclose()

    async def may_go_to(self, moment: Moment, client: str) -> bool:
        """Whether everybody in the room may see the session of a position. `client`: for whom the database call counts."""
        await self._ready.wait()
        if moment.session in self._sessions:
            return True
        # The session may have been shown a moment ago, which the database knows first.
        return moment.session in await in_database_for(client, _shown_sessions, self.room_id)

    def connected_participants(self) -> set[int]:
        """The participants who are connected to this process."""
        return {member.membership.participant_id for member in self.members if member.membership.participant_id is not None}

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a room's feed broke", room=str(self.room_id), exc_info=error)
            for member in self.members:
                member.close(CloseCode.BROKEN)
            self._ready.set()

    # --- receiving

    async def _receive_loop(self) -> None:
        while not self._stopped:
            try:
                await self._start_at_newest()
                await self._listen()
            except (redis.RedisError, OSError) as error:
                log.warning("Redis is unavailable; polling the database", room=str(self.room_id), error=str(error))
            await self._poll_database()
            await asyncio.sleep(POLL_SECONDS)

    async def _start_at_newest(self) -> None:
        """Read the stream from its newest entry on. A position and changes before it may have been missed."""
        newest: Any = await self._connection.xrevrange(notify.key(self.room_id), count=notify.MAX_STREAM_ENTRIES)
        self._last_entry_id = newest[0][0].decode() if newest else "0-0"
        for _, fields in newest:
            if b"moment" in fields:
                self._take_moment(fields[b"moment"])
                break
        self._has_changed.set()

    async def _listen(self) -> None:
        while not self._stopped:
            messages: Any = await self._connection.xread({notify.key(self.room_id): self._last_entry_id}, block=SILENCE_MILLISECONDS)
            if not messages:
                await self._poll_database()
            moment: bytes | None = None
            for _, entries in messages or []:
                for entry_id, fields in entries:
                    self._last_entry_id = entry_id.decode()
                    if b"moment" in fields:
                        moment = fields[b"moment"]
                    else:
                        self._has_changed.set()
            if moment is not None:
                self._take_moment(moment)

    def _take_moment(self, data: bytes) -> None:
        moment = _moments.decode(data)
        self._moment_at = time.time()
        if moment == self._moment:
            return
        self._moment = moment
        if moment.session in self._sessions:
            message = msgspec.json.encode(MomentMessage(moment))
            for member in self.members:
                member.send_position(message)
        else:
            # It was shown a moment ago, and its notification is on the way.
            self._has_changed.set()

    async def _poll_database(self) -> None:
        """Read from the database what Redis may have lost."""
        try:
            stored = await in_database(_revision_and_time, self.room_id)
        except DATABASE_UNAVAILABLE as error:
            log.warning("the database is unavailable", room=str(self.room_id), error=str(error))
            return
        if stored is None or stored[0] != self._revision or stored[1] > self._moment_at + _LATE_SECONDS:
            self._has_changed.set()

    # --- sending

    async def _send_loop(self) -> None:
        while True:
            try:
                async with asyncio.timeout(presence.RENEW_SECONDS):
                    await self._has_changed.wait()
            except TimeoutError:
                pass
            self._has_changed.clear()
            began = time.monotonic()
            try:
                await self._renew_presence()
                room = await in_database(state.load_computed, self.room_id)
            except DATABASE_UNAVAILABLE as error:
                log.warning("the database is unavailable", room=str(self.room_id), error=str(error))
                self._has_changed.set()
            else:
                await self._send_to_all(room)
            await asyncio.sleep(max(GATHER_SECONDS, _GATHER_COSTS * (time.monotonic() - began)))

    async def _renew_presence(self) -> None:
        if time.monotonic() >= self._present_at + presence.RENEW_SECONDS:
            self._present_at = time.monotonic()
            await in_database(presence.renew, self.connected_participants())

    async def _send_to_all(self, room: state.RoomState | None) -> None:
        if room is None:
            self._ready.set()
            for member in self.members:
                member.close(CloseCode.GONE)
            return
        self._revision = room.room.revision
        self._sessions = room.sessions
        self._ready.set()
        moment = self._newest_moment(room)
        for number, member in enumerate(list(self.members), 1):
            if number % _MEMBERS_AT_ONCE == 0:
                # These encode and send their state now, and others' requests run. The teacher may move meanwhile.
                await asyncio.sleep(0)
                moment = self._newest_moment(room)
            body = room.body_for(member.membership, member.base)
            if body is None:
                member.close(CloseCode.FORBIDDEN if room.room.is_live else CloseCode.ENDED)
                continue
            self._send_if_changed(member, body, moment)
            if not room.room.is_live:
                member.close(CloseCode.ENDED)

    def _send_if_changed(self, member: MemberSocket, body: RoomBody, moment: Moment | None) -> None:
        # The position has messages of its own.
        without = msgspec.structs.replace(body, moment=None)
        if without != member.last_body:
            member.last_body = without
            member.send_room(RoomMessage(msgspec.structs.replace(body, moment=moment)))

    def _newest_moment(self, room: state.RoomState) -> Moment | None:
        """The newer of the stored and the received position."""
        stored = room.allowed_moment(room.room.moment)
        if stored is not None and room.room.moment_at > self._moment_at + _LATE_SECONDS:
            # Redis was down.
            self._moment, self._moment_at = stored, room.room.moment_at
            message = msgspec.json.encode(MomentMessage(stored))
            for member in self.members:
                member.send_position(message)
        if self._moment is not None and self._moment.session in self._sessions:
            return self._moment
        return stored


def _shown_sessions(room_id: UUID) -> set[str]:
    """The ids of the sessions that everybody in the room may see."""
    rows = Room.objects.filter(pk=room_id).values_list("session_id", "shown_id")
    return {str(session_id) for row in rows for session_id in row if session_id}


def _revision_and_time(room_id: UUID) -> tuple[int, float] | None:
    """The room's revision, and the time of its stored moment; None if the room was deleted."""
    stored: tuple[int, float] | None = Room.objects.filter(pk=room_id).values_list("revision", "moment_at").first()
    return stored
