"""Floods of WebSocket frames, at the real server."""

from __future__ import annotations

import contextlib
import socket
import urllib.request

import pytest

from schedviz.web.auth.login import make_token
from schedviz.web.live.close_codes import CloseCode
from tests.web.conftest import LiveServer, People

pytestmark = pytest.mark.django_db(transaction=True)

#: Opcodes and the bit of a last fragment (RFC 6455, 5.2).
CONTINUATION, TEXT, PING, LAST = 0x0, 0x1, 0x9, 0x80
#: The number of bytes sent in a frame, above the limit.
FLOOD = 20_000


def frame(first: int, payload: bytes = b"") -> bytes:
    """A frame as a client sends it, with a mask of zeros."""
    return bytes([first, 0x80 | len(payload)]) + bytes(4) + payload


def closed_with(connection: socket.socket) -> int:
    """The code with which the server closed the socket."""
    read = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            read += part
    closing = read.rindex(bytes([LAST | 0x8, 2]))
    return int.from_bytes(read[closing + 2 : closing + 4])


@pytest.fixture
def connection(web_server: LiveServer, people: People) -> socket.socket:
    """An open WebSocket of a session."""
    host, port = web_server.netloc.split(":")
    made = socket.create_connection((host, int(port)), timeout=30)
    made.sendall(
        f"GET /ws/v1/sessions/{people.session.pk}/ HTTP/1.1\r\nHost: {web_server.netloc}\r\nAuthorization: Bearer {make_token(people.owner, 'flood')}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    response = b""
    while b"\r\n\r\n" not in response:
        response += made.recv(65536)
    assert response.startswith(b"HTTP/1.1 101 ")
    return made


@pytest.mark.parametrize(
    "flood", [frame(PING | LAST) * FLOOD, frame(TEXT | LAST, b"x") * FLOOD, frame(TEXT, b"x") + frame(CONTINUATION) * FLOOD]
)
def test_a_socket_that_floods_is_closed_while_others_are_served(connection: socket.socket, web_server: LiveServer, flood: bytes) -> None:
    with connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(flood)

        assert closed_with(connection) == CloseCode.FLOOD
    with urllib.request.urlopen(f"http://{web_server.netloc}/healthz?self", timeout=10) as response:
        assert response.status == 200
