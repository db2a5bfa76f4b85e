"""Limits WebSocket frames per client, which uvicorn does not: each frame costs time of the event loop, which all clients share. Drops
clients that do not read.

`HeadLimit` uses it for every WebSocket. Messages have a lower limit (`web/live`), which pings and fragments do not count against.
"""

from __future__ import annotations

import asyncio
from typing import Final

from django.conf import settings
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from schedviz.sessions.token_bucket import Bucket
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.server.read_limit import ReadLimit

#: The maximum number of fragments of one message.
MAX_FRAGMENTS: Final = 1000
#: The library parses all bytes that it is given. This many bytes contain at most 700 frames.
_PARSE_BYTES: Final = 4096


class FrameLimit(WebSocketsSansIOProtocol):
    """uvicorn's protocol, which closes a socket that exceeds the limits. At most one message waits outside the kernel's buffers."""

    _is_flooded = False
    _read_limit: ReadLimit

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection was upgraded."""
        super().connection_made(transport)
        self._read_limit = ReadLimit(transport, self.loop)
        # Pauses as soon as anything waits: also a closed socket with a few bytes that its client never reads must end.
        transport.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was closed."""
        self._read_limit.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read fast enough."""
        super().pause_writing()
        self._read_limit.start()

    def resume_writing(self) -> None:
        """The client has read what was sent."""
        self._read_limit.stop()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse the received bytes in small parts, so that a flood is noticed early."""
        if not self.handshake_initiated:
            self._bucket = Bucket(settings.SOCKET_FRAMES_PER_SECOND, settings.SOCKET_FRAMES_AT_ONCE)
        elif not self.handshake_complete:
            # Clients must wait for the response to the handshake; uvicorn fails on earlier frames.
            self.transport.close()
            return
        for start in range(0, len(data), _PARSE_BYTES):
            if self._is_flooded:
                break
            super().data_received(data[start : start + _PARSE_BYTES])
        if self._is_flooded and not self.transport.is_closing():
            self._close_for_flood()

    def handle_text(self, event: Frame) -> None:
        """A text message, or its first fragment."""
        if self._counted():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """A binary message, or its first fragment."""
        if self._counted():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """A further fragment."""
        if self._counted() and len(self.frames) < MAX_FRAGMENTS:
            super().handle_cont(event)
        else:
            self._is_flooded = True

    def handle_ping(self) -> None:
        """A ping."""
        if self._counted():
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """A pong."""
        if self._counted():
            super().handle_pong(event)

    def _counted(self) -> bool:
        """Count a frame. False if a limit is exceeded."""
        if not self._is_flooded and not self._bucket.take():
            self._is_flooded = True
        return not self._is_flooded

    def _close_for_flood(self) -> None:
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.FLOOD})
        if not self.close_sent:
            self.conn.send_close(CloseCode.FLOOD)
            self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()
