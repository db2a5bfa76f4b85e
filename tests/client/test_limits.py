"""Responses of a faulty or hostile server: the client stops reading, and reports why."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import httpx
import pytest

from schedviz.client import AsyncClient, Client
from schedviz.client.calls import Call, ask
from schedviz.client.decoding import pieces
from schedviz.client.errors import Refused, ResponseTooLarge, SchedvizError
from schedviz.client.flows import listed
from schedviz.client.limits import MAX_LINE_BYTES, Lines, TooLarge

_PIECE = b'"' + b"x" * 65_534 + b'"'


class _Endless(BaseHTTPRequestHandler):
    """Sends an endless line, as an error for some paths."""

    def do_GET(self) -> None:
        self.send_response(409 if "refused" in self.path else 200)
        if "bomb" in self.path:
            self._send_bomb("gzip" if "gzip" in self.path else "zstd")
            return
        self.end_headers()
        try:
            while True:
                self.wfile.write(_PIECE)
        except OSError:
            # The client has closed the connection.
            return

    def _send_bomb(self, encoding: str) -> None:
        """Sends 64 MB compressed to 64 kB of gzip, or an encoding that the client does not accept."""
        body = gzip.compress(bytes(64 << 20)) if encoding == "gzip" else b""
        self.send_header("Content-Encoding", encoding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endless() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_endless_response_is_read_up_to_the_limit(endless: str) -> None:
    call = Call("GET", "sessions/", max_bytes=1_000_000)
    with Client(endless, "token") as client, pytest.raises(ResponseTooLarge) as raised:
        client.do(ask(call))

    assert str(raised.value) == (
        f"{endless}/api/v1/sessions/: The response has more than 1,000,000 bytes, the limit of this client. "
        "Is the address that of a schedviz server?"
    )

    async def asked() -> None:
        async with AsyncClient(endless, "token") as client:
            await client.do(ask(call))

    with pytest.raises(ResponseTooLarge):
        asyncio.run(asked())


def test_an_endless_error_is_truncated(endless: str) -> None:
    with Client(endless, "token") as client, pytest.raises(Refused) as raised:
        client.call("GET", "refused/")

    assert raised.value.status == 409
    assert len(str(raised.value)) < 1000


def test_an_endless_line_of_a_stream_is_read_up_to_the_limit(endless: str) -> None:
    with (
        Client(endless, "token") as client,
        pytest.raises(ResponseTooLarge, match=f"A line of the response has more than {MAX_LINE_BYTES:,}"),
    ):
        list(client.stream("sessions/x/events/", {}, {}))


def test_lines_are_split_only_at_newlines_and_limited_in_length() -> None:
    lines = Lines(max_bytes=10)

    assert [*lines.add(b"one\ntw"), *lines.add("o\u2028\n\nfour".encode())] == [b"one", "two\u2028".encode(), b""]
    assert lines.end() == b"four"
    with pytest.raises(TooLarge):
        list(lines.add(b"and more than ten"))


def test_a_compressed_response_is_decoded_in_small_chunks(endless: str) -> None:
    with httpx.Client() as http, http.stream("GET", f"{endless}/bomb/gzip/") as response:
        sizes = [len(piece) for piece in pieces(response)]
    with Client(endless, "token") as client, pytest.raises(ResponseTooLarge):
        client.do(ask(Call("GET", "bomb/gzip/", max_bytes=1_000_000)))

    assert sum(sizes) == 64 << 20
    assert max(sizes) == 65_536


def test_an_encoding_that_the_client_does_not_accept_is_refused(endless: str) -> None:
    with (
        httpx.Client() as http,
        http.stream("GET", f"{endless}/bomb/zstd/") as response,
        pytest.raises(httpx.RemoteProtocolError, match="the encoding 'zstd'; only gzip is accepted"),
    ):
        list(pieces(response))


class _Odd(BaseHTTPRequestHandler):
    """Responds with JSON that no schedviz server sends."""

    responses: ClassVar[dict[str, bytes]] = {
        "deep": b"[" * 50_000 + b"]" * 50_000,
        "list": b"[]",
        "number": b'{"results": 5, "next": null}',
        "round": b'{"results": [{}], "next": "1"}',
    }

    def do_GET(self) -> None:
        body = self.responses[self.path.split("/")[-2]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("deep", "not from a schedviz server"),
        ("list", "not from a schedviz server"),
        ("number", "not from a schedviz server"),
        ("round", "The server's pages do not end: after 1 comes 1"),
    ],
)
def test_a_list_from_a_server_that_is_not_schedviz_is_refused_with_a_message(shape: str, said: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Odd) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Client(f"http://127.0.0.1:{server.server_port}", "token") as client, pytest.raises(SchedvizError, match=said):
            client.do(listed(f"{shape}/"))
        server.shutdown()
