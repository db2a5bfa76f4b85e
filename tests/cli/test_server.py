"""How the command line finds and calls a server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest


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
def test_a_token_is_not_sent_where_a_server_redirects_to(listening: tuple[_Listening, _Listening], command: list[str]) -> None:
    asked, other = listening

    done = run(asked, *command)

    assert done.returncode != 0
    assert set(asked.heard) == {"Bearer a-secret"}
    assert other.heard == []


def test_a_redirect_is_named_with_what_to_do(listening: tuple[_Listening, _Listening]) -> None:
    asked, other = listening

    done = run(asked, "compare", "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222")

    assert f"redirects to {other.address}/stolen" in done.stderr
    assert "--server" in done.stderr
