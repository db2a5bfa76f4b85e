"""Asks the web server whether everything is up, without ever waiting for it.

The supervisor holds the listening socket, so a question asked before the web server runs waits in the socket's queue.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from schedviz.up.address import Reach, Tls

_PAUSE_SECONDS = 0.05


class HealthProbe:
    """One `GET /healthz` at a time over a non-blocking socket."""

    def __init__(self, reach: Reach, selector: selectors.BaseSelector) -> None:
        self._reach = reach
        self._tls = _ourselves(reach.tls) if reach.tls else None
        self._selector = selector
        self._socket: socket.socket | None = None
        self._asked = False
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
        try:
            self._socket = socket.create_connection(self._reach.address, timeout=0.5)
            if self._tls is not None:
                self._socket = self._tls.wrap_socket(self._socket, do_handshake_on_connect=False)
            self._socket.setblocking(False)
            self._answer, self._asked = b"", False
            self._say()
        except OSError:
            self.close()
            return
        self._selector.register(self._socket, selectors.EVENT_READ, self.read)

    def read(self) -> None:
        """Something of the answer has come."""
        assert self._socket is not None
        try:
            self._say()
            # To the end of what is there: of what TLS has decrypted already, the selector does not know.
            while data := self._socket.recv(65536):
                self._answer += data
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            pass
        head, _, body = self._answer.partition(b"\r\n\r\n")
        self.healthy = head.split(b" ", 2)[1:2] == [b"200"]
        with contextlib.suppress(ValueError):
            parsed = json.loads(body)
            self.detail = parsed if isinstance(parsed, dict) else {}
        self.close()

    def _say(self) -> None:
        """Send the question, over TLS as soon as both sides have agreed on it."""
        assert self._socket is not None
        if self._asked:
            return
        if isinstance(self._socket, ssl.SSLSocket):
            try:
                self._socket.do_handshake()
            except ssl.SSLWantReadError:
                return
        host = urlsplit(self._reach.url).netloc
        self._socket.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        self._asked = True

    def close(self) -> None:
        """Forget the question that is on its way."""
        if self._socket is not None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
        self._next = time.monotonic() + _PAUSE_SECONDS


def _ourselves(tls: Tls) -> ssl.SSLContext:
    """Believes our own certificate and no other, whatever name it is for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(tls.certificate)
    # The file need not have the authority's certificate in it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context
