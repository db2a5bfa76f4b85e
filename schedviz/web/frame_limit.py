"""How many WebSocket frames a client may send: each costs the event loop, which serves everybody, and uvicorn has no limit for them.

`HeadLimit` hands every WebSocket over to it. Messages have a lower limit of their own (`web/live`), which pings and fragments never reach.
"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.token_bucket import Bucket

#: Fragments of one message.
LARGEST_FRAGMENTS: Final = 1000
#: The library parses all that it is given: so many bytes hold at most 700 frames.
_PIECE_BYTES: Final = 4096


class FrameLimit(WebSocketsSansIOProtocol):
    """uvicorn's protocol, which closes a socket that sends more frames than these limits allow."""

    _is_flooded = False

    def data_received(self, data: bytes) -> None:
        """Some bytes came: they are parsed a little at a time, so that a flood is noticed before all of it is parsed."""
        if not self.handshake_initiated:
            self._bucket = Bucket(settings.SOCKET_FRAMES_PER_SECOND, settings.SOCKET_FRAMES_AT_ONCE)
        elif not self.handshake_complete:
            # A client has to wait for the answer; uvicorn fails at frames that come before.
            self.transport.close()
            return
        for start in range(0, len(data), _PIECE_BYTES):
            if self._is_flooded:
                break
            super().data_received(data[start : start + _PIECE_BYTES])
        if self._is_flooded and not self.transport.is_closing():
            self._close_for_flood()

    def handle_text(self, event: Frame) -> None:
        """A text, or the first fragment of one."""
        if self._counted():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """A binary message, or the first fragment of one."""
        if self._counted():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """Another fragment."""
        if self._counted() and len(self.frames) < LARGEST_FRAGMENTS:
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
        """Count a frame; whether it is within the limits."""
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
