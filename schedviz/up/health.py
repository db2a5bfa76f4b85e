"""Polls /healthz of the web server without blocking.

The supervisor holds the listening socket, so a request that is sent before the web server runs waits in the socket's backlog.
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

from schedviz.up.address import ServerAddress, Tls

_PAUSE_SECONDS = 0.05


class HealthProbe:
    """One `GET /healthz` at a time over a non-blocking socket."""

    def __init__(self, server_address: ServerAddress, selector: selectors.BaseSelector) -> None:
        self._server = server_address
        self._tls = _own_certificate_context(server_address.tls) if server_address.tls else None
        self._selector = selector
        self._socket: socket.socket | None = None
        self._is_request_sent = False
        self._response = b""
        self._next_poll = 0.0
        #: Whether everything was up at the last response.
        self.healthy = False
        #: The last response, such as {"down": ["workers"], "database": "ok", "workers": "…"}; {}: the web server has not responded.
        self.detail: dict[str, Any] = {}

    def poll(self) -> None:
        """Send a request, unless one is pending or the last response is recent."""
        if self._socket is not None or time.monotonic() < self._next_poll:
            return
        try:
            self._socket = socket.create_connection(self._server.connect_to, timeout=0.5)
            if self._tls is not None:
                self._socket = self._tls.wrap_socket(self._socket, do_handshake_on_connect=False)
            self._socket.setblocking(False)
            self._response, self._is_request_sent = b"", False
            self._write_request()
        except OSError:
            self.close()
            return
        self._selector.register(self._socket, selectors.EVENT_READ, self.read)

    def read(self) -> None:
        """A part of the response arrived."""
        assert self._socket is not None
        try:
            self._write_request()
            # Read everything: the selector does not see data that TLS has already decrypted.
            while data := self._socket.recv(65536):
                self._response += data
        except (BlockingIOError, ssl.SSLWantReadError):
            return
        except OSError:
            pass
        head, _, body = self._response.partition(b"\r\n\r\n")
        self.healthy = head.split(b" ", 2)[1:2] == [b"200"]
        with contextlib.suppress(ValueError):
            parsed = json.loads(body)
            self.detail = parsed if isinstance(parsed, dict) else {}
        self.close()

    def _write_request(self) -> None:
        """Send the request, over TLS after the handshake."""
        assert self._socket is not None
        if self._is_request_sent:
            return
        if isinstance(self._socket, ssl.SSLSocket):
            try:
                self._socket.do_handshake()
            except ssl.SSLWantReadError:
                return
        host = urlsplit(self._server.url).netloc
        self._socket.sendall(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        self._is_request_sent = True

    def close(self) -> None:
        """Drop the pending request."""
        if self._socket is not None:
            with contextlib.suppress(KeyError):
                self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
        self._next_poll = time.monotonic() + _PAUSE_SECONDS


def _own_certificate_context(tls: Tls) -> ssl.SSLContext:
    """A context that trusts exactly our own certificate, for any hostname."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(tls.certificate)
    # The file need not contain the certificate of the authority.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context
