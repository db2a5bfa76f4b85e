"""Invites: a link with a limited number of uses that adds members, or lets people create an account."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from schedviz.web.accounts import pages
from schedviz.web.accounts.models import Invite

pytestmark = pytest.mark.django_db

PASSWORDS = {"password1": "only-for-this-test-1", "password2": "only-for-this-test-1"}


def invite(people, **body: object) -> str:
    made = people.client("owner-token").post(f"/api/v1/sessions/{people.session.pk}/invites/", body, format="json")
    assert made.status_code == 201, made.content
    return made.json()["url"].removeprefix("http://testserver")


def test_accepting_an_invite_adds_a_member(people, audit):
    url = invite(people, role="editor", note="for the stranger")
    browser = people.client("stranger")

    shown = browser.get(url)
    assert b"a session" in shown.content
    assert browser.get(f"/api/v1/sessions/{people.session.pk}/").status_code == 404, "a GET request does not accept the invite"

    assert browser.post(url)["Location"] == f"/s/{people.session.pk}/"
    assert browser.get(f"/api/v1/sessions/{people.session.pk}/").json()["role"] == "editor"
    assert people.client("viewer").get(url).status_code == 404, "it could be used once"
    assert "invite_accepted" in audit()


def test_only_the_hash_is_stored_and_the_secret_is_shown_once(people):
    secret = invite(people).split("/")[2]

    assert secret not in str(Invite.objects.values())
    listed = people.client("owner-token").get(f"/api/v1/sessions/{people.session.pk}/invites/").json()["results"]
    assert [one["url"] for one in listed] == [None]


def test_an_invite_for_two_can_be_used_twice_and_members_with_the_role_use_none(people):
    url = invite(people, uses=2)

    for name in ("viewer", "editor", "owner"):
        assert people.client(name).post(url).status_code == 302
    assert Invite.objects.get().uses_left == 2
    for name in ("stranger", "staff"):
        assert people.client(name).post(url).status_code == 302
    assert Invite.objects.get().uses_left == 0


@pytest.mark.parametrize("how", ["revoked", "expired", "its owner is shut out", "its maker is no longer the owner", "wrong"])
def test_an_invalid_or_expired_invite_gets_404(people, how):
    url = invite(people)
    if how == "revoked":
        number = Invite.objects.get().pk
        assert people.client("owner-token").delete(f"/api/v1/sessions/{people.session.pk}/invites/{number}/").status_code == 204
    elif how == "expired":
        Invite.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "its owner is shut out":
        User.objects.filter(username="owner").update(is_active=False)
    elif how == "its maker is no longer the owner":
        people.session.owner = people.editor
        people.session.save()
    else:
        url = "/invite/wrong/"

    for client in (people.client("stranger"), Client()):
        assert client.get(url).status_code == 404
        assert client.post(url).status_code == 404


def test_an_invite_creates_an_account(people, audit):
    browser = Client()
    url = invite(people)
    assert b'name="password2"' in browser.get(url).content

    weak = browser.post(url, {"username": "newcomer", "password1": "12345678", "password2": "12345678"})
    assert weak.status_code == 200
    assert not User.objects.filter(username="newcomer").exists()

    assert browser.post(url, {"username": "newcomer", **PASSWORDS})["Location"] == f"/s/{people.session.pk}/"
    assert browser.get(f"/api/v1/sessions/{people.session.pk}/").json()["role"] == "viewer"
    assert not User.objects.get(username="newcomer").is_staff
    assert audit()[-3:] == ["account_made", "login", "invite_accepted"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_uses_of_a_single_use_invite_create_one_account(people, settings, monkeypatch):
    url = invite(people)
    before = User.objects.count()
    together = threading.Barrier(4)

    def when_all_are_here(*_: object) -> bool:
        together.wait(timeout=30)
        return True

    monkeypatch.setattr(pages, "may_create", when_all_are_here)

    def accept(number: int) -> tuple[int, bool]:
        try:
            browser = Client()
            response = browser.post(url, {"username": f"newcomer-{number}", **PASSWORDS})
            return response.status_code, settings.SESSION_COOKIE_NAME in browser.cookies
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        responses = sorted(threads.map(accept, range(4)))

    assert responses == [(302, True)] + [(404, False)] * 3
    assert User.objects.count() == before + 1
    assert Invite.objects.get().uses_left == 0


def test_an_operator_can_restrict_account_creation_to_invites_by_staff(people, settings):
    settings.INVITES_MAKE_ACCOUNTS = False
    browser, url = Client(), invite(people)
    assert b"password2" not in browser.get(url).content
    browser.post(url, {"username": "newcomer", **PASSWORDS})
    assert not User.objects.filter(username="newcomer").exists()

    staff = people.client("staff-token").post("/api/v1/invites/", {"uses": 1}, format="json").json()["url"]
    assert browser.post(staff.removeprefix("http://testserver"), {"username": "newcomer", **PASSWORDS})["Location"] == "/sessions/"
    assert User.objects.filter(username="newcomer").exists()


def test_account_creation_per_address_is_limited_per_hour(people, settings):
    settings.MADE_PER_HOUR = 2
    url = invite(people, uses=10)

    responses = [Client().post(url, {"username": f"newcomer-{n}", **PASSWORDS}).status_code for n in range(4)]

    assert responses == [302, 302, 429, 429]
    assert User.objects.filter(username__startswith="newcomer").count() == 2


@pytest.mark.parametrize("name", ["local", " local", "\uff4cocal"])
def test_an_invited_user_cannot_take_the_name_of_the_local_user(people, name):
    """`schedviz token create` without `--user` makes a token of that user."""
    response = Client().post(invite(people), {"username": name, **PASSWORDS})

    assert b"This username is reserved" in response.content
    assert not User.objects.filter(username="local").exists()


def test_created_accounts_are_counted_across_all_web_processes(people, settings):
    settings.MADE_PER_HOUR = 1
    url = invite(people, uses=10)
    assert Client().post(url, {"username": "newcomer-1", **PASSWORDS}).status_code == 302

    # As in another process, or after a restart.
    cache.clear()

    assert Client().post(url, {"username": "newcomer-2", **PASSWORDS}).status_code == 429


def test_open_invites_are_limited(people, monkeypatch):
    from schedviz.web.accounts import invites

    monkeypatch.setattr(invites, "MAX_OPEN_INVITES", 1)
    invite(people)
    second = people.client("owner-token").post(f"/api/v1/sessions/{people.session.pk}/invites/", {}, format="json")

    assert (second.status_code, second.json()["code"]) == (409, "quota_reached")
