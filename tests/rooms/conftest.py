"""A room with its teacher, and participants who join it."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from schedviz.sessions.models import Session
from tests.web.conftest import Commits, LiveServer, make_session, web_server

__all__ = ["web_server"]

ROOMS = "/api/v1/rooms/"


def cookies_of(client: Client) -> str:
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())


@dataclass
class Person:
    """An HTTP client with cookies, which can join a room."""

    client: APIClient
    room: str = ""

    def request(self, method: str, rest: str = "", body: object = None, *, expect: int = 200) -> Any:
        """The body of the response to a request below the URL of the room."""
        return self.request_at(method, f"{ROOMS}{self.room}/{rest}", body, expect=expect)

    def request_at(self, method: str, address: str, body: object = None, *, expect: int = 200) -> Any:
        response = getattr(self.client, method)(address, body, format="json")
        assert response.status_code == expect, response.content
        is_json = "json" in response.headers.get("Content-Type", "")
        return response.json() if is_json else response.content

    def join(self, code: str, nickname: str, *, expect: int = 201) -> Any:
        room = self.request_at("post", f"{ROOMS}join/", {"code": code, "nickname": nickname}, expect=expect)
        if expect < 300:
            self.room = room["id"]
        return room

    def status_of(self, address: str) -> int:
        return self.client.get(f"/api/v1/{address}").status_code


@dataclass
class Classroom:
    """A room and its teacher, the owner of `session`."""

    user: User
    session: Session
    teacher: Person
    code: str
    students: dict[str, Person] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.teacher.room

    def student(self, nickname: str) -> Person:
        """A participant who joins the room from another browser."""
        person = self.students[nickname] = Person(APIClient())
        person.join(self.code, nickname)
        return person

    def look(self) -> Any:
        """The current room, as the teacher sees it."""
        return self.teacher.request("get")


def open_classroom(user: User, session: Session) -> Classroom:
    client = APIClient()
    client.force_login(user)
    teacher = Person(client)
    room = teacher.request_at("post", ROOMS, {"session": str(session.pk)}, expect=201)
    teacher.room = room["id"]
    return Classroom(user, session, teacher, room["code"])


@pytest.fixture
def classroom(db: None, redis: object) -> Classroom:
    """A room over a session with three events, without a worker."""
    user = User.objects.create_user("teacher")
    session = make_session(user, "the session")
    commits = Commits(session)
    commits.checkpoint()
    commits.chunk(events=3)
    session.refresh_from_db()
    return open_classroom(user, session)


class RoomSocket:
    """A WebSocket connection to a room."""

    def __init__(self, server: LiveServer, person: Person, path: str | None = None, token: str = "") -> None:
        url = f"ws://{server.netloc}/ws/v1/{path or f'rooms/{person.room}/'}"
        headers = {"Origin": f"http://{server.netloc}", "Cookie": cookies_of(person.client)}
        if token:
            headers = {"Authorization": f"Bearer {token}"}
        self.raw: ClientConnection = connect(url, additional_headers=headers, max_size=None, compression=None, legacy=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.raw.close()

    def send(self, **message: object) -> None:
        self.raw.send(json.dumps(message))

    def until(self, wanted: Callable[[dict[str, Any]], object], timeout: float = 10.0) -> dict[str, Any]:
        """The first message for which `wanted` is true. Skips others."""
        deadline = time.monotonic() + timeout
        while True:
            data = self.raw.recv(timeout=max(0.01, deadline - time.monotonic()))
            if isinstance(data, str) and wanted(message := json.loads(data)):
                return message

    def room(self, wanted: Callable[[dict[str, Any]], object] = lambda _: True) -> dict[str, Any]:
        """The room, as soon as `wanted` is true for it."""
        return self.until(lambda message: message["type"] == "room" and wanted(message["room"]))["room"]

    def moment(self) -> dict[str, Any]:
        return self.until(lambda message: message["type"] == "moment")["moment"]

    def close_code(self) -> int:
        """The code with which the server closes the connection."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.raw.recv(timeout=10)
        assert self.raw.close_code is not None
        return self.raw.close_code


@pytest.fixture
def line(web_server: LiveServer) -> Iterator[Callable[..., RoomSocket]]:
    """A function that connects a person to a room: `line(person)`."""
    opened: list[RoomSocket] = []

    def open_line(person: Person, path: str | None = None, token: str = "") -> RoomSocket:
        opened.append(RoomSocket(web_server, person, path, token))
        return opened[-1]

    yield open_line
    for each in opened:
        each.raw.close()
