"""Every address of REST, and every verb, for everybody who can ask."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from schedviz.web.api.urls import urlpatterns
from schedviz.web.permissions import Actor, Role, Verb, may

#: What each may do to a session: nothing (404), look, command, everything.
ROLES = {
    "owner": "manage",
    "owner-token": "manage",
    "owner-read-token": "see",
    "editor": "command",
    "editor-token": "command",
    "viewer": "see",
    "viewer-token": "see",
    "link": "see",
    "editor-link": "command",
    "revoked-link": "",
    "stranger": "",
    "stranger-token": "",
    "anonymous": "",
}
_LEVEL = ["", "see", "command", "manage"]

#: Method, address after the session's, body, what it needs, and the answer when it is allowed.
REQUESTS = [
    ("get", "", None, "see", 200),
    ("get", "state/", None, "see", 200),
    ("get", "view/", None, "see", 200),
    ("get", "timeline/", None, "see", 200),
    ("get", "events/", None, "see", 200),
    ("get", "cycles/", None, "see", 200),
    ("get", "cycles/1/", None, "see", 404),
    ("get", "commands/1/", None, "see", 404),
    ("post", "commands/", {"op": "pause"}, "command", 202),
    ("get", "branches/", None, "see", 200),
    ("get", "objects/", None, "see", 400),
    ("get", "observations/", None, "see", 200),
    ("post", "observations/", {"source": "kind", "n": 1, "events": []}, "command", 201),
    ("get", "agreement/", None, "see", 200),
    ("get", "export/", None, "see", 409),
    ("patch", "", {"name": "another name"}, "manage", 200),
    ("post", "cancel/", None, "manage", 409),
    ("get", "links/", None, "manage", 200),
    ("post", "links/", {"role": "viewer"}, "manage", 201),
    ("delete", "links/1/", None, "manage", 404),
    ("delete", "", None, "manage", 204),
]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "rest", "body", "need", "answer"), REQUESTS, ids=[f"{r[0]} {r[1] or '/'}" for r in REQUESTS])
def test_each_role_gets_what_it_may_and_a_stranger_learns_nothing(people, role, method, rest, body, need, answer):
    client = people.client(role)
    address = f"/api/v1/sessions/{people.session.pk}/{rest}"

    response = getattr(client, method)(address, body, format="json")

    level = ROLES[role]
    if not level:
        expected = 404
    elif _LEVEL.index(level) < _LEVEL.index(need):
        expected = 403
    else:
        expected = answer
    assert response.status_code == expected, response.content
    if not level:
        assert response.json() == APIClient().get("/api/v1/sessions/00000000-0000-4000-8000-000000000000/").json()


#: Looked at where there is something to tell: test_stories, test_breakpoints, test_lessons, test_dump, test_explain (where a worker answers).
TESTED_WITH_THEIR_ANSWERS = {
    "sessions/<uuid:session_id>/" + rest
    for rest in (
        "stories/pods/<str:namespace>/<str:name>/",
        "stories/nodes/<str:name>/",
        "breakpoints/",
        "breakpoints/<int:number>/",
        "explain/",
        "explain/message/",
        "describe/nodes/<str:name>/",
        "dump/",
        "describe/pods/<str:namespace>/<str:name>/",
        "explain/<str:namespace>/<str:name>/",
        "explain/<str:namespace>/<str:name>/change/",
        "what-if/",
        "lesson/",
    )
}


def test_the_table_has_every_address_of_rest():
    tested = TESTED_WITH_THEIR_ANSWERS | {"sessions/<uuid:session_id>/" + rest.replace("1/", "<int>/") for _, rest, *_ in REQUESTS}
    addresses = {
        str(pattern.pattern).replace("<int:seq>", "<int>").replace("<int:cycle>", "<int>").replace("<int:link_id>", "<int>")
        for pattern in urlpatterns[:-1]
    }

    assert addresses - tested == {
        *("", "schema/", "problems/", "lessons/", "sessions/", "quotas/", "compare/", "compare/report/"),
        # Looked at in test_samples: for whoever is logged in.
        *("samples/", "samples/<str:name>/"),
    }


@pytest.mark.parametrize(
    ("role", "listed", "create"),
    [("owner", 200, 201), ("owner-token", 200, 201), ("owner-read-token", 200, 403), ("link", 200, 401), ("anonymous", 401, 401)],
)
def test_who_may_list_and_create(people, role, listed, create):
    client = people.client(role)

    assert client.get("/api/v1/sessions/").status_code == listed
    assert client.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json").status_code == create


@pytest.mark.parametrize("role", [role for role, level in ROLES.items() if not role.startswith("anonymous")])
def test_a_list_holds_only_what_one_may_see(people, role):
    found = people.client(role).get("/api/v1/sessions/")

    if role == "revoked-link":
        assert found.json()["results"] == []
    else:
        assert [one["id"] for one in found.json()["results"]] == ([str(people.session.pk)] if ROLES[role] else [])


def test_a_session_without_an_owner_is_nobodys(people):
    Session.objects.update(owner=None)

    assert not may(Actor(), Verb.SEE, Session.objects.get())
    assert people.client("anonymous").get(f"/api/v1/sessions/{people.session.pk}/").status_code == 404


@pytest.mark.parametrize(("name", "role"), [("owner", Role.OWNER), ("editor", Role.EDITOR), ("viewer", Role.VIEWER)])
def test_the_answer_says_what_one_is(people, name, role):
    assert people.client(name).get(f"/api/v1/sessions/{people.session.pk}/").json()["role"] == role


def test_a_cookie_needs_the_csrf_token_and_a_bearer_does_not(people):
    address = f"/api/v1/sessions/{people.session.pk}/commands/"
    browser = APIClient(enforce_csrf_checks=True)
    browser.force_login(people.owner)
    linked = APIClient(enforce_csrf_checks=True)
    people.open_link(linked, "editor-link")
    script = people.client("owner-token")

    assert browser.post(address, {"op": "pause"}, format="json").status_code == 403
    assert linked.post(address, {"op": "pause"}, format="json").status_code == 403
    assert script.post(address, {"op": "pause"}, format="json").status_code == 202
