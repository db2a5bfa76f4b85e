"""Many real clients in a room: each has a WebSocket to the room and one to the session, and records the times of messages."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
import zlib
from collections.abc import Callable
from typing import Any, Self

import httpx
from websockets.asyncio.client import ClientConnection, connect


class SocketConnection:
    """A WebSocket that is read as fast as possible."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._ended = False
        self._arrived = asyncio.Condition()
        self._task = asyncio.create_task(self._read())

    def take(self, message: dict[str, Any]) -> None:
        """Record a message."""
        raise NotImplementedError

    async def until(self, what: Callable[[], object]) -> None:
        """Wait until the received messages meet a condition. Raises ConnectionError when the connection ends."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: self._ended or what())
        if not what():
            raise ConnectionError(f"the connection was closed: {self._connection.close_code} {self._connection.close_reason}")

    async def say(self, **message: object) -> None:
        await self._connection.send(json.dumps(message))

    async def close(self) -> None:
        await self._connection.close()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        try:
            async for data in self._connection:
                self.take(json.loads(zlib.decompress(data) if isinstance(data, bytes) else data))
                async with self._arrived:
                    self._arrived.notify_all()
        finally:
            self._ended = True
            async with self._arrived:
                self._arrived.notify_all()


class Watcher(SocketConnection):
    """A WebSocket of a session, with the arrival time of each event."""

    def __init__(self, connection: ClientConnection) -> None:
        self.event = -1
        #: The number of views after the first, which replace missed frames, and of messages that announce them.
        self.renewed = -1
        self.gaps = 0
        #: Completed commands of all viewers.
        self.outcomes = 0
        self.status = ""
        #: When each frame arrived, by its last event.
        self._seen: list[tuple[int, float]] = []
        super().__init__(connection)

    def take(self, message: dict[str, Any]) -> None:
        self.gaps += message["type"] == "gap"
        self.renewed += message["type"] == "view"
        self.outcomes += message["type"] == "outcome"
        self.status = message.get("session", {}).get("status", self.status)
        if message["type"] in {"view", "frame"}:
            self.event = message["event"]
            self._seen.append((self.event, time.perf_counter()))

    async def reached(self, event: int) -> float:
        """When this event had arrived."""
        await self.until(lambda: self.event >= event)
        return next(at for seen, at in self._seen if seen >= event)

    async def is_open(self) -> None:
        """Wait until the session accepts commands."""
        await self.until(lambda: self.status not in ("", "importing"))
        assert self.status != "failed"

    async def do(self, **command: object) -> int:
        """Send a command and wait for its outcome; returns its last event."""
        outcomes = self.outcomes
        await self.say(type="command", key=uuid.uuid4().hex, command=command)
        await self.until(lambda: self.outcomes > outcomes)
        return self.event


class RoomLine(SocketConnection):
    """A WebSocket of a room, with the arrival time of each position."""

    def __init__(self, connection: ClientConnection) -> None:
        self.room: dict[str, Any] = {}
        #: When each position arrived, by its marker.
        self._marks: dict[str, float] = {}
        super().__init__(connection)

    def take(self, message: dict[str, Any]) -> None:
        if message["type"] == "room":
            self.room = message["room"]
        if moment := message.get("moment") or (message.get("room") or {}).get("moment"):
            self._marks.setdefault(moment["tab"], time.perf_counter())

    async def go(self, session: str, mark: str) -> None:
        """Move the teacher to a position; the marker identifies it."""
        await self.say(type="moment", moment={"session": session, "at": None, "tab": mark})

    async def moved(self, mark: str) -> float:
        """When this position arrived."""
        await self.until(lambda: mark in self._marks)
        return self._marks[mark]

    async def is_here(self) -> None:
        """Wait for the room."""
        await self.until(lambda: bool(self.room))


class Client:
    """A client with REST and WebSockets, optionally over a slow connection."""

    def __init__(self, base: str, *, token: str = "", over: str = "") -> None:
        self._base = base
        self._sockets = (over or base).replace("http", "ws", 1)
        headers = {"Authorization": f"Bearer {token}"} if token else {"Origin": base, "Referer": f"{base}/"}
        self._http = httpx.AsyncClient(base_url=base, headers=headers, timeout=60)
        self._token = token
        self.watcher: Watcher
        self.line: RoomLine

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        for opened in (getattr(self, "watcher", None), getattr(self, "line", None)):
            if opened is not None:
                await opened.close()
        await self._http.aclose()

    async def request(self, method: str, path: str, body: object = None) -> Any:
        response = await self._http.request(method, f"/api/v1/{path}", json=body, headers=self._pass())
        response.raise_for_status()
        return response.json() if response.content else None

    async def join(self, code: str, nickname: str) -> Any:
        await self._http.get("/r/")
        return await self.request("POST", "rooms/join/", {"code": code, "nickname": nickname})

    async def enter(self, room: str, session: str) -> None:
        """Open both WebSockets, and wait for the first message of each."""
        self.line = RoomLine(await self._socket(f"rooms/{room}/"))
        self.watcher = await self.watch(session)
        await self.line.is_here()

    async def watch(self, session: str) -> Watcher:
        watcher = Watcher(await self._socket(f"sessions/{session}/"))
        await watcher.reached(0)
        return watcher

    async def _socket(self, path: str) -> ClientConnection:
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {"Cookie": self._cookies()}
        # The server expects its own host name, also through a proxy.
        host = self._base.partition("://")[2]
        target = self._sockets.partition("://")[2]
        address, _, port = target.rpartition(":")
        return await connect(
            f"ws://{host}/ws/v1/{path}",
            host=address,
            port=int(port),
            origin=self._base,  # type: ignore[arg-type]
            additional_headers=headers,
            compression=None,
            max_size=None,
            open_timeout=60,
        )

    def _cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())

    def _pass(self) -> dict[str, str]:
        if self._token:
            return {}
        return {"X-CSRFToken": next((value for name, value in self._http.cookies.items() if name.startswith("schedviz_csrf")), "")}


async def ready_session(teacher: Client, body: dict[str, Any]) -> str:
    """A new session, once it is ready."""
    made = await teacher.request("POST", "sessions/", body)
    return await until_ready(teacher, made["id"])


async def until_ready(client: Client, session: str) -> str:
    watcher = await client.watch(session)
    await watcher.is_open()
    await watcher.close()
    return session


async def crowd_of(base: str, room: dict[str, Any], size: int, *, prefix: str = "p", over: str = "") -> list[Client]:
    """Participants with both WebSockets open."""

    async def one(number: int) -> Client:
        client = Client(base, over=over)
        await client.join(room["code"], f"{prefix}{number}")
        await client.enter(room["id"], room["session"])
        return client

    made: list[Client] = []
    # Joins are spread over time, as with real participants.
    for first in range(0, size, 10):
        made += await asyncio.gather(*(one(number) for number in range(first, min(size, first + 10))))
    return made


async def teacher_steps(teacher: Client, crowd: list[Client], session: str) -> tuple[list[float], list[float]]:
    """Take one step as the teacher and then move to a new position. Returns the seconds until each client received each of them."""
    mark = uuid.uuid4().hex
    began = time.perf_counter()
    event = await teacher.watcher.do(op="step", unit="cycle")
    seen = await asyncio.gather(*(one.watcher.reached(event) for one in crowd))
    went = time.perf_counter()
    await teacher.line.go(session, mark)
    moved = await asyncio.gather(*(one.line.moved(mark) for one in crowd))
    return [at - began for at in seen], [at - went for at in moved]


async def own_step(watcher: Watcher) -> float:
    """Take a step in a participant's own session. Returns the seconds until it was received."""
    began = time.perf_counter()
    event = await watcher.do(op="step", unit="cycle")
    return await watcher.reached(event) - began
