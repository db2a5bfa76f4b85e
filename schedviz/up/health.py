"""Asks the web server whether everything is up, without ever waiting for it.

The supervisor holds the listening socket, so a question asked before the web server runs waits in the socket's queue.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import time
from typing import Any
from urllib.parse import urlsplit

_PAUSE_SECONDS = 0.05


class HealthProbe:
    """One `GET /healthz` at a time over a non-blocking socket."""

    def __init__(self, url: str, selector: selectors.BaseSelector) -> None:
        self._address = urlsplit(url)
        self._selector = selector
        self._socket: socket.socket | None = None
        self._answer = b""
        self._next = 0.0
        #: Everything was up when it was last asked.
        self.healthy = False
        #: What the last answer said, such as {"database": "ok", "workers": "…"}.
        self.detail: dict[str, Any] = {}

    def ask(self) -> None:
        """Ask, unless a question is on its way or the last answer is very fresh."""
        if self._socket is not None or time.monotonic() < self._next:
            return
        assert self._address.hostname is not None
        try:
            self._socket = socket.create_connection((self._address.hostname, self._address.port or 80), timeout=0.5)
            self._socket.sendall(f"GET /healthz HTTP/1.1\r\nHost: {self._address.netloc}\r\nConnection: close\r\n\r\n".encode())
            self._socket.setblocking(False)
        except OSError:
            self.close()
            return
        self._answer = b""
        self._selector.register(self._socket, selectors.EVENT_READ, self.read)

    def read(self) -> None:
        """Something of the answer has come."""
        assert self._socket is not None
        try:
            data = self._socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._answer += data
        if data:
            return
        head, _, body = self._answer.partition(b"\r\n\r\n")
        self.healthy = head.split(b" ", 2)[1:2] == [b"200"]
        with contextlib.suppress(ValueError):
            parsed = json.loads(body)
            self.detail = parsed if isinstance(parsed, dict) else {}
        self.close()

    def close(self) -> None:
        """Forget the question that is on its way."""
        if self._socket is not None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
        self._next = time.monotonic() + _PAUSE_SECONDS
