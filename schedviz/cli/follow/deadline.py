"""A time limit for a whole response. A client's timeouts count from byte to byte, so that a response that drips never ends."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from threading import Timer
from types import TracebackType
from typing import Any, Self


class Deadline:
    """Shuts the connection of a request down after some seconds; the thread that reads from it then gets an error of httpx."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.has_passed = False
        self._timer = Timer(seconds, self._pass)
        self._timer.daemon = True
        #: The network stream of the connection, as httpcore describes it.
        self._stream: Any = None

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._timer.cancel()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """The `trace` extension of the request: learns its connection."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._stream = info["return_value"]
            if self.has_passed:
                self._shut_down()

    def _pass(self) -> None:
        self.has_passed = True
        self._shut_down()

    def _shut_down(self) -> None:
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
