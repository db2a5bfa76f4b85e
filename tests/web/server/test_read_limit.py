"""Clients that do not read what they are sent, at the real server."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import psutil
import pytest

from schedviz.web.api import download
from schedviz.web.api.endpoints import event_stream
from schedviz.web.api.errors import ApiError
from schedviz.web.auth.login import make_token
from schedviz.web.server import read_limit
from schedviz.web.server.frame_limit import FrameLimit
from schedviz.web.server.waiting_requests import requester
from tests.conftest import until
from tests.web.conftest import LiveServer, People

pytestmark = pytest.mark.django_db(transaction=True)

WANTED = b"GET /api/v1/schema/ HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(autouse=True)
def hasty(settings: Any) -> None:
    settings.RESPONSE_IDLE_SECONDS = 1


def sent_by_a_slow_reader(server: LiveServer, data: bytes) -> socket.socket:
    """A connection whose client has a small buffer, with the bytes that it has sent."""
    host, port = server.netloc.split(":")
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.settimeout(30)
    slow.connect((host, int(port)))
    slow.sendall(data)
    return slow


def is_open(client: socket.socket) -> bool:
    """Whether the server, which is in this process, has a connection of this client."""
    return any(each.raddr and each.raddr[:2] == client.getsockname() for each in psutil.Process().net_connections("tcp"))


def test_a_client_that_reads_nothing_of_a_response_is_disconnected(web_server: LiveServer) -> None:
    with sent_by_a_slow_reader(web_server, WANTED * 30) as stalled:
        until(lambda: is_open(stalled))
        until(lambda: not is_open(stalled))


def test_a_client_that_reads_slowly_is_served(web_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_limit, "MIN_RATE", 100)
    checks: list[int] = []
    monkeypatch.setattr(read_limit.ReadLimit, "_drop_if_idle", _counting(read_limit.ReadLimit._drop_if_idle, checks))
    with sent_by_a_slow_reader(web_server, WANTED * 30) as slow:
        until(lambda: slow.recv(2048) and len(checks) >= 3)
        assert is_open(slow)


def test_a_slow_download_ends_when_another_client_needs_its_slot(
    web_server: LiveServer, people: People, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DOWNLOADS = 1
    settings.RESPONSE_IDLE_SECONDS = 0
    monkeypatch.setattr(download, "_MAX_LAG_SECONDS", 0)
    monkeypatch.setattr(download, "MIN_RATE", 1 << 40)
    monkeypatch.setattr(event_stream, "_page", lambda _session, after, _write: (b"x" * 1_000_000, after + 1))
    token = make_token(people.owner, "slow")
    wanted = (
        f"GET /api/v1/sessions/{people.session.pk}/events/ HTTP/1.1\r\nHost: {web_server.netloc}\r\n"
        f"Authorization: Bearer {token}\r\nAccept: application/x-ndjson\r\n\r\n"
    )
    with sent_by_a_slow_reader(web_server, wanted.encode()) as slow:
        assert slow.recv(12) == b"HTTP/1.1 200"
        assert is_open(slow)
        requester.set("user 0")
        slots: list[download.Slot] = []

        def has_slot() -> bool:
            with contextlib.suppress(ApiError):
                slots.append(download.downloads.acquire())
            return bool(slots)

        until(has_slot)
        until(lambda: not is_open(slow))
        slots[0].release()
    assert not download.downloads._running.total
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel holds little for each WebSocket, so that little stalls it."""
    made = FrameLimit.connection_made

    def connection_made(self: FrameLimit, transport: asyncio.Transport) -> None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        made(self, transport)

    monkeypatch.setattr(FrameLimit, "connection_made", connection_made)


def socket_of(server: LiveServer, people: People) -> socket.socket:
    """A WebSocket that never reads what it is sent."""
    handshake = (
        f"GET /ws/v1/sessions/{people.session.pk}/ HTTP/1.1\r\nHost: {server.netloc}\r\n"
        f"Authorization: Bearer {make_token(people.owner, 'slow')}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    made = sent_by_a_slow_reader(server, handshake.encode())
    assert made.recv(12) == b"HTTP/1.1 101"
    # Each message is answered with an error, all together with about 30 kB.
    made.sendall((bytes([0x81, 0x81]) + bytes(4) + b"x") * 200)
    return made


def test_a_websocket_whose_client_does_not_read_is_dropped(web_server: LiveServer, people: People, small_buffers: None) -> None:
    with socket_of(web_server, people) as stalled:
        until(lambda: is_open(stalled))
        until(lambda: not is_open(stalled))


def _counting(call: Any, calls: list[int]) -> Any:
    def counted(self: Any, unread: int) -> None:
        calls.append(unread)
        call(self, unread)

    return counted
