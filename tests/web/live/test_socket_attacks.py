"""Attacks over a WebSocket: malformed messages, floods, clients that never read. The server and its workers survive."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import random
import socket as sockets
import string
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from websockets.exceptions import ConnectionClosed

from schedviz.sessions.models import Command, Session
from schedviz.sessions.transfer import create
from schedviz.trace.commands import AnyCommand
from schedviz.web.live import connection as connection_module
from schedviz.web.live import hub as hub_module
from schedviz.web.live import message_budget
from schedviz.web.live.close_codes import CloseCode
from schedviz.web.live.messages import AnyIncoming
from schedviz.web.live.routing import sockets as routes
from tests.conftest import Worker, until
from tests.sessions.conftest import dump
from tests.web.auth.permission_table import SOCKET_VERBS, SOCKETS
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)

#: The number of messages in the suite; 10,000 by hand and before a release.
MESSAGES = int(os.environ.get("SCHEDVIZ_TEST_MESSAGES", "2000"))
SEED = int(os.environ.get("SCHEDVIZ_TEST_SEED", "1"))


class Hostile:
    """Messages of an attacker who knows the protocol."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def message(self) -> str | bytes:
        kind = self.random.randrange(10)
        if kind == 0:
            return self.random.randbytes(self.random.randrange(200))
        if kind == 1:
            return self.text(400)
        if kind == 2:
            return self.random.choice("[{") * self.random.randrange(1, 60_000)
        message: Any = self.value(0) if kind == 3 else self.nearly_valid()
        written = json.dumps(message)
        if kind == 4:
            cut = self.random.randrange(len(written) + 1)
            return written[:cut]
        if kind == 5:
            at = self.random.randrange(len(written) + 1)
            return written[:at] + self.text(3) + written[at:]
        return written

    def nearly_valid(self) -> dict[str, Any]:
        message: dict[str, Any] = {"type": self.random.choice(["command", "command", "command", "resume", "ping", self.text(6)])}
        if message["type"] == "resume":
            message["from"] = self.random.choice([0, 1, -1, 10**18, 10**30, 1.5, "1", None])
        if message["type"] == "command" or self.random.random() < 0.1:
            message["key"] = self.random.choice([*[f"k{self.random.random()}"] * 12, self.text(30), self.text(300), "", 7, None, "same"])
            message["command"] = self.command()
        if self.random.random() < 0.1:
            message[self.text(8)] = self.value(1)
        return message

    def command(self) -> Any:
        """A command with valid and invalid members."""
        kind = self.random.choice(AnyCommand.__args__)
        command: dict[str, Any] = {"op": kind.__struct_config__.tag if self.random.random() < 0.95 else self.text(5)}
        for field in msgspec.structs.fields(kind):
            if field.required or self.random.random() < 0.4:
                command[field.encode_name] = self.member(field.encode_name)
        if self.random.random() < 0.05:
            command[self.text(6)] = self.value(1)
        return command

    def member(self, name: str) -> Any:
        usual = {
            "object": self.an_object,
            "kind": lambda: self.random.choice(["Pod", "Node"]),
            "name": lambda: self.random.choice(["node-1", "pod-1", "a"]),
            "namespace": lambda: "default",
            "pod": lambda: self.random.choice(["default/pod-1", "default/a"]),
            "node": lambda: "node-1",
            "unit": lambda: self.random.choice(["cycle", "stage"]),
            "config": lambda: {"profiles": self.value(1)},
        }.get(name, lambda: self.random.choice([0, 1, 3, 0.5, 1e9, "default/pod-1", True]))
        return usual() if self.random.random() < 0.8 else self.value(1)

    def an_object(self) -> Any:
        metadata = {
            "name": self.random.choice(["a", "web-1", self.text(12), "x" * 5000, "../../etc"]),
            "namespace": self.text(5),
            "labels": self.value(2),
        }
        kind = self.random.choice(["Pod", "Node", "PriorityClass", "PersistentVolumeClaim", self.text(5)])
        spec: Any = self.value(1)
        if kind == "Pod" and self.random.random() < 0.5:
            amount = self.random.choice(["1", "-1", "1e99", "100m", "9223372036854775807", "1Ei", "NaN", self.text(4), 1.5, None])
            spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": amount, "memory": amount}}}], "nodeName": self.value(3)}
        return {"kind": kind, "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": self.value(2)}

    def value(self, depth: int) -> Any:
        kind = self.random.randrange(9 if depth < 3 else 7)
        if kind < 7:
            return [None, True, self.random.choice([0, -1, 2**31, 2**63, 10**40]), 1e308, -0.0, self.text(20), "\ud800"][kind]
        if kind == 7:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.text(6): self.value(depth + 1) for _ in range(self.random.randrange(4))}

    def text(self, most: int) -> str:
        letters = string.printable + "\0\x1b\u202e\u2028\ufeff😀'\"<>&\\{}[]"
        return "".join(self.random.choice(letters) for _ in range(self.random.randrange(most + 1)))


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every message is read; other tests check the limits."""
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_PER_SECOND", 10**6)
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_AT_ONCE", 10**6)
    monkeypatch.setattr(settings, "SOCKET_FRAMES_AT_ONCE", 10**6)
    monkeypatch.setattr(message_budget, "CHARACTERS_AT_ONCE", 10**9)


@pytest.fixture
def imported(people: People, io_worker: Worker) -> People:
    """The same people around a session that has an engine."""
    source = create.Files([ContentFile(dump(3, 5), name="cluster.json")])
    session = create.create_session(people.owner, "a session", source)
    until(lambda: Session.objects.get(pk=session.pk).status == Session.Status.READY)
    return dataclasses.replace(people, session=session)


def test_fuzzed_messages_break_neither_the_server_nor_a_worker(viewer, imported, web_server, engine_worker: Worker, unlimited, caplog):
    people, hostile = imported, Hostile(SEED)
    sent, closed = 0, []
    while sent < MESSAGES:
        with viewer(people) as socket:
            try:
                for _ in range(min(100, MESSAGES - sent)):
                    socket.send(hostile.message())
                    sent += 1
                socket.send({"type": "ping"})
                socket.receive_until("pong", 60)
            except ConnectionClosed as error:
                closed.append(error.rcvd.code if error.rcvd else None)
            finally:
                # Disconnects without a close frame, with responses in flight.
                socket.raw.socket.shutdown(sockets.SHUT_RDWR)

    assert set(closed) <= {int(code) for code in CloseCode}, closed
    assert not [record for record in caplog.records if "broke" in record.getMessage()]
    until(lambda: _sockets_of(web_server) == 0)
    # Accepted commands are applied, and the session can still be used.
    session = people.session
    until(lambda: session.refresh_from_db() or session.applied_seq == session.last_seq or session.status == Session.Status.FAILED)
    until(engine_worker.is_ready)
    assert [bytes(command.body) for command in Command.objects.filter(quarantined=True)] == [], "commands that break an engine"
    assert session.status != Session.Status.FAILED, session.message
    assert session.last_seq > MESSAGES / 100, "many of the messages are commands that are stored"
    with viewer(people) as socket:
        socket.send({"type": "command", "key": "after all this", "command": {"op": "pause"}})
        assert socket.receive_until("ack")["key"] == "after all this"


def _sockets_of(_server: object) -> int:
    return sum(hub._sockets for hub in hub_module._hubs.values())


def test_a_client_that_keeps_flooding_is_disconnected(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_AT_ONCE", 10)
    monkeypatch.setattr(settings, "SOCKET_COMMANDS_PER_SECOND", 1)
    monkeypatch.setattr(connection_module, "REFUSED_AT_ONCE", 20)
    monkeypatch.setattr(connection_module, "REFUSED_PER_SECOND", 1)

    for message in ("{", b"\0", {"type": "ping"}, "x" * 60_000):
        with viewer(people) as socket, pytest.raises(ConnectionClosed) as closed:  # noqa: PT012 -- whichever of them meets it.
            for _ in range(2000):
                socket.send(message)
            socket.receive_until("never", 20)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == CloseCode.FLOOD


def test_long_messages_of_a_client_count_together_in_all_of_its_sockets(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(message_budget, "CHARACTERS_AT_ONCE", 150_000)
    monkeypatch.setattr(message_budget, "CHARACTERS_PER_SECOND", 1)
    long = {"type": "command", "key": "long", "command": {"op": "x" * 60_000}}

    refused = []
    for _ in range(2):
        with viewer(people) as socket:
            for _ in range(2):
                socket.send(long)
                refused.append(socket.receive_until("error"))
    with viewer(people, "editor-token") as socket:
        socket.send(long)
        refused.append(socket.receive_until("error"))

    assert [error["code"] for error in refused] == ["invalid"] * 2 + ["too_many_requests"] * 2 + ["invalid"]
    assert {error["key"] for error in refused} == {"long"}


def test_many_short_messages_in_many_sockets_count_together(viewer, people, commits, monkeypatch):
    monkeypatch.setattr(message_budget, "CHARACTERS_AT_ONCE", 20_000)
    monkeypatch.setattr(message_budget, "CHARACTERS_PER_SECOND", 1)
    monkeypatch.setattr(message_budget, "_REFUSED_AT_ONCE", 30)
    monkeypatch.setattr(message_budget, "_REFUSED_PER_SECOND", 0.001)

    with viewer(people) as first, viewer(people) as second, pytest.raises(ConnectionClosed) as closed:  # noqa: PT012 -- the second one.
        for _ in range(40):
            first.send({"type": "ping"})
        for _ in range(20):
            first.receive_until("pong")
        for _ in range(40):
            second.send({"type": "ping"})
        second.receive_until("never", 20)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CloseCode.FLOOD


def test_a_client_that_never_reads_is_disconnected(web_server, people, commits, unlimited):
    """Its receive buffer is tiny and it reads nothing, so responses pile up on the server."""
    cookies = people.client("owner").cookies
    host, port = web_server.netloc.split(":")
    connected = sockets.socket()
    connected.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
    connected.connect((host, int(port)))
    head = (
        f"GET /ws/v1/sessions/{people.session.pk}/ HTTP/1.1\r\nHost: {web_server.netloc}\r\nOrigin: http://{web_server.netloc}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Cookie: {'; '.join(f'{name}={morsel.value}' for name, morsel in cookies.items())}\r\n\r\n"
    )
    connected.sendall(head.encode())
    until(lambda: _sockets_of(web_server) == 1)
    # A masked text frame of two invalid bytes; the response to each is half a kilobyte.
    frame = b"\x81\x82\0\0\0\0{" + b"x"
    connected.settimeout(1)

    def is_let_go() -> bool:
        with contextlib.suppress(OSError):
            connected.sendall(frame * 500)
        return _sockets_of(web_server) == 0

    until(is_let_go)
    connected.close()


def test_every_verb_of_a_socket_has_a_row_and_there_is_no_other_socket():
    assert {kind.__struct_config__.tag for kind in AnyIncoming.__args__} == set(SOCKET_VERBS), "add a row to permission_table.py"
    assert {str(route.pattern) for route in routes.routes} - {"^"} == SOCKETS, "add a row to permission_table.py"


@pytest.mark.parametrize("verb", SOCKET_VERBS)
def test_each_client_may_send_what_its_role_allows(viewer, people, commits, verb):
    messages = {
        "command": {"type": "command", "key": "k", "command": {"op": "pause"}},
        "resume": {"type": "resume", "from": 0},
        "ping": {"type": "ping"},
    }
    response = {"command": "ack", "resume": "status", "ping": "pong"}[verb]
    roles = {"owner": "command", "owner-read-token": "see", "editor": "command", "viewer": "see", "link": "see", "editor-link": "command"}

    for role, level in roles.items():
        with viewer(people, role) as socket:
            socket.receive_until("status")
            socket.send(messages[verb])
            refused = SOCKET_VERBS[verb] == "command" and level == "see"
            assert socket.receive_until("error" if refused else response)["type"] == ("error" if refused else response), role


def test_a_session_without_viewers_is_not_read(viewer, people, commits, web_server):
    for _ in range(20):
        with viewer(people) as socket:
            socket.receive_until("status")

    until(lambda: _sockets_of(web_server) == 0)
    until(lambda: not _feeds(people))


def _feeds(people: People) -> list[str]:
    """Tasks of the server's loop that read this session."""
    loops = [loop for loop in hub_module._hubs if loop.is_running()]
    return [task.get_name() for loop in loops for task in asyncio.all_tasks(loop) if str(people.session.pk) in task.get_name()]
