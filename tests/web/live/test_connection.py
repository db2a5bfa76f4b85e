"""A socket that the server has closed itself ends without an error in the log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import structlog

from schedviz.web.live.client_names import ClientNames
from schedviz.web.live.connection import SocketConnection
from schedviz.web.live.viewer import Viewer


class Sender(SocketConnection):
    """Sends one message after the other."""

    sharing_sockets = "sockets for tests"

    async def _send_next(self) -> bool:
        await self._text(b"{}")
        return True

    def _heartbeat(self) -> bytes:
        return b"{}"

    async def _recheck(self) -> None:
        pass

    def _refuse(self, code: str, message: str, text: str | None = None) -> None:
        pass

    async def _take_message(self, text: str) -> None:
        pass


def log_of(error: Exception) -> tuple[list[Any], list[str]]:
    """The log of a connection whose third message raises an error, and the types of what it sent."""
    sent: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message["type"])
        if len(sent) >= 3:
            raise error
        await asyncio.sleep(0)

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def run() -> None:
        await Sender(Viewer(1000, ClientNames()), {"headers": [], "subprotocols": []}, receive, send, client="user 1").run()

    with structlog.testing.capture_logs() as logged:
        asyncio.run(run())
    return logged, sent


def test_a_message_after_the_server_closed_the_socket_is_not_logged_as_an_error() -> None:
    closed = RuntimeError("Unexpected ASGI message 'websocket.send', after sending 'websocket.close' or response already completed.")
    assert log_of(closed) == ([], ["websocket.accept", "websocket.send", "websocket.send"])


def test_other_errors_are_logged() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        log_of(RuntimeError("a bug"))
