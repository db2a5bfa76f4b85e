"""Permissions to create a session that calls extenders, and to configure its extenders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedviz.sessions.models import Command, Session
from tests.web.conftest import People, Socket

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")


@pytest.mark.parametrize(
    ("requested", "users", "status"), [(True, ["ann"], 201), (True, ["bob"], 403), (False, [], 201), ("yes", ["ann"], 400)]
)
def test_a_session_that_calls_extenders_needs_permission(settings: Any, requested: object, users: list[str], status: int) -> None:
    settings.EXTENDER_USERS = users
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    body = {"generate": {"nodes": 2, "pods": 2}, "callExtenders": requested}

    response = client.post("/api/v1/sessions/", body, content_type="application/json")

    assert response.status_code == status, response.content
    assert list(Session.objects.values_list("calls_extenders", flat=True)) == ([requested] if status == 201 else [])


CONFIGURE = {"op": "configure", "config": {"extenders": [{"urlPrefix": "http://listed.example:8888/delete", "filterVerb": "everything"}]}}


@pytest.fixture
def called(people: People, settings: Any) -> People:
    """A session that calls extenders, whose owner may."""
    settings.EXTENDER_USERS = ["owner"]
    Session.objects.filter(pk=people.session.pk).update(calls_extenders=True)
    return people


@pytest.mark.parametrize("role", ["editor", "editor-token", "editor-link"])
def test_an_unlisted_editor_may_not_configure_extenders(called: People, role: str) -> None:
    address = f"/api/v1/sessions/{called.session.pk}/commands/"
    client = called.client(role)

    for path, body in ((address, CONFIGURE), (f"{address}together/", {"commands": [{"op": "pause"}, CONFIGURE]})):
        response = client.post(path, body, format="json")
        assert (response.status_code, response.json()["code"]) == (403, "forbidden"), response.content
        assert "SCHEDVIZ_EXTENDER_USERS" in response.json()["detail"]
    assert not Command.objects.exists()


def test_an_unlisted_editor_may_send_all_other_commands(called: People) -> None:
    client = called.client("editor")

    for command in ({"op": "configure", "config": None}, {"op": "configure", "config": {"extenders": []}}, {"op": "step", "unit": "cycle"}):
        response = client.post(f"/api/v1/sessions/{called.session.pk}/commands/", command, format="json")
        assert response.status_code == 202, response.content


def test_a_listed_user_may_configure_extenders(called: People, settings: Any) -> None:
    address = f"/api/v1/sessions/{called.session.pk}/commands/"
    assert called.client("owner").post(address, CONFIGURE, format="json").status_code == 202

    settings.EXTENDER_USERS = ["owner", "editor"]
    assert called.client("editor").post(address, CONFIGURE, format="json").status_code == 202


def test_editors_may_configure_extenders_in_a_session_without_calls(called: People) -> None:
    Session.objects.update(calls_extenders=False)

    response = called.client("editor").post(f"/api/v1/sessions/{called.session.pk}/commands/", CONFIGURE, format="json")

    assert response.status_code == 202


def test_a_websocket_rejects_extenders_from_an_unlisted_editor(called: People, viewer: Callable[..., Socket]) -> None:
    socket = viewer(called, "editor")
    socket.send({"type": "command", "key": "a", "command": CONFIGURE})
    refused = socket.receive_until("error")

    assert (refused["code"], refused["key"]) == ("forbidden", "a")
    assert not Command.objects.exists()


@pytest.mark.parametrize("calls", [True, False])
def test_a_session_says_whether_it_calls_extenders(people: People, *, calls: bool) -> None:
    Session.objects.filter(pk=people.session.pk).update(calls_extenders=calls)
    client = people.client("viewer")

    assert client.get(f"/api/v1/sessions/{people.session.pk}/").json()["callsExtenders"] is calls
    assert [session["callsExtenders"] for session in client.get("/api/v1/sessions/").json()["results"]] == [calls]
