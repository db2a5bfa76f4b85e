"""Heads and bodies of requests that do not end, at the real server."""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
from importlib import import_module
from typing import Any

import pytest

from schedviz.web.server import head_limit
from schedviz.web.server.head_limit import MAX_HEAD_BYTES
from tests.conftest import until
from tests.web.conftest import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)

START = b"GET /healthz?self HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = b"POST /api/v1/sessions/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def exchange(server: LiveServer, data: bytes) -> bytes:
    """The response to `data` until the server closes the connection."""
    host, port = server.netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        response = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                response += part
        except (ConnectionResetError, BrokenPipeError):
            # It closed the connection without reading everything.
            pass
        return response


@pytest.mark.parametrize("endless", [b"X: " + b"a" * MAX_HEAD_BYTES, b"X: a\r\n" * MAX_HEAD_BYTES])
def test_an_endless_request_head_is_refused(web_server: LiveServer, endless: bytes) -> None:
    # One byte too many: all of it has been read when it is refused, so that the answer arrives.
    response = exchange(web_server, (START + endless)[: MAX_HEAD_BYTES + 1])

    assert response.startswith(b"HTTP/1.1 400 ")
    assert str(MAX_HEAD_BYTES).encode() in response


def test_a_large_complete_request_head_is_accepted(web_server: LiveServer) -> None:
    response = exchange(web_server, START + b"X: " + b"a" * (MAX_HEAD_BYTES // 2) + b"\r\nConnection: close\r\n\r\n")

    assert response.startswith(b"HTTP/1.1 200 ")


def test_trailers_after_a_body_are_limited_too(web_server: LiveServer) -> None:
    response = exchange(web_server, CHUNKED + b"2\r\n{}\r\n0\r\nX: " + b"a" * 16 * MAX_HEAD_BYTES)

    assert not response.startswith(b"HTTP/1.1 2"), "it hung up, whether or not we could read why"


def test_the_framing_of_a_chunked_body_does_not_add_up_to_the_head_limit(web_server: LiveServer) -> None:
    parts = b"1\r\n \r\n" * MAX_HEAD_BYTES

    response = exchange(web_server, CHUNKED.replace(b"Content-Type", b"Connection: close\r\nContent-Type") + parts + b"0\r\n\r\n")

    assert response.startswith(b"HTTP/1.1 401 ")


# --- Time


def opened(server: LiveServer, data: bytes = b"") -> socket.socket:
    """A connection over which this was sent."""
    host, port = server.netloc.split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(data)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """The response until the server closes the connection."""
    response = b""
    with connection, contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            response += part
    return response


@pytest.fixture
def hasty(web_server: LiveServer, settings: Any) -> LiveServer:
    """A server that waits for a second."""
    settings.REQUEST_HEAD_SECONDS = settings.REQUEST_BODY_IDLE_SECONDS = 1
    return web_server


def test_endless_heads_get_408_and_are_closed(hasty: LiveServer) -> None:
    half_open = [opened(hasty, START) for _ in range(200)]
    silent = opened(hasty)

    responses = [until_closed(each) for each in half_open]

    assert {response.split(b"\r\n")[0] for response in responses} == {b"HTTP/1.1 408 Request Timeout"}
    assert b"SCHEDVIZ_REQUEST_HEAD_SECONDS" in responses[0]
    assert until_closed(silent) == b""


def test_a_request_head_sent_byte_by_byte_has_no_more_time(hasty: LiveServer) -> None:
    connection = opened(hasty)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for byte in itertools.chain(START, itertools.repeat(ord("x"))):
            connection.sendall(bytes([byte]))
            if select.select([connection], [], [], 0.02)[0]:
                break

    assert until_closed(connection).startswith(b"HTTP/1.1 408 ")


def test_the_second_request_head_of_a_connection_has_a_timeout_too(hasty: LiveServer) -> None:
    connection = opened(hasty, START + b"\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")

    connection.sendall(START)

    assert b"HTTP/1.1 408 " in until_closed(connection)


HANDSHAKE = (
    b" /ws/v1/sessions/00000000-0000-0000-0000-000000000000/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


@pytest.mark.parametrize(
    "request_with_body",
    [
        b"GET" + HANDSHAKE + b"Content-Length: 4\r\n\r\n",
        b"GET" + HANDSHAKE + b"Content-Length: 4\r\n\r\nabcd",
        b"GET" + HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n",
        b"POST" + HANDSHAKE + b"Content-Length: 4\r\n\r\nabcd",
        b"POST" + HANDSHAKE + b"\r\n",
    ],
)
def test_a_websocket_handshake_with_a_body_is_refused_and_closed(hasty: LiveServer, request_with_body: bytes) -> None:
    response = until_closed(opened(hasty, request_with_body))

    assert response.startswith(b"HTTP/1.1 400 ")
    assert b"A WebSocket handshake is a GET request without a body." in response


def test_a_websocket_handshake_that_announces_an_empty_body_is_accepted(hasty: LiveServer) -> None:
    with opened(hasty, b"GET" + HANDSHAKE + b"Content-Length: 0\r\n\r\n") as connection:
        response = connection.recv(65536)

    assert response.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 404 "))


def test_pipelined_requests_are_served_in_order_up_to_a_limit(hasty: LiveServer) -> None:
    with opened(hasty, (START + b"\r\n") * 10 + START + b"Connection: close\r\n\r\n") as connection:
        responses = until_closed(connection)

    assert responses.count(b"HTTP/1.1 200 ") == 11
    with opened(hasty) as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall((START + b"\r\n") * 100_000)
        assert until_closed(connection).count(b"HTTP/1.1 200 ") < 1000


def test_a_client_that_sends_too_many_requests_at_once_causes_no_error(web_server: LiveServer, caplog: pytest.LogCaptureFixture) -> None:
    for number in (60, 300):
        with opened(web_server) as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(b"GET /api/v1/sessions/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * number)
            until_closed(connection)
        # The request that was being served when the connection was closed has ended, too.
        until(lambda: not web_server.tasks)

    assert not [record for record in caplog.records if record.exc_info]


def test_a_stalled_body_gets_408_and_a_slow_one_is_accepted(hasty: LiveServer) -> None:
    slow = opened(hasty, CHUNKED)
    stopped = opened(hasty, CHUNKED + b"1\r\n{\r\n")
    # Each part arrives well within the limit, all of them take longer, and the other body is refused in the meantime.
    while not select.select([stopped], [], [], 0.05)[0]:
        slow.sendall(b"1\r\n \r\n")

    response = until_closed(stopped)
    assert response.startswith(b"HTTP/1.1 408 ")
    assert b"SCHEDVIZ_REQUEST_BODY_IDLE_SECONDS" in response
    slow.sendall(b"2\r\n{}\r\n0\r\n\r\n")
    assert slow.recv(65536).startswith(b"HTTP/1.1 401 "), "read to its end"
    slow.close()


def test_a_body_that_arrives_too_slowly_on_average_gets_408(web_server: LiveServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_limit, "RATE_WINDOW_SECONDS", 1)
    settings.REQUEST_BODY_BYTES_PER_SECOND = 100
    fast, slow = opened(web_server, CHUNKED), opened(web_server, CHUNKED)
    while not select.select([slow], [], [], 0.05)[0]:
        slow.sendall(b"1\r\n \r\n")
        fast.sendall(b"10\r\n                \r\n")

    response = until_closed(slow)
    assert response.startswith(b"HTTP/1.1 408 ")
    assert b"less than 100 bytes a second" in response
    assert b"SCHEDVIZ_REQUEST_BODY_BYTES_PER_SECOND" in response
    fast.sendall(b"2\r\n{}\r\n0\r\n\r\n")
    assert fast.recv(65536).startswith(b"HTTP/1.1 401 "), "read to its end"
    fast.close()


def test_an_idle_connection_and_an_open_socket_outlive_both_limits(hasty: LiveServer, viewer: Any, people: Any) -> None:
    idle = opened(hasty, START + b"\r\n")
    assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
    with viewer(people) as socket_:
        socket_.receive_until("status")
        assert until_closed(opened(hasty, START)).startswith(b"HTTP/1.1 408 "), "the limit has passed"
        socket_.send({"type": "ping"})
        assert socket_.receive_until("pong")

    idle.sendall(START + b"\r\n")
    assert idle.recv(65536).startswith(b"HTTP/1.1 200 ")
    idle.close()


def test_commands_of_earlier_versions_name_the_protocol_by_its_old_module() -> None:
    assert import_module("schedviz.web.head_limit").HeadLimit is head_limit.HeadLimit
