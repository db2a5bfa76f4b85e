"""The public demo: visitors read it, get a sandbox of limited size, and leave nothing behind."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from schedviz.sessions import quotas, senders
from schedviz.sessions.models import Session
from schedviz.web.accounts import invites
from schedviz.web.accounts.demo import sweep_visitors
from schedviz.web.accounts.models import DemoSession, Visitor
from schedviz.web.rooms.models import Room
from schedviz.web.server import body_limit
from tests.web.conftest import make_session

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]


@pytest.fixture
def shown(people, commits, settings):
    """A session of the demo, and one that is not part of it."""
    settings.PUBLIC_DEMO = True
    DemoSession.objects.create(session=people.session)
    make_session(people.owner, "not shown")
    quotas.clear_cache()
    return people.session


def test_a_visitor_has_read_only_access(shown):
    visitor = APIClient()
    address = f"/api/v1/sessions/{shown.pk}/"

    assert visitor.get(address).json()["role"] == "viewer"
    assert [one["id"] for one in visitor.get("/api/v1/sessions/").json()["results"]] == [str(shown.pk)]
    assert visitor.get(f"/s/{shown.pk}/").status_code == 200
    assert visitor.get("/sessions/").status_code == 200
    assert visitor.post(f"{address}commands/", {"op": "pause"}, format="json").status_code == 403
    assert visitor.delete(address).status_code == 403
    assert visitor.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json").status_code == 401


def test_nothing_is_public_if_the_demo_is_off(shown, settings):
    settings.PUBLIC_DEMO = False

    assert APIClient().get(f"/api/v1/sessions/{shown.pk}/").status_code == 404
    assert Client().post("/demo/sandbox/", {"session": str(shown.pk)}).status_code == 404
    assert not Visitor.objects.exists()


def test_a_visitor_gets_a_sandbox_that_accepts_their_commands(shown, audit):
    browser = APIClient()
    response = browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    sandbox = Session.objects.get(forked_from=shown)

    assert response["Location"] == f"/s/{sandbox.pk}/"
    assert browser.get(f"/api/v1/sessions/{sandbox.pk}/").json()["role"] == "owner"
    assert browser.post(f"/api/v1/sessions/{sandbox.pk}/commands/", {"op": "pause"}, format="json").status_code == 202
    assert APIClient().get(f"/api/v1/sessions/{sandbox.pk}/").status_code == 404, "only the visitor has access to it"
    assert "sandbox_made" in audit()
    assert not User.objects.get(pk=sandbox.owner_id).has_usable_password()


def test_the_page_offers_a_sandbox_and_within_it_a_new_one(shown, people):
    browser = Client()
    assert b"Try it yourself" in browser.get(f"/s/{shown.pk}/").content
    sandbox = browser.post("/demo/sandbox/", {"session": str(shown.pk)})["Location"]

    page = browser.get(sandbox).content.decode()
    assert "Start over" in page
    assert f'value="{shown.pk}"' in page
    assert b"sandbox" not in people.client("owner").get(f"/s/{shown.pk}/").content, "users with an account fork instead"


def test_starting_over_leaves_one_sandbox(shown):
    browser = Client()
    first, second = (browser.post("/demo/sandbox/", {"session": str(shown.pk)})["Location"] for _ in range(2))

    assert first != second
    assert Session.objects.filter(forked_from=shown).count() == 1
    assert Visitor.objects.count() == 1


def test_starting_over_is_rate_limited_and_the_current_sandbox_is_kept(shown, settings, audit):
    settings.DEMO_RESTARTS_PER_MINUTE = 2
    browser, other = Client(), Client()
    responses = [browser.post("/demo/sandbox/", {"session": str(shown.pk)}) for _ in range(5)]

    assert [response.status_code for response in responses] == [302, 302, 302, 429, 429]
    assert b"2 times a minute" in responses[-1].content
    assert browser.get(responses[2]["Location"]).status_code == 200
    assert audit().count("sandbox_made") == 1, "one entry per visitor, regardless of how often they start over"

    for _ in range(2):
        assert other.post("/demo/sandbox/", {"session": str(shown.pk)}).status_code == 302, "another visitor"


def test_visitors_cannot_invite(shown, audit):
    browser = APIClient()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    sandbox = Session.objects.get(forked_from=shown)

    refused = browser.post(f"/api/v1/sessions/{sandbox.pk}/invites/", {"uses": 1000, "days": 90}, format="json")

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "Visitors of the public demo" in refused.json()["detail"]
    assert "invite_made" not in audit()


def test_visitors_cannot_run_experiments(shown):
    browser = APIClient()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})

    refused = browser.post("/api/v1/experiments/", {"plan": "experiment: 1\nbase: {generate: {nodes: 5000}}"}, format="json")

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "Visitors of the public demo" in refused.json()["detail"]


@pytest.mark.parametrize("what", ["session", "lesson"])
def test_visitors_cannot_open_rooms(shown, what):
    browser = APIClient()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    sandbox = Session.objects.get(forked_from=shown)
    body = {"session": str(sandbox.pk)} if what == "session" else {"lesson": "the-list"}

    refused = browser.post("/api/v1/rooms/", body, format="json")

    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert not Room.objects.exists()


@pytest.mark.parametrize("demo_is_on", [True, False])
def test_an_invite_by_a_visitor_creates_no_account(shown, settings, demo_is_on):
    """The invite was created by an older release."""
    browser = APIClient()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    sandbox = Session.objects.get(forked_from=shown)
    assert sandbox.owner is not None
    _, secret = invites.make(sandbox, sandbox.owner)
    settings.PUBLIC_DEMO = demo_is_on
    user = User.objects.create_user("known")

    stranger, member = Client(), Client()
    assert b"password2" not in stranger.get(f"/invite/{secret}/").content
    stranger.post(f"/invite/{secret}/", {"username": "mallory", "password1": "only-for-this-1", "password2": "only-for-this-1"})
    member.force_login(user)

    assert not User.objects.filter(username="mallory").exists()
    assert member.post(f"/invite/{secret}/").status_code == 302, "a user with an account can still accept it"


def test_the_sessions_of_a_visitor_are_limited(shown, settings):
    settings.DEMO_SESSIONS_PER_VISITOR = 2
    browser = APIClient()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})

    assert browser.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json").status_code == 201
    refused = browser.post("/api/v1/sessions/", {"generate": {"nodes": 2}}, format="json")
    assert refused.status_code == 409
    assert "SCHEDVIZ_DEMO_SESSIONS_PER_VISITOR" in refused.json()["detail"]


def test_an_expired_sandbox_is_deleted_with_its_visitor(shown):
    browser = Client()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    assert sweep_visitors() == 0

    Visitor.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert sweep_visitors() == 1

    assert not Session.objects.filter(forked_from=shown).exists()
    assert not User.objects.filter(username__startswith="visitor-").exists()
    assert browser.get("/s/" + str(shown.pk) + "/").status_code == 200, "the visitor still has read access to the demo"


def test_sandboxes_are_limited_in_total_and_per_address(shown, settings):
    settings.DEMO_VISITORS = 2
    assert [Client().post("/demo/sandbox/", {"session": str(shown.pk)}).status_code for _ in range(3)] == [302, 302, 503]

    settings.DEMO_VISITORS = 100
    settings.MADE_PER_HOUR = 3
    assert Client().post("/demo/sandbox/", {"session": str(shown.pk)}).status_code == 429


@pytest.mark.parametrize("session", ["", "nonsense", "00000000-0000-4000-8000-000000000000", "not shown"])
def test_a_session_outside_of_the_demo_has_no_sandbox(shown, session):
    given = str(Session.objects.get(name="not shown").pk) if session == "not shown" else session

    assert Client().post("/demo/sandbox/", {"session": given}).status_code == 404
    assert not Visitor.objects.exists()


def test_creating_a_sandbox_needs_a_csrf_token(shown):
    assert Client(enforce_csrf_checks=True).post("/demo/sandbox/", {"session": str(shown.pk)}).status_code == 403


def test_visitors_of_one_network_count_together(shown, people, settings):
    settings.PROXIES = 1
    addresses = ("192.0.2.7", "192.0.2.7", "2001:db8::1", "2001:db8::2")
    for address in addresses:
        Client(headers={"X-Forwarded-For": address}).post("/demo/sandbox/", {"session": str(shown.pk)})
    visitors = list(Visitor.objects.order_by("pk"))

    found = [senders.sender_group_of(f"user {visitor.pk}") for visitor in visitors]
    assert [turn.group for turn in found] == ["visitors"] * 4
    assert found[0].sender == found[1].sender != found[2].sender == found[3].sender
    assert not any(address in visitor.network for address in addresses for visitor in visitors)
    assert senders.sender_group_of(f"user {people.owner.pk}") == senders.SenderGroup(f"user {people.owner.pk}")
    settings.PUBLIC_DEMO = False
    assert senders.sender_group_of(f"user {visitors[0].pk}").group == ""


def test_visitors_share_the_large_body_limit_of_clients_without_an_account(shown):
    browser = Client()
    browser.post("/demo/sandbox/", {"session": str(shown.pk)})
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())

    assert body_limit._authenticate({b"cookie": cookies.encode()}, is_upload=True) == "without an account"
