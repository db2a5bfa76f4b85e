"""One WebSocket, `/ws/v1/rooms/{id}/`: let in or refused, then two loops, one that tells and one that takes."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from schedviz.web.api.errors import DATABASE_DOWN
from schedviz.web.live.bucket import Bucket
from schedviz.web.live.database import in_database
from schedviz.web.live.handshake import Credentials, Refused, actor_with, credentials
from schedviz.web.live.hub import Full
from schedviz.web.live.socket import RECHECK_SECONDS, Receive, Scope, Send, refuse
from schedviz.web.rooms import links, presence
from schedviz.web.rooms.bodies import Moment
from schedviz.web.rooms.live import messages
from schedviz.web.rooms.live.feed import REMOVED, RoomFeed
from schedviz.web.rooms.live.member import Member
from schedviz.web.rooms.live.rooms import live_rooms
from schedviz.web.rooms.models import Room
from schedviz.web.rooms.seats import Seat, seat_in

log = structlog.get_logger(__name__)

HEARTBEAT_SECONDS = 15.0
_DATABASE_AWAY = (OperationalError, InterfaceError)


async def room_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application of a room's WebSocket."""
    room_id: UUID = scope["url_route"]["kwargs"]["room_id"]
    if (await receive())["type"] != "websocket.connect":
        return
    try:
        came_with = credentials(scope)
        member = Member(await _seat(came_with, room_id), _base(scope))
        feed = live_rooms().join(room_id, member)
    except Refused as refused:
        await refuse(scope, send, refused)
        return
    except Full as full:
        await refuse(scope, send, Refused(503, str(full)))
        return
    try:
        await send({"type": "websocket.accept"})
        await _present(presence.come, member)
        await _RoomSocket(feed, member, came_with, receive, send).run()
    finally:
        live_rooms().leave(feed, member)
        if member.seat.participant_id not in feed.here():
            await _present(presence.go, member)


async def _seat(came_with: Credentials, room_id: UUID) -> Seat:
    try:
        seat = await in_database(seat_of, came_with, room_id)
    except _DATABASE_AWAY as error:
        raise Refused(503, DATABASE_DOWN[1]) from error
    if seat is None:
        raise Refused(404, "There is no such room, or you are not in it.")
    return seat


def seat_of(came_with: Credentials, room_id: UUID) -> Seat | None:
    """The place in a room of who has these credentials now. Asks the database."""
    room = Room.objects.filter(pk=room_id).first()
    return None if room is None else seat_in(actor_with(came_with), room)


def _base(scope: Scope) -> str:
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    return links.base("https" if scope.get("scheme") == "wss" else "http", host)


async def _present(tell: Any, member: Member) -> None:
    """Say that somebody came or went; while the database is away nobody is told."""
    if member.seat.participant_id is None:
        return
    try:
        await in_database(tell, member.seat.participant_id)
    except _DATABASE_AWAY as error:
        log.warning("the database is away", room=str(member.seat.room_id), error=str(error))


class _RoomSocket:
    """An accepted socket."""

    def __init__(self, feed: RoomFeed, member: Member, came_with: Credentials, receive: Receive, send: Send) -> None:
        self._feed = feed
        self._member = member
        self._came_with = came_with
        self._receive = receive
        self._send = send
        self._bucket = Bucket(settings.SOCKET_COMMANDS_PER_SECOND, settings.SOCKET_COMMANDS_AT_ONCE)

    async def run(self) -> None:
        """Tell and take until one of both ends."""
        telling = asyncio.create_task(self._tell())
        taking = asyncio.create_task(self._take())
        done, waiting = await asyncio.wait({telling, taking}, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        for task in done:
            # A send to who has gone raises OSError; the receiving loop would have said so a moment later.
            if (error := task.exception()) is not None and not isinstance(error, _Left | OSError):
                log.error("a room's socket broke", room=str(self._feed.room_id), exc_info=error)
                await self._send({"type": "websocket.close", "code": 1011})

    async def _tell(self) -> None:
        spoken = checked = time.monotonic()
        while True:
            if (data := self._member.take()) is not None:
                await self._text(data)
            elif self._member.close_code:
                break
            else:
                await self._member.wait(max(0.0, spoken + HEARTBEAT_SECONDS - time.monotonic()))
            now = time.monotonic()
            if now - spoken >= HEARTBEAT_SECONDS:
                spoken = now
                await self._text(messages.HEARTBEAT)
            if now - checked >= RECHECK_SECONDS:
                checked = now
                if await in_database(seat_of, self._came_with, self._feed.room_id) != self._member.seat:
                    self._member.close(REMOVED)
        await self._send({"type": "websocket.close", "code": self._member.close_code})

    async def _text(self, data: bytes) -> None:
        await self._send({"type": "websocket.send", "text": data.decode()})

    async def _take(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                raise _Left
            await self._take_message(message.get("text"))

    async def _take_message(self, text: str | None) -> None:
        if text is None:
            self._error("bad_message", "Messages are JSON texts; this one is binary.")
            return
        if not self._bucket.take():
            self._error("too_many_requests", f"More than {settings.SOCKET_COMMANDS_PER_SECOND} messages a second; this one was left out.")
            return
        try:
            incoming = messages.decode_incoming(text)
        except (msgspec.DecodeError, RecursionError) as error:
            self._error("invalid", str(error))
            return
        participant_id = self._member.seat.participant_id
        match incoming:
            case messages.RoomPing():
                self._member.say(messages.PONG)
            case messages.TeacherMoved() if participant_id is not None:
                self._error("forbidden", "Where the room is, its teacher says.")
            case messages.TeacherMoved():
                await self._go(incoming.moment)
            case messages.Following() if participant_id is None:
                self._error("forbidden", "This is for participants.")
            case messages.Following():
                await self._follow(participant_id, incoming)

    async def _go(self, moment: Moment) -> None:
        try:
            allowed = await self._feed.may_go_to(moment)
        except _DATABASE_AWAY:
            self._error(*DATABASE_DOWN)
            return
        if allowed:
            self._feed.relay.offer(moment)
        else:
            self._error("not_shown", "That session is not shown in this room; show it first.")

    async def _follow(self, participant_id: int, incoming: messages.Following) -> None:
        try:
            await in_database(presence.follow, participant_id, following=incoming.following)
        except _DATABASE_AWAY:
            self._error(*DATABASE_DOWN)

    def _error(self, code: str, message: str) -> None:
        self._member.say(messages.error(code, message))


class _Left(Exception):  # noqa: N818 - says what happened
    """Who had the line has gone."""
