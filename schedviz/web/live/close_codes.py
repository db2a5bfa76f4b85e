"""Why a WebSocket is closed, as its close code (RFC 6455: 4000 and above are ours; docs/wire.md tells them)."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    """Codes that a viewer can meet."""

    TOO_LARGE = 1009
    """A message has more bytes than one may have."""
    BROKEN = 1011
    """A bug of ours, or a feed that cannot go on: connect again."""
    TRY_AGAIN = 1013
    """The database is away: connect again in a moment."""
    FORBIDDEN = 4403
    """Who may look no longer."""
    GONE = 4404
    """There is no such session any more."""
    TOO_SLOW = 4408
    """So many answers wait for a viewer that does not read them."""
    FLOOD = 4429
    """The viewer goes on sending more than it may."""
