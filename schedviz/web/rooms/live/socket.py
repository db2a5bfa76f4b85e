"""The WebSocket of a room, `/ws/v1/rooms/{id}/`: sends the room and positions, receives positions and follow messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from uuid import UUID

import msgspec
import structlog

from schedviz.web.api.errors import DATABASE_DOWN
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.connection import Receive, Scope, Send, SocketConnection, accept_socket
from schedviz.web.live.database import DATABASE_UNAVAILABLE, in_database
from schedviz.web.live.fair_calls import in_database_for
from schedviz.web.live.handshake import Credentials, Refused, actor_with, credentials_of
from schedviz.web.rooms import links, presence
from schedviz.web.rooms.live import messages
from schedviz.web.rooms.live.feed import RoomFeed
from schedviz.web.rooms.live.member_socket import MemberSocket
from schedviz.web.rooms.live.rooms import live_rooms
from schedviz.web.rooms.membership import RoomMembership, membership_in
from schedviz.web.rooms.models import Room
from schedviz.web.rooms.schemas import Moment

log = structlog.get_logger(__name__)


async def room_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The ASGI application of a room's WebSocket."""
    entered = await accept_socket(scope, receive, send, partial(_enter, scope, scope["url_route"]["kwargs"]["room_id"]))
    if entered is None:
        return
    credentials, feed, member = entered
    try:
        await _record_presence(presence.connected, member)
        await _RoomConnection(feed, member, credentials, scope, receive, send).run()
    finally:
        live_rooms().leave(feed, member)
        if member.membership.participant_id not in feed.connected_participants():
            await _record_presence(presence.disconnected, member)


async def _enter(scope: Scope, room_id: UUID) -> tuple[Credentials, RoomFeed, MemberSocket]:
    credentials = credentials_of(scope)
    membership = await in_database(membership_of, credentials, room_id)
    if membership is None:
        raise Refused(404, "There is no such room, or you are not in it.")
    member = MemberSocket(membership, _base(scope))
    return credentials, live_rooms().join(room_id, member), member


def membership_of(credentials: Credentials, room_id: UUID) -> RoomMembership | None:
    """The membership of these credentials in a room now. Queries the database."""
    room = Room.objects.filter(pk=room_id).first()
    return None if room is None else membership_in(actor_with(credentials), room)


def _base(scope: Scope) -> str:
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    return links.base("https" if scope.get("scheme") == "wss" else "http", host)


def _sharers(membership: RoomMembership) -> str:
    """The members whose database calls count together: the participants of all rooms of a teacher, who are easily many."""
    return f"{'teacher' if membership.is_teacher else 'participants of teacher'} {membership.teacher_id}"


async def _record_presence(record: Callable[[int], None], member: MemberSocket) -> None:
    """Record that a participant connected or disconnected; skipped while the database is down."""
    if member.membership.participant_id is None:
        return
    try:
        await in_database_for(_sharers(member.membership), record, member.membership.participant_id)
    except DATABASE_UNAVAILABLE as error:
        log.warning("the database is unavailable", room=str(member.membership.room_id), error=str(error))


class _RoomConnection(SocketConnection):
    """An accepted socket."""

    sharing_sockets = "sockets for this room"

    def __init__(self, feed: RoomFeed, member: MemberSocket, credentials: Credentials, scope: Scope, receive: Receive, send: Send) -> None:
        # The budget is not that of the member's sockets for sessions.
        budget = f"member {member.membership.participant_id} of {feed.room_id}"
        super().__init__(member, scope, receive, send, client=budget, room=str(feed.room_id))
        self._feed = feed
        self._member = member
        self._credentials = credentials
        self._sharers = _sharers(member.membership)

    async def _send_next(self) -> bool:
        if (data := self._member.next_item()) is None:
            return False
        await self._text(data)
        return True

    def _heartbeat(self) -> bytes:
        return messages.HEARTBEAT

    async def _recheck(self) -> None:
        if await in_database_for(self._sharers, membership_of, self._credentials, self._feed.room_id) != self._member.membership:
            self._member.close(CloseCode.FORBIDDEN)

    def _refuse(self, code: str, message: str, text: str | None = None) -> None:  # noqa: ARG002 -- Messages to a room have no key.
        self._error(code, message)

    async def _take_message(self, text: str) -> None:
        try:
            incoming = messages.decode_incoming(text)
        except (msgspec.DecodeError, RecursionError) as error:
            self._error("invalid", str(error))
            return
        if "\\u0000" in text:
            self._error("invalid", "The message contains the character U+0000, which cannot be stored.")
            return
        participant_id = self._member.membership.participant_id
        match incoming:
            case messages.RoomPing():
                self._member.send_text(messages.PONG)
            case messages.TeacherMoved() if participant_id is not None:
                self._error("forbidden", "Only the teacher may move the room.")
            case messages.TeacherMoved() if self._member.membership.read_only:
                self._error("forbidden", "This token has the scope read, which does not allow changes.")
            case messages.TeacherMoved():
                await self._go(incoming.moment)
            case messages.Following() if participant_id is None:
                self._error("forbidden", "Only participants may do this.")
            case messages.Following():
                await self._follow(participant_id, incoming)

    async def _go(self, moment: Moment) -> None:
        try:
            # A token that was revoked must not move a class until the next regular check.
            await self._recheck()
            allowed = await self._feed.may_go_to(moment, self._sharers)
        except DATABASE_UNAVAILABLE:
            self._error(*DATABASE_DOWN)
            return
        if self._member.close_code:
            return
        if allowed:
            self._feed.relay.offer(moment)
        else:
            self._error("not_shown", "That session is not shown in this room; show it first.")

    async def _follow(self, participant_id: int, incoming: messages.Following) -> None:
        try:
            await in_database_for(self._sharers, presence.follow, participant_id, following=incoming.following)
        except DATABASE_UNAVAILABLE:
            self._error(*DATABASE_DOWN)

    def _error(self, code: str, message: str) -> None:
        self._member.send_text(messages.error(code, message))
