"""The `RoomFeed` of each room with connections to this process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

from django.conf import settings

from schedviz.sessions.redis import stream
from schedviz.web.live.hub import Full
from schedviz.web.rooms.live.feed import RoomFeed
from schedviz.web.rooms.live.member_socket import MemberSocket

#: The part of this process's sockets that the rooms of one teacher may use together.
_MAX_SHARE_OF_ONE_TEACHER: Final = 0.5


class LiveRooms:
    """The feeds of one event loop."""

    def __init__(self) -> None:
        self._feeds: dict[UUID, RoomFeed] = {}
        self._sockets = 0
        #: Sockets of each teacher's rooms.
        self._by_teacher: Counter[int | None] = Counter()
        self._ending: set[asyncio.Task[None]] = set()

    def join(self, room_id: UUID, member: MemberSocket) -> RoomFeed:
        """The feed of a room, with one more connection. Raises `Full`."""
        if self._sockets >= settings.SOCKETS:
            raise Full(f"{settings.SOCKETS} connections to rooms are open, the limit SCHEDVIZ_SOCKETS of this server.")
        teacher = member.membership.teacher_id
        if self._by_teacher[teacher] >= _MAX_SHARE_OF_ONE_TEACHER * settings.SOCKETS:
            raise Full(f"The rooms of one teacher have {self._by_teacher[teacher]} open sockets on this server, half of SCHEDVIZ_SOCKETS.")
        feed = self._feeds.get(room_id)
        _require_below_limits(member, feed.members if feed is not None else ())
        if feed is None:
            feed = self._feeds[room_id] = RoomFeed(room_id, stream.async_client())
        self._sockets += 1
        self._by_teacher[teacher] += 1
        feed.add(member)
        return feed

    def leave(self, feed: RoomFeed, member: MemberSocket) -> None:
        """A connection has closed; the feed of a room ends with its last one."""
        feed.members.discard(member)
        self._sockets -= 1
        teacher = member.membership.teacher_id
        self._by_teacher[teacher] -= 1
        if not self._by_teacher[teacher]:
            del self._by_teacher[teacher]
        if not feed.members and self._feeds.get(feed.room_id) is feed:
            del self._feeds[feed.room_id]
            ending = asyncio.create_task(feed.end(), name=f"end of room {feed.room_id}")
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


def _require_below_limits(member: MemberSocket, members: Collection[MemberSocket]) -> None:
    """Raises `Full`. The limit of the room is for participants together, so that they cannot lock out the teacher."""
    own = member.membership.participant_id
    same = sum(member.membership.participant_id == own for member in members)
    if same >= settings.SOCKETS_PER_VIEWER:
        raise Full(f"You have {same} open sockets for this room, the limit SCHEDVIZ_SOCKETS_PER_VIEWER.")
    participants = sum(not member.membership.is_teacher for member in members)
    if own is not None and participants >= settings.SOCKETS_PER_SESSION:
        raise Full(f"The participants of this room have {participants} open sockets, the limit SCHEDVIZ_SOCKETS_PER_SESSION.")


_by_event_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, LiveRooms] = WeakKeyDictionary()


def live_rooms() -> LiveRooms:
    """The feeds of this event loop."""
    loop = asyncio.get_running_loop()
    existing = _by_event_loop.get(loop)
    if existing is None:
        existing = _by_event_loop[loop] = LiveRooms()
    return existing
