"""How the REST client of the command line finds and calls a server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import click
import pytest
from click.testing import CliRunner

from schedviz.cli.compare import compare
from schedviz.cli.rest_client import RestClient


class _Listening(HTTPServer):
    """Redirects every request to `target`, or records its headers."""

    target = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[str | None] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: _Listening

    def do_GET(self) -> None:
        self.server.heard.append(self.headers.get("Authorization"))
        self.send_response(302 if self.server.target else 200)
        if self.server.target:
            self.send_header("Location", self.server.target)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def listening() -> Iterator[tuple[_Listening, _Listening]]:
    """Two servers, the first of which redirects to the second."""
    servers = (_Listening(), _Listening())
    servers[0].target = f"{servers[1].address}/stolen"
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def run(server: _Listening, *command: str) -> subprocess.CompletedProcess[str]:
    """A subcommand with a token, against this server."""
    environment = {**os.environ, "SCHEDVIZ_SERVER": server.address, "SCHEDVIZ_TOKEN": "a-secret"}
    return subprocess.run(
        [sys.executable, "-m", "schedviz.cli.main", *command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"],
        ["sessions"],
        ["state", "--session", "11111111-1111-1111-1111-111111111111"],
    ],
)
def test_a_token_is_not_sent_to_the_target_of_a_redirect(listening: tuple[_Listening, _Listening], command: list[str]) -> None:
    asked, other = listening

    done = run(asked, *command)

    assert done.returncode != 0
    assert set(asked.heard) == {"Bearer a-secret"}
    assert other.heard == []


def test_a_redirect_is_reported_with_what_to_do(listening: tuple[_Listening, _Listening]) -> None:
    asked, other = listening

    done = run(asked, "compare", "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222")

    assert f"redirects to {other.address}/stolen" in done.stderr
    assert "--server" in done.stderr


#: Responses of a server of another protocol, of a proxy that truncates a response, and of an unrelated web page.
NOT_HTTP = b"SSH-2.0-OpenSSH_9.6\r\n"
CUT = b"HTTP/1.1 502 Bad Gateway\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n<html>"
PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"


@pytest.fixture
def serve() -> Iterator[Callable[[bytes], str]]:
    """A function that starts a server with one response to everything, and returns its address."""
    listeners: list[socket.socket] = []

    def start(response: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=_respond_to_all, args=(listener, response), daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in listeners:
        listener.close()


def _respond_to_all(listener: socket.socket, response: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(response)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (NOT_HTTP, r"does not respond: what came is not a whole response of HTTP \(BadStatusLine\)"),
        (CUT, r"The response is not from schedviz\. \(HTTP 502\)"),
        (PAGE, r"The response is not from schedviz\. Is the address right\?"),
    ],
)
def test_a_response_that_is_not_from_schedviz_is_reported_in_a_sentence(
    serve: Callable[[bytes], str], response: bytes, message: str
) -> None:
    client = RestClient(serve(response), "a-secret")

    with pytest.raises(click.ClickException, match=message):
        client.get_json("sessions/")


def test_an_error_response_truncated_by_a_proxy_keeps_its_status(serve: Callable[[bytes], str]) -> None:
    response = RestClient(serve(CUT), "a-secret").request("sessions/")

    assert (response.status, response.message) == (502, "The response is not from schedviz.")


def test_a_page_instead_of_json_is_refused_in_a_sentence(serve: Callable[[bytes], str]) -> None:
    response = RestClient(serve(PAGE), "a-secret").request("sessions/1/observations/")

    with pytest.raises(click.ClickException, match="The response is not from schedviz"):
        response.json()


def test_a_comparison_with_a_server_that_is_not_schedviz_is_refused(serve: Callable[[bytes], str]) -> None:
    ids = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"]

    result = CliRunner().invoke(compare, [*ids, "--server", serve(PAGE), "--token", "a-secret"])

    assert result.exit_code == 1
    assert "the response is not the comparison of a schedviz server" in result.output
