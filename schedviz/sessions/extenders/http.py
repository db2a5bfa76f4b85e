"""`HttpTransport`: calls the extenders on the operator's list over HTTP.

Each hostname is resolved once, and the call connects to that address if it is allowed. Redirects and proxies are not followed. The whole
call has one deadline, and a response has at most `MAX_RESPONSE_BYTES`. The transport only makes calls; the engine parses the responses.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import urlsplit

from schedviz.engine.extenders.calls import ExtenderCall, ExtenderError, ExtenderTls, host_and_port, not_listed
from schedviz.sessions.extenders.addresses import AddressPolicy

#: The largest response of an extender.
MAX_RESPONSE_BYTES: Final = 1 << 20
_READ_BYTES: Final = 1 << 16


class HttpTransport:
    """Calls listed hosts whose names resolve to public addresses or to addresses in `networks`. `before_call` is called with each request
    first.
    """

    def __init__(self, hosts: Iterable[str], *, networks: Iterable[str] = (), before_call: Callable[[], None] = lambda: None) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._addresses = AddressPolicy(networks)
        self.before_call = before_call

    def call(self, call: ExtenderCall) -> bytes:
        """The body of the response. Raises `ExtenderError`."""
        self.before_call()
        if host_and_port(call.url) not in self._hosts:
            raise ExtenderError(not_listed(call.url))
        try:
            status, body = _post(call, _Deadline(call.timeout_seconds), self._addresses)
        except TimeoutError:
            message = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            raise ExtenderError(f'Post "{call.url}": {message}') from None
        except ConnectionRefusedError:
            message = f"dial tcp {host_and_port(call.url)}: connect: connection refused"
            raise ExtenderError(f'Post "{call.url}": {message}') from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise ExtenderError(f'Post "{call.url}": {reason}') from None
        if status != http.client.OK:
            raise ExtenderError(f"failed {call.verb} with extender at URL {call.url}, code {status}")
        return body


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Remaining seconds. Raises `TimeoutError` if there are none."""
        seconds = self._at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


class _Reader(io.RawIOBase):
    """Reads from a socket until a deadline, even if data arrives slowly."""

    def __init__(self, connected: socket.socket, deadline: _Deadline) -> None:
        self._connected = connected
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connected.settimeout(self._deadline.left())
        return self._connected.recv_into(buffer)


class _Connected:
    """A socket with a deadline, with the methods that http.client uses."""

    def __init__(self, connected: socket.socket, deadline: _Deadline) -> None:
        self._connected = connected
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        self._connected.settimeout(self._deadline.left())
        self._connected.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._connected, self._deadline))

    def close(self) -> None:
        """Does nothing, because http.client closes the socket before the response is read. `_post` closes it."""


def _post(call: ExtenderCall, deadline: _Deadline, addresses: AddressPolicy) -> tuple[int, bytes]:
    parts = urlsplit(call.url)
    host, port = parts.hostname or "", int(host_and_port(call.url).rpartition(":")[2])
    family, address = _look_up(host, port, deadline)
    if why_not := addresses.why_not(host, address[0]):
        raise OSError(f"schedviz does not call {host_and_port(call.url)}: {why_not}")
    with socket.socket(family, socket.SOCK_STREAM) as plain:
        plain.settimeout(deadline.left())
        plain.connect(address)
        connected = plain
        if parts.scheme == "https":
            plain.settimeout(deadline.left())
            connected = _context(call.tls).wrap_socket(plain, server_hostname=call.tls.server_name or host)
        with connected:
            connection = http.client.HTTPConnection(host, port)
            connection.sock = _Connected(connected, deadline)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body=call.body, headers={"Content-Type": "application/json", "Connection": "close"})
            return _read(connection.getresponse())


def _read(response: http.client.HTTPResponse) -> tuple[int, bytes]:
    if response.status != http.client.OK:
        return response.status, b""
    body = bytearray()
    while data := response.read(_READ_BYTES):
        body += data
        if len(body) > MAX_RESPONSE_BYTES:
            raise OSError(f"the response has more than {MAX_RESPONSE_BYTES} bytes")
    return response.status, bytes(body)


def _look_up(host: str, port: int, deadline: _Deadline) -> tuple[int, Any]:
    """The first address of a name. The system's resolver has no timeout, so it runs in a thread that can be abandoned."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0])
        except (OSError, ValueError) as error:
            results.put(error)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        result = results.get(timeout=deadline.left())
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(result, Exception):
        raise OSError(f"dial tcp: lookup {host}: no such host")
    return result[0], result[4]


def _context(tls: ExtenderTls) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=tls.ca_pem or None)
    if tls.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
