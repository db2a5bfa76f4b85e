"""A session with users, tokens and share links, and a live server with WebSocket viewers."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID

import msgspec
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from rest_framework.test import APIClient
from websockets.sync.client import ClientConnection, connect

from schedviz.sessions import frames
from schedviz.sessions.history import blob_chunks, reading
from schedviz.sessions.models import Checkpoint, CheckpointPiece, Chunk, Membership, Session, ShareLink
from schedviz.sessions.redis import stream
from schedviz.trace.events import ClockAdvanced, EventRecorded
from schedviz.web.auth.authentication import hashed
from schedviz.web.auth.login import make_token
from schedviz.web.server.head_limit import HeadLimit


@dataclass(frozen=True)
class People:
    """One user per relation to a session, with clients that have their credentials."""

    session: Session
    owner: User
    editor: User
    viewer: User
    stranger: User
    #: May use the admin pages; has no access to the session.
    staff: User
    #: The secrets of the tokens by role. A second token with the same name would replace the first, whose sockets would be closed.
    secrets: dict[str, str] = field(default_factory=dict)

    def client(self, role: str) -> APIClient:
        """A REST client with the credentials of `role`: a user, `<user>-token`, `<user>-read-token`, `link`, `link-bearer`,
        `editor-link`, `revoked-link`, `anonymous`."""
        client = APIClient(enforce_csrf_checks=False)
        name, _, how = role.partition("-")
        if role == "anonymous":
            return client
        if role == "link-bearer":
            # A panel that is embedded in another site has the secret of the link, and no cookie.
            self.make_link(role)
            client.credentials(HTTP_AUTHORIZATION=f"Bearer secret-{role}")
            return client
        if role.endswith("link"):
            self.open_link(client, role)
            return client
        user: User = getattr(self, name)
        if how in {"token", "read-token"}:
            if role not in self.secrets:
                self.secrets[role] = make_token(user, how, scope="read" if how == "read-token" else "write")
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.secrets[role]}")
        else:
            client.force_login(user)
        return client

    def open_link(self, client: APIClient, role: str) -> None:
        """Open a share link, as a browser does."""
        link = self.make_link(role)
        assert client.get(f"/s/{self.session.pk}/", {"link": f"secret-{role}"}).status_code == 302
        if role == "revoked-link":
            ShareLink.objects.filter(pk=link.pk).update(revoked_at=link.created_at)

    def make_link(self, role: str) -> ShareLink:
        """The share link of a role, whose secret is `secret-<role>`."""
        kind = Membership.Role.EDITOR if role == "editor-link" else Membership.Role.VIEWER
        link, _ = ShareLink.objects.get_or_create(session=self.session, digest=hashed(f"secret-{role}"), defaults={"role": kind})
        return link


def make_session(owner: User | None, name: str = "a session", **members: object) -> Session:
    """An empty session that is ready."""
    return Session.objects.create(owner=owner, name=name, **{"status": Session.Status.READY, **members})


@pytest.fixture
def people(db: None) -> People:
    users = {name: User.objects.create_user(name) for name in ("owner", "editor", "viewer", "stranger")}
    users["staff"] = User.objects.create_user("staff", is_staff=True)
    session = make_session(users["owner"])
    Membership.objects.create(session=session, user=users["editor"], role=Membership.Role.EDITOR)
    Membership.objects.create(session=session, user=users["viewer"], role=Membership.Role.VIEWER)
    return People(session=session, **users)


@pytest.fixture
def owner_client(people: People) -> APIClient:
    return people.client("owner")


class LiveServer:
    """The real ASGI application on a real uvicorn, in a thread of this process."""

    def __init__(self) -> None:
        import uvicorn

        from schedviz.asgi import application

        self._listener = socket.create_server(("127.0.0.1", 0))
        self.netloc = f"127.0.0.1:{self._listener.getsockname()[1]}"
        config = uvicorn.Config(
            application,
            http=HeadLimit,
            ws="websockets-sansio",
            ws_max_size=64 * 1024,
            ws_per_message_deflate=False,
            # A client that does not read, as in some tests, sends no pong.
            ws_ping_interval=None,
            lifespan="off",
            log_config=None,
            timeout_keep_alive=75,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, name="uvicorn")

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    @property
    def tasks(self) -> int:
        """The number of requests that are being served."""
        return len(self._server.server_state.tasks)

    def stop(self) -> None:
        from schedviz.web.live import database
        from schedviz.web.server.asgi_handler import HTTP_THREADS

        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()
        database.close()
        HTTP_THREADS.close()


@pytest.fixture
def web_server(transactional_db: None, redis: object) -> Iterator[LiveServer]:
    server = LiveServer()
    server.start()
    yield server
    server.stop()


class Socket:
    """A viewer of a session: a WebSocket client that decodes messages."""

    def __init__(self, server: LiveServer, session_id: UUID, query: str = "", *, buffer_bytes: int = 0, **headers: str) -> None:
        """`buffer_bytes`: what the kernel holds of messages that are not received; by default it grows, up to 32 MB."""
        url = f"ws://{server.netloc}/ws/v1/sessions/{session_id}/{query}"
        plain = socket.socket()
        if buffer_bytes:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        host, _, port = server.netloc.partition(":")
        plain.connect((host, int(port)))
        self._connection = connect(
            url, sock=plain, additional_headers=headers, max_size=None, max_queue=2, compression=None, ping_interval=None, legacy=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def receive(self, timeout: float = 10.0) -> dict[str, Any]:
        """The next message. Raises TimeoutError, or ConnectionClosed."""
        data = self._connection.recv(timeout=timeout)
        return json.loads(zlib.decompress(data) if isinstance(data, bytes) else data)

    def receive_until(self, kind: str, timeout: float = 10.0) -> dict[str, Any]:
        """The next message of this type. Skips others."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(max(0.01, deadline - time.monotonic()))
            if message["type"] == kind:
                return message

    def send(self, message: object) -> None:
        self._connection.send(message if isinstance(message, str | bytes) else json.dumps(message))

    @property
    def raw(self) -> ClientConnection:
        return self._connection


@pytest.fixture
def viewer(web_server: LiveServer) -> Iterator[Callable[..., Socket]]:
    """Opens a socket: `viewer(people, "owner-token", "?from=3")`."""
    opened: list[Socket] = []

    def open_socket(people: People, role: str = "owner-token", query: str = "", *, buffer_bytes: int = 0, **headers: str) -> Socket:
        client = people.client(role)
        if (bearer := client._credentials.get("HTTP_AUTHORIZATION")) is not None:
            headers.setdefault("Authorization", bearer)
        elif client.cookies:
            headers.setdefault("Origin", f"http://{web_server.netloc}")
            headers.setdefault("Cookie", "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()))
        socket_ = Socket(web_server, people.session.pk, query, buffer_bytes=buffer_bytes, **headers)
        opened.append(socket_)
        return socket_

    yield open_socket
    for each in opened:
        each.raw.close()


class Commits:
    """Writes to a session as a worker does: chunks of events to the database, then their frames to Redis."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def chunk(self, *, events: int = 1, padding: int = 0, publish: bool = True) -> int:
        """Commit a chunk; returns its number."""
        session = self.session
        first = session.event + 1
        made = [
            ClockAdvanced(event=first + n, at=float(first + n))
            if not padding
            else EventRecorded(event=first + n, at=0.0, pod="default/p", note=secrets.token_hex(padding // 2))
            for n in range(events)
        ]
        session.chunk += 1
        session.event += events
        session.clock_seconds = float(session.event)
        data = frames.frame(session.chunk, made, frames.session_state(session))
        with transaction.atomic():
            members = {"first_event": first, "last_event": session.event, "first_cycle": 0, "last_cycle": 0}
            Chunk.objects.create(session=session, number=session.chunk, data=data, **members)
            Session.objects.filter(pk=session.pk).update(chunk=session.chunk, event=session.event, clock_seconds=session.clock_seconds)
        if publish:
            stream.publish(session.pk, [(session.chunk, data)])
        return session.chunk

    def checkpoint(self) -> None:
        """Store a checkpoint of the current view, as an import does at its end."""
        view = reading.state_at_head(self.session).view
        members = {
            "event": self.session.event,
            "chunk": self.session.chunk,
            "cycle": 0,
            "digest": "",
            "engine_version": "",
            "has_engine": False,
            "complete": True,
        }
        made = Checkpoint.objects.create(session=self.session, **members)
        for number, piece in enumerate(blob_chunks.split(msgspec.json.encode(view))):
            CheckpointPiece.objects.create(checkpoint=made, part=CheckpointPiece.Part.VIEW, number=number, data=piece)

    def note(self, data: bytes) -> None:
        stream.publish(self.session.pk, [], [data])


@pytest.fixture
def commits(people: People) -> Commits:
    made = Commits(people.session)
    made.checkpoint()
    return made
