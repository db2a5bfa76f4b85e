"""Every URL and method, for every kind of client, against permission_table.py."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient
from rest_framework.views import APIView

from schedviz.sessions.models import Membership, Session
from schedviz.web.auth.actors import Actor, Role, Verb
from schedviz.web.auth.permissions import may
from schedviz.web.server import request_coalescing
from tests.web.auth.permission_table import (
    COMMAND,
    EVERYBODY,
    MANAGE,
    PAGES,
    ROWS,
    SEE,
    STAND_INS,
    Row,
)
from tests.web.conftest import Commits, People

#: The access of each to the session: none (404), read, commands, everything.
ROLES = {
    "owner": MANAGE,
    "owner-token": MANAGE,
    "owner-read-token": SEE,
    "editor": COMMAND,
    "editor-token": COMMAND,
    "viewer": SEE,
    "viewer-token": SEE,
    "link": SEE,
    "link-bearer": SEE,
    "editor-link": COMMAND,
    "revoked-link": "",
    "stranger": "",
    "stranger-token": "",
    # Staff have no special access here.
    "staff": "",
    "staff-token": "",
    "anonymous": "",
}
WITHOUT_ACCOUNT = {"link", "link-bearer", "editor-link", "revoked-link", "anonymous"}
READ_ONLY = {"owner-read-token", "link-bearer"}
_LEVEL = ["", SEE, COMMAND, MANAGE]
UNKNOWN = "00000000-0000-4000-8000-000000000000"

pytestmark = pytest.mark.usefixtures("redis")


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests to workers time out at once, since none runs."""
    monkeypatch.setattr(request_coalescing, "WAIT_SECONDS", 0.01)


@pytest.fixture
def everybody(people: People, commits: Commits) -> dict[str, APIClient]:
    return {role: people.client(role) for role in ROLES}


def expected(row: Row, role: str) -> int:
    """The status that a role gets."""
    level, known, writes = ROLES[role], role not in WITHOUT_ACCOUNT, role not in READ_ONLY
    match row.need:
        case "see" | "command" | "manage":
            return 404 if not level else row.status if _LEVEL.index(level) >= _LEVEL.index(row.need) else 403
        case "see and writer":
            return 404 if not level else row.status if known and writes else 403 if role == "owner-read-token" else 401
        case "everybody":
            return row.status
        case "guest":
            # A visitor with a revoked link has an empty list.
            return row.status if role != "anonymous" else 401
        case "known":
            return row.status if known else 401
        case "writer":
            return 401 if not known else row.status if writes else 403
        case "staff":
            return row.status if role.startswith("staff") else 403 if known else 401
    raise AssertionError(row.need)


def address_of(row: Row, session_id: object) -> str:
    address = re.sub(r"<\w+:(\w+)>", lambda found: str(STAND_INS.get(found[1], session_id)), row.route)
    return f"/{address}" + (f"?{row.query.format(session=session_id)}" if row.query else "")


def ask(client: APIClient, row: Row, session_id: object, body: object = None):
    """The response; changes are rolled back."""
    with transaction.atomic():
        response = getattr(client, row.method)(address_of(row, session_id), row.body if body is None else body, format="json")
        response.content  # noqa: B018 -- a stream is read while what it tells of is there.
        transaction.set_rollback(True)
    return response


def addresses() -> Iterator[tuple[str, type[APIView] | None]]:
    """Every route of the URL configuration, and its view where it is one of REST."""

    def walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, type[APIView] | None]]:
        for pattern in patterns:
            route = f"{before}{pattern.pattern}"
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield route, getattr(pattern.callback, "cls", None)

    return walk(get_resolver().url_patterns, "")


def test_every_address_and_method_has_a_row():
    results = {
        (method, route)
        for route, view in addresses()
        for method in ("get", "post", "put", "patch", "delete")
        if view and hasattr(view, method)
    }
    # Django's admin checks for staff itself: tests/accounts/test_admin.py.
    without = {route for route, view in addresses() if view is None and not route.startswith("admin/")}

    rows = {(row.method, row.route) for row in ROWS}
    assert results - rows == set(), "add a row to tests/web/auth/permission_table.py"
    assert {route for _, route in rows - results} | PAGES == without, "rows of what is no view of REST are pages, or are there no more"


def test_each_client_may_do_what_the_table_says(people, everybody):
    wrong = []
    for row in ROWS:
        # Public URLs are checked for a few clients: some, such as the schema, are slow.
        for role in ("owner", "link", "anonymous") if row.need == EVERYBODY else ROLES:
            response = ask(everybody[role], row, people.session.pk)
            if response.status_code != expected(row, role):
                wrong.append(f"{row.method} {row.route} as {role}: {response.status_code}, expected {expected(row, role)}")

    assert not wrong, "\n".join(wrong)


def comparable(response, session_id: object) -> tuple[int, bytes, dict[str, str]]:
    """The response without the session's id, the request's id and the time."""
    of_the_request = {"X-Request-ID", "Date", "Expires"}
    headers = {name: value for name, value in response.headers.items() if name not in of_the_request and "RateLimit" not in name}
    written = str(session_id).encode()
    return (
        response.status_code,
        response.content.replace(written, b"ID"),
        {n: v.replace(written.decode(), "ID") for n, v in headers.items()},
    )


_OF_ONE_SESSION = [row for row in ROWS if row.need.startswith((SEE, COMMAND, MANAGE))]


@pytest.mark.parametrize("role", [role for role, level in ROLES.items() if not level])
def test_a_user_without_access_cannot_tell_a_session_from_a_missing_one(people, role):
    client = people.client(role)
    for row in _OF_ONE_SESSION:
        for body in [row.body] if row.method == "get" else [row.body, {"nonsense": 1}]:
            foreign, unknown = (comparable(ask(client, row, one, body), one) for one in (people.session.pk, UNKNOWN))
            assert foreign == unknown, row


def test_a_user_without_access_cannot_tell_a_session_from_a_missing_one_by_an_invalid_method_or_body(people):
    client = people.client("stranger")
    for row in _OF_ONE_SESSION:
        for method in ("HEAD", "OPTIONS", "PUT", row.method.upper()):
            foreign, unknown = (
                comparable(client.generic(method, address_of(row, one), data=b"{", content_type="application/json"), one)
                for one in (people.session.pk, UNKNOWN)
            )
            assert foreign == unknown, (method, row)


@pytest.mark.parametrize("page", ["s/{}/", "s/{}/panel/queue/", "s/{}/panel/nothing/", "embed/{}/queue/", "embed/{}/queue/?link=wrong"])
@pytest.mark.parametrize("role", ["anonymous", "stranger", "staff", "revoked-link"])
def test_a_user_without_access_cannot_tell_a_session_from_a_missing_one_by_its_page(people, page, role):
    client = people.client(role)
    found, none = (client.get("/" + page.format(one)) for one in (people.session.pk, UNKNOWN))

    csrf = re.compile(rb'(name="csrf-token" content=")[^"]*')
    first, second = comparable(found, people.session.pk), comparable(none, UNKNOWN)
    assert first[0] == second[0]
    assert csrf.sub(rb"\1", first[1]) == csrf.sub(rb"\1", second[1])
    assert first[2] == second[2]


@pytest.mark.parametrize("role", [role for role in ROLES if role != "anonymous"])
def test_a_list_contains_only_what_the_client_may_see(people, role):
    body = people.client(role).get("/api/v1/sessions/").json()

    assert [one["id"] for one in body["results"]] == ([str(people.session.pk)] if ROLES[role] else [])
    assert body["count"] == len(body["results"])


def test_a_comparison_needs_access_to_both_sides(people):
    other = Session.objects.create(owner=people.stranger, name="theirs", status=Session.Status.READY)
    for role, own, foreign in (("owner", people.session.pk, other.pk), ("stranger", other.pk, people.session.pk)):
        client = people.client(role)
        for query in ("a={}&b={}", "b={}&a={}"):
            found, none = (comparable(client.get(f"/api/v1/compare/?{query.format(own, one)}"), one) for one in (foreign, UNKNOWN))
            assert found == none
            assert found[0] == 404


def test_a_fork_hides_its_origin_from_users_without_access(people):
    fork = Session.objects.create(
        owner=people.stranger,
        name="a fork",
        status=Session.Status.READY,
        origin=people.session,
        forked_from=people.session,
        source={"fork": {"name": "a secret", "session": str(people.session.pk), "at": 0}},
    )
    Membership.objects.create(session=fork, user=people.viewer)

    def forked_from(role: str) -> list[object]:
        client = people.client(role)
        listed = {one["id"]: one["forkedFrom"] for one in client.get("/api/v1/sessions/").json()["results"]}
        return [client.get(f"/api/v1/sessions/{fork.pk}/").json()["forkedFrom"], listed[str(fork.pk)]]

    hidden = people.client("stranger").get(f"/api/v1/sessions/{fork.pk}/")
    assert hidden.json()["source"] == {"fork": {"at": 0}}
    assert "a secret" not in hidden.content.decode()
    assert fork.source_without_origin == {"fork": {"at": 0}}
    assert forked_from("stranger") == [{"id": None, "name": "", "event": 0}] * 2
    assert forked_from("viewer") == [{"id": str(people.session.pk), "name": "a secret", "event": 0}] * 2


def test_a_session_without_an_owner_belongs_to_no_user(people):
    Session.objects.update(owner=None)

    assert not may(Actor(), Verb.SEE, Session.objects.get())
    assert people.client("anonymous").get(f"/api/v1/sessions/{people.session.pk}/").status_code == 404


@pytest.mark.parametrize(("name", "role"), [("owner", Role.OWNER), ("editor", Role.EDITOR), ("viewer", Role.VIEWER)])
def test_the_response_has_the_role_of_the_client(people, name, role):
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
