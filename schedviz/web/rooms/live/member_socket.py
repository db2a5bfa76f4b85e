"""The outgoing messages of one connection to a room: the newest room state and the newest position. A slow client misses only outdated
ones.
"""

from __future__ import annotations

from collections import deque

import msgspec

from schedviz.web.live.outbox import Outbox
from schedviz.web.rooms.live.messages import RoomMessage
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.schemas import RoomBody

#: The maximum number of waiting texts: responses to the client's messages.
_MAX_TEXTS = 64


class MemberSocket(Outbox):
    """An open socket, as the feed sees it."""

    def __init__(self, membership: RoomMembership, base: str) -> None:
        super().__init__()
        self.membership = membership
        #: The base URL `https://host` of the connection, for links.
        self.base = base
        #: The room state that was sent last, without the position.
        self.last_body: RoomBody | None = None
        #: Encoded when it is sent, so that each client that is slow keeps one encoded state at most.
        self._room: RoomMessage | None = None
        self._position: bytes | None = None
        self._texts: deque[bytes] = deque(maxlen=_MAX_TEXTS)

    @property
    def has_items(self) -> bool:
        return bool(self._room is not None or self._position is not None or self._texts)

    @property
    def is_finished(self) -> bool:
        """Close after the waiting messages, which include the last state of the room."""
        return bool(self.close_code) and not self.has_items

    def send_room(self, message: RoomMessage) -> None:
        """The room changed; the state contains the newest position."""
        self._room, self._position = message, None
        self._awake.set()

    def send_position(self, data: bytes) -> None:
        self._position = data
        self._awake.set()

    def send_text(self, text: bytes) -> None:
        self._texts.append(text)
        self._awake.set()

    def next_item(self) -> bytes | None:
        """The next item to send; None if nothing waits."""
        if self._room is not None:
            message, self._room = self._room, None
            return msgspec.json.encode(message)
        if self._position is not None:
            data, self._position = self._position, None
            return data
        return self._texts.popleft() if self._texts else None
