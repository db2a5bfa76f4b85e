"""WebSocket close codes (RFC 6455: 4000 and above are private; docs/wire.md documents them)."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    """The close codes that a viewer, or a member of a room, can receive."""

    TOO_LARGE = 1009
    """A message is larger than the limit."""
    BROKEN = 1011
    """An internal error, or a feed that cannot continue. Reconnect."""
    TRY_AGAIN = 1013
    """The database is unavailable. Reconnect in a moment."""
    FORBIDDEN = 4403
    """The client lost its permission, or was removed from the room."""
    GONE = 4404
    """The session or the room was deleted."""
    TOO_SLOW = 4408
    """Too many messages wait for a viewer that does not read them."""
    ENDED = 4410
    """The room has ended."""
    FLOOD = 4429
    """The viewer keeps sending more messages than allowed."""
