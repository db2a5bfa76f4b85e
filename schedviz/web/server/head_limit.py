"""Limits the size of request heads, and the time that clients may take for heads and bodies: uvicorn has no such limits.

Every web server is started with it: `uvicorn --http schedviz.web.server.head_limit:HeadLimit …`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from schedviz.web.api.problem_details import MEDIA_TYPE, problem
from schedviz.web.server.frame_limit import FrameLimit
from schedviz.web.server.read_limit import DISCONNECT, ReadLimit

#: The largest request line with headers; trailers after a body have the same limit.
MAX_HEAD_BYTES = 64 * 1024

#: Requests of one connection that may wait for the response to an earlier one.
MAX_PIPELINED = 32

#: The period over which the average rate of a body is measured.
RATE_WINDOW_SECONDS = 30


class HeadLimit(HttpToolsProtocol):
    """uvicorn's protocol, which responds with 400 and closes the connection if a head exceeds its limit.

    Bytes that arrive together, at most 256 kB, are read before they are counted.

    It responds with 408 and closes the connection if

    - a head is not complete SCHEDVIZ_REQUEST_HEAD_SECONDS after its first byte, or after the connection was opened;
    - no part of a body arrived for SCHEDVIZ_REQUEST_BODY_IDLE_SECONDS;
    - a body arrived at less than SCHEDVIZ_REQUEST_BODY_BYTES_PER_SECOND over RATE_WINDOW_SECONDS.

    It drops the connection if a client reads a response at less than MIN_RATE over SCHEDVIZ_RESPONSE_IDLE_SECONDS (`ReadLimit`).

    Between requests, uvicorn's keep-alive timeout applies. A request that arrives in one piece, as nearly all do, needs no timer.
    """

    _unfinished_bytes = 0
    #: Between the end of a head and the end of its request.
    _in_body = False
    #: When a part of the body last arrived, or could not be read because the server was not ready.
    _heard = 0.0
    #: When the current rate window began, and the bytes of the body since then.
    _window_began = 0.0
    _window_bytes = 0
    #: Runs while a head or a body is expected.
    _timer: asyncio.TimerHandle | None = None
    _read_limit: ReadLimit
    #: The request that is being served, or was last.
    _running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection was opened."""
        super().connection_made(transport)
        self._read_limit = ReadLimit(transport, self.loop)
        self._arm(settings.REQUEST_HEAD_SECONDS, self._head_is_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was closed."""
        self._disarm()
        self._read_limit.stop()
        self._disconnect_running()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        self._unfinished_bytes += len(data)
        super().data_received(data)
        if self._unfinished_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(f"The head of a request has at most {MAX_HEAD_BYTES} bytes.")
        elif self._in_body:
            self._heard = self.loop.time()
            if self._timer is None:
                self._arm_for_body(self._heard)
        elif self._unfinished_bytes and self._timer is None:
            self._arm(settings.REQUEST_HEAD_SECONDS, self._head_is_late)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._unfinished_bytes = 0
        self._disarm()
        self._in_body = True
        self._begin_window(self.loop.time())
        if self.parser.should_upgrade() and self._announces_body():
            # The WebSocket library would wait for the body, without a limit, and never read it.
            self.send_400_response("A WebSocket handshake is a GET request without a body.")
            return
        if len(self.pipeline) >= MAX_PIPELINED:
            # uvicorn queues them all. A response now would interrupt that of another request.
            self.transport.close()
            self._disconnect_running()
        if self.transport.is_closing():
            return
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        cycle.scope["extensions"] = {**cycle.scope.get("extensions", {}), DISCONNECT: {"call": self.transport.abort}}
        super()._start_asgi_task(cycle, app)

    def _disconnect_running(self) -> None:
        """Tell the request that is being served, and with which others may be coalesced, that its client has left.

        uvicorn only tells the last one, so that the response to this one would fail with an exception.
        """
        self.pipeline.clear()
        if self._running is not None:
            self._running.disconnected = True
            self._running.message_event.set()

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the WebSocket protocol, unless it was refused."""
        if self.transport.is_closing():
            return
        if self.ws_protocol_class is WebSocketsSansIOProtocol:
            self.ws_protocol_class = FrameLimit
        super().handle_websocket_upgrade()

    def on_body(self, body: bytes) -> None:
        """A part of the body arrived."""
        self._unfinished_bytes = 0
        self._window_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete; another may follow."""
        self._unfinished_bytes = 0
        self._disarm()
        self._in_body = False
        super().on_message_complete()

    def _announces_body(self) -> bool:
        return self.parser.get_method() != b"GET" or any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in self.headers
        )

    def pause_writing(self) -> None:
        """The client does not read fast enough."""
        super().pause_writing()
        self._read_limit.start()

    def resume_writing(self) -> None:
        """The client has read most of the response."""
        self._read_limit.stop()
        super().resume_writing()

    # --- Time

    def _arm(self, seconds: float, late: Callable[[], None]) -> None:
        """Call `late` after this many seconds; 0: never."""
        if seconds and not self.transport.is_closing():
            self._timer = self.loop.call_later(seconds, late)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _head_is_late(self) -> None:
        self._timer = None
        limit = settings.REQUEST_HEAD_SECONDS
        if self.cycle is not None and not self.cycle.response_complete:
            # The next request began while the response to this one is being sent, which must not be cut off.
            self._arm(limit, self._head_is_late)
        elif self._unfinished_bytes:
            self._refuse(f"The head of a request must arrive within {limit} seconds (SCHEDVIZ_REQUEST_HEAD_SECONDS).")
        else:
            self.transport.close()

    def _look_for_body(self) -> None:
        """Close the connection if the body stalls or is too slow while the server is ready to read it."""
        self._timer = None
        idle, rate, now = settings.REQUEST_BODY_IDLE_SECONDS, settings.REQUEST_BODY_BYTES_PER_SECOND, self.loop.time()
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self._heard = now
            self._begin_window(now)
        if idle and now >= self._heard + idle:
            self._end_body(f"No part of the body of this request arrived for {idle} seconds (SCHEDVIZ_REQUEST_BODY_IDLE_SECONDS).")
            return
        if now >= self._window_began + RATE_WINDOW_SECONDS:
            if self._window_bytes < rate * RATE_WINDOW_SECONDS:
                self._end_body(
                    f"The body of this request arrived at less than {rate} bytes a second for {RATE_WINDOW_SECONDS} seconds "
                    "(SCHEDVIZ_REQUEST_BODY_BYTES_PER_SECOND)."
                )
                return
            self._begin_window(now)
        self._arm_for_body(now)

    def _arm_for_body(self, now: float) -> None:
        """Check again when the body may have been idle for too long, or at the end of the rate window."""
        times = []
        if settings.REQUEST_BODY_IDLE_SECONDS:
            times.append(self._heard + settings.REQUEST_BODY_IDLE_SECONDS)
        if settings.REQUEST_BODY_BYTES_PER_SECOND:
            times.append(self._window_began + RATE_WINDOW_SECONDS)
        if times:
            # Timers have a resolution: one that is early by a microsecond would only be armed again.
            self._arm(max(min(times) - now, 0.001), self._look_for_body)

    def _begin_window(self, now: float) -> None:
        self._window_began, self._window_bytes = now, 0

    def _end_body(self, why: str) -> None:
        if self.cycle.response_started:
            self.transport.close()
        else:
            self._refuse(why)

    def send_400_response(self, msg: str) -> None:
        """Send a problem response to a request that is not valid HTTP, whose path is unknown."""
        self._refuse(msg, status=400, code="invalid")

    def _refuse(self, why: str, *, status: int = 408, code: str = "request_timeout") -> None:
        """Send a problem response and close the connection."""
        body = msgspec.json.encode(problem(status, code, why))
        head = f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + body)
        self.transport.close()
