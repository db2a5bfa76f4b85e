"""An HTTP client of schedviz that tolerates servers which are killed."""

from __future__ import annotations

import http.client
import json
from typing import Any


class NoResponse(Exception):
    """The server was down, or was killed during the request, which has to be sent again."""


class Client:
    """Sends requests with a token to a port. Each request has its own connection, since servers are killed."""

    def __init__(self, port: int, token: str = "", host: str = "127.0.0.1") -> None:
        self.host = host
        self.port = port
        self.token = token

    def request(self, method: str, path: str, body: Any = None, *, timeout: float = 30.0) -> tuple[int, Any]:
        """Send a request. Returns the status and the decoded body. Raises NoResponse."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Connection": "close"}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read()
            return response.status, json.loads(content) if content else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoResponse(str(error)) from error
        finally:
            connection.close()

    def is_up(self) -> bool:
        """Whether /healthz reports that everything is up."""
        try:
            return self.request("GET", "/healthz")[0] == 200
        except NoResponse:
            return False

    def make_session(self, name: str, generate: dict[str, Any], **more: Any) -> str:
        """Create a session. Returns its id, before the import has ended."""
        status, body = self.request("POST", "/api/v1/sessions/", {"name": name, "generate": generate, **more}, timeout=60)
        assert status == 201, body
        session_id: str = body["id"]
        return session_id

    def session(self, session_id: str) -> dict[str, Any]:
        status, body = self.request("GET", f"/api/v1/sessions/{session_id}/")
        assert status == 200, body
        session: dict[str, Any] = body
        return session

    def send(self, session_id: str, key: str, command: dict[str, Any]) -> int:
        """Send a command, which must be accepted at the first attempt. Returns its number."""
        status, body = self.request("POST", f"/api/v1/sessions/{session_id}/commands/", {"key": key, **command})
        assert status in (200, 202), (status, body)
        seq: int = body["seq"]
        return seq
