"""Heads of requests that do not end, at the real server."""

from __future__ import annotations

import socket

import pytest

from schedviz.web.head_limit import LARGEST_HEAD_BYTES
from tests.web.conftest import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)

START = b"GET /healthz?self HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = b"POST /api/v1/sessions/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def exchange(server: LiveServer, data: bytes) -> bytes:
    """What is answered to `data` until the server hangs up."""
    host, port = server.netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        answer = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                answer += part
        except (ConnectionResetError, BrokenPipeError):
            # It hung up and left something of ours unread.
            pass
        return answer


@pytest.mark.parametrize("endless", [b"X: " + b"a" * LARGEST_HEAD_BYTES, b"X: a\r\n" * LARGEST_HEAD_BYTES])
def test_a_head_that_does_not_end_is_refused(web_server: LiveServer, endless: bytes) -> None:
    # One byte too many: all of it has been read when it is refused, so that the answer arrives.
    answer = exchange(web_server, (START + endless)[: LARGEST_HEAD_BYTES + 1])

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert str(LARGEST_HEAD_BYTES).encode() in answer


def test_a_large_head_that_ends_is_taken(web_server: LiveServer) -> None:
    answer = exchange(web_server, START + b"X: " + b"a" * (LARGEST_HEAD_BYTES // 2) + b"\r\nConnection: close\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200 ")


def test_headers_after_a_body_have_an_end_too(web_server: LiveServer) -> None:
    answer = exchange(web_server, CHUNKED + b"2\r\n{}\r\n0\r\nX: " + b"a" * 16 * LARGEST_HEAD_BYTES)

    assert not answer.startswith(b"HTTP/1.1 2"), "it hung up, whether or not we could read why"


def test_what_a_body_in_many_parts_has_beside_them_is_not_counted_together(web_server: LiveServer) -> None:
    parts = b"1\r\n \r\n" * LARGEST_HEAD_BYTES

    answer = exchange(web_server, CHUNKED.replace(b"Content-Type", b"Connection: close\r\nContent-Type") + parts + b"0\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 401 ")
