"""Names in requests and commands are one line of limited length, over REST and WebSockets."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import CommandRefused
from schedviz.sessions.models import Session
from schedviz.trace.commands import convert_command
from tests.web.conftest import make_session

pytestmark = pytest.mark.django_db

BAD = ["two\r\nlines", "a\nb", "ends\n", "tab\t", "nul\0", "esc\x1b[31m", "c1\x85", "line\N{LINE SEPARATOR}", "x" * 201, "x" * 1_000_000]
BASE = "/api/v1/sessions/"
NEW = {"generate": {"nodes": 1}}


@pytest.mark.parametrize("title", BAD, ids=lambda title: repr(title[:20]))
def test_a_title_is_one_line_of_at_most_200_characters(owner_client, people, redis, title):
    session = f"{BASE}{people.session.pk}/"
    room = owner_client.post("/api/v1/rooms/", {"session": str(people.session.pk)}, format="json").json()["id"]
    requests = {
        "$.name of a session": owner_client.post(BASE, {**NEW, "name": title}, format="json"),
        "$.name of a change": owner_client.patch(session, {"name": title}, format="json"),
        "$.name of a fork": owner_client.post(f"{session}branches/", {"name": title}, format="json"),
        "$.note of an invite": owner_client.post(f"{session}invites/", {"note": title}, format="json"),
        "$.note of an account's invite": people.client("staff").post("/api/v1/invites/", {"note": title}, format="json"),
        "$.title of a room": owner_client.post("/api/v1/rooms/", {"session": str(people.session.pk), "title": title}, format="json"),
        "$.title of a room's change": owner_client.patch(f"/api/v1/rooms/{room}/", {"title": title}, format="json"),
        "name of files": owner_client.post(BASE, {"file": SimpleUploadedFile("a.json", b"{}"), "name": title}, format="multipart"),
    }

    for what, response in requests.items():
        assert response.status_code == 400, what
        body = response.json()
        assert body["path"] == what.partition(" ")[0], what
        assert body["expected"] in ("a string of one line without control characters", "a string of a length of at most 200")
        assert len(response.content) < 2000


def test_a_name_from_a_file_is_reduced_to_one_line(owner_client, redis):
    trace = {"format": "schedviz-trace/1", "name": "two\r\nlines" + "x" * 1000, "steps": []}

    made = owner_client.post(BASE, {"trace": trace}, format="json")

    assert made.status_code == 201, made.json()
    assert made.json()["name"].startswith("two\ufffd\ufffdlines")
    assert len(made.json()["name"]) == 200


LONG = "n" * 254
COMMANDS = [
    {"op": "delete", "kind": "Pod", "name": LONG},
    {"op": "delete", "kind": "Pod", "name": "a\r\nb"},
    {"op": "delete", "kind": "Pod", "name": "a", "namespace": "n" * 64},
    {"op": "delete", "kind": "K" * 1_000_000, "name": "a"},
    {"op": "bind", "pod": "n" * 318},
    {"op": "bind_fail", "pod": "default/a\nb"},
    {"op": "bind_fail", "message": "m" * 4097},
    {"op": "confirm", "node": LONG},
    {"op": "cordon", "node": "a\nb"},
    {"op": "drain", "node": LONG},
    {"op": "evict", "pod": "default/a\x1b"},
    {"op": "permit", "pod": "default/a", "action": "allow", "plugin": LONG},
    {"op": "latency", "kind": "K" * 64, "seconds": 1},
]
OBJECTS = [
    {"kind": kind, "metadata": {"name": name}}
    for kind in (
        "Pod",
        "Node",
        "Namespace",
        "Service",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "CSINode",
        "PriorityClass",
    )
    for name in ("a\r\nb", LONG, "n" * 1_000_000)
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command)[:60])
def test_names_in_commands_have_a_maximum_length(owner_client, people, redis, command):
    response = owner_client.post(f"{BASE}{people.session.pk}/commands/", command, format="json")

    assert response.status_code == 400
    assert response.json()["path"].removeprefix("$.") in command
    assert "at most" in response.json()["detail"] or "one line" in response.json()["detail"] or "kind" in response.json()["detail"]
    assert len(response.content) < 3000


def test_objects_of_every_kind_need_a_name_that_an_api_server_accepts(people, redis):
    for given in OBJECTS:
        with pytest.raises(CommandRefused, match=r"object\.metadata\.name: ") as refused:
            inbox.accept(people.session.pk, convert_command({"op": "create", "object": given}), "k")
        assert len(str(refused.value)) < 1500


def test_a_socket_refuses_invalid_names_too(people, viewer, redis):
    socket = viewer(people)
    socket.send({"type": "command", "key": "k", "command": {"op": "cordon", "node": "a\r\nb"}})

    error = socket.receive_until("error")
    assert error["key"] == "k"
    assert "one line" in error["message"]


test_a_socket_refuses_invalid_names_too = pytest.mark.django_db(transaction=True)(test_a_socket_refuses_invalid_names_too)


def test_sessions_that_were_stored_with_an_invalid_name_still_open(owner_client, people, redis):
    old = make_session(people.owner, name="two\r\nlines")
    session = f"{BASE}{old.pk}/"

    assert owner_client.get(session).json()["name"] == "two\r\nlines"
    assert owner_client.get(f"/s/{old.pk}/").status_code == 200
    assert convert_command({"op": "delete", "kind": "Pod", "name": "two\r\nlines"}) is not None
    assert owner_client.patch(session, {"name": "one line"}, format="json").json()["name"] == "one line"


@pytest.mark.parametrize("name", ["a\r\nSet-Cookie: x=1", '"; filename="evil.exe', "../../etc/passwd", "日本語", "x" * 200, "\x00\x1b", ""])
def test_the_name_of_a_download_is_safe(people, name):
    from schedviz.web.api.endpoints.export import _named

    header = _named(Session(name=name), "schedviz")

    assert header.startswith("attachment; filename")
    assert header.isascii()
    assert header.isprintable()
    assert len(header) < 900
    for forbidden in ("/", "\\", 'evil.exe"; ', ".."):
        assert forbidden not in header.replace("utf-8''", "")
