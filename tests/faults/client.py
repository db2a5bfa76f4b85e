"""Somebody who uses schedviz over HTTP."""

from __future__ import annotations

import http.client
import json
from typing import Any


class NoAnswer(Exception):
    """Whoever should have answered was dead, or died over it: the same request is to be sent again."""


class Client:
    """Asks the server at a port, with a token. Each request has a connection of its own, as servers come and go."""

    def __init__(self, port: int, token: str = "", host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = port
        self.token = token

    def ask(self, method: str, path: str, body: Any = None, *, timeout: float = 30.0) -> tuple[int, Any]:
        """Status and decoded body. Raises `NoAnswer`."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Connection": "close"}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if content else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswer(str(error)) from error
        finally:
            connection.close()

    def is_up(self) -> bool:
        """Whether /healthz says that everything is."""
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except NoAnswer:
            return False

    def make_session(self, name: str, generate: dict[str, Any], **more: Any) -> str:
        """Have a session made; returns its id, before it is imported."""
        status, answer = self.ask("POST", "/api/v1/sessions/", {"name": name, "generate": generate, **more}, timeout=60)
        assert status == 201, answer
        session_id: str = answer["id"]
        return session_id

    def session(self, session_id: str) -> dict[str, Any]:
        status, answer = self.ask("GET", f"/api/v1/sessions/{session_id}/")
        assert status == 200, answer
        session: dict[str, Any] = answer
        return session

    def send(self, session_id: str, key: str, command: dict[str, Any]) -> int:
        """Have a command accepted at the first attempt; returns its number."""
        status, answer = self.ask("POST", f"/api/v1/sessions/{session_id}/commands/", {"key": key, **command})
        assert status in (200, 202), (status, answer)
        seq: int = answer["seq"]
        return seq
