"""What waits for one open line into a room: the newest room and the newest moment. Whoever is slow misses what is old, and nothing else."""

from __future__ import annotations

from collections import deque

from schedviz.web.live.outbox import Waiting
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.schemas import RoomBody

#: Short texts that wait: answers to what the other side sent.
_MOST_TEXTS = 64


class Member(Waiting):
    """One open socket as the feed sees it."""

    def __init__(self, seat: RoomMembership, base: str) -> None:
        super().__init__()
        self.seat = seat
        #: `https://host` by which it came: links are told below that.
        self.base = base
        #: What it was told of the room last, the moment left out.
        self.told: RoomBody | None = None
        self._room: bytes | None = None
        self._moment: bytes | None = None
        self._texts: deque[bytes] = deque(maxlen=_MOST_TEXTS)

    @property
    def anything(self) -> bool:
        return bool(self._room is not None or self._moment is not None or self._texts)

    @property
    def ended(self) -> bool:
        """After what waits: the room's last state among it."""
        return bool(self.close_code) and not self.anything

    def tell_room(self, data: bytes) -> None:
        """The room changed; the newest moment is in it."""
        self._room, self._moment = data, None
        self._awake.set()

    def tell_moment(self, data: bytes) -> None:
        self._moment = data
        self._awake.set()

    def say(self, text: bytes) -> None:
        self._texts.append(text)
        self._awake.set()

    def take(self) -> bytes | None:
        """The next thing to send; None: nothing waits."""
        if self._room is not None:
            data, self._room = self._room, None
            return data
        if self._moment is not None:
            data, self._moment = self._moment, None
            return data
        return self._texts.popleft() if self._texts else None
