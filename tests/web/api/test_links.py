"""Share links over REST."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.core import signing
from django.http import Http404
from django.test import Client
from rest_framework.test import APIClient

from schedviz.sessions.models import Session, ShareLink
from schedviz.web.auth import share_links
from schedviz.web.auth.authentication import hashed
from schedviz.web.rooms.opening import open_room
from tests.web.conftest import People, make_session


def test_a_session_has_at_most_100_active_share_links(people: People) -> None:
    owner, address = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/links/"
    first = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"}).json()
    live = len(share_links.active_links(people.session))
    ShareLink.objects.bulk_create(
        ShareLink(session=people.session, digest=f"{number:064x}", role="viewer", created_by=people.owner) for number in range(100 - live)
    )

    refused = owner.post(address, {}, format="json")
    again = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"})
    owner.delete(f"{address}{first['id']}/")
    created = owner.post(address, {}, format="json")

    assert (refused.status_code, refused.json()["code"]) == (409, "quota_reached")
    assert refused.json()["detail"] == "This session has 100 active share links, which is the limit. Revoke one to create another."
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    assert created.status_code == 201


def test_the_idempotency_key_of_a_revoked_link_returns_no_link(people: People) -> None:
    owner, address = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/links/"
    first = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"}).json()
    owner.delete(f"{address}{first['id']}/")

    again = owner.post(address, {}, format="json", headers={"Idempotency-Key": "first"})

    assert (again.status_code, again.json()["code"], "url" in again.json()) == (409, "key_reused", False)


def test_a_session_deleted_meanwhile_gets_neither_a_link_nor_a_room(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, user = people.client("owner-token"), people.session.owner
    Session.objects.filter(pk=people.session.pk).delete()
    monkeypatch.setattr("schedviz.web.api.endpoints.links.session_for", lambda *_: people.session)

    assert owner.post(f"/api/v1/sessions/{people.session.pk}/links/", {}, format="json").status_code == 404
    with pytest.raises(Http404):
        open_room(user, people.session)


def test_opening_a_share_link_without_a_login_stores_nothing(people: People) -> None:
    people.make_link("link")
    page = f"/s/{people.session.pk}/"
    for _ in range(3):
        browser = APIClient()
        opened = browser.get(page, {"link": "secret-link", "at": "3"})
        assert (opened.status_code, opened["Location"]) == (302, f"{page}?at=3")

    assert browser.get(f"/api/v1/sessions/{people.session.pk}/").json()["role"] == "viewer"
    assert browser.get(page).status_code == 200
    assert BrowserSession.objects.count() == 0
    assert settings.SESSION_COOKIE_NAME not in browser.cookies
    kept = browser.cookies[settings.LINKS_COOKIE]
    assert (kept["httponly"], kept["samesite"], kept["max-age"]) == (True, "Lax", settings.SESSION_COOKIE_AGE)
    assert "secret-link" not in kept.value


def test_a_browser_keeps_the_20_newest_share_links_and_ignores_forged_ones(people: People) -> None:
    people.make_link("link")
    browser, page = APIClient(), f"/s/{people.session.pk}/"
    browser.get(page, {"link": "secret-link"})
    for number in range(20):
        ShareLink.objects.create(session=make_session(people.owner), digest=hashed(f"secret-{number}"), role="viewer")
        assert browser.get(page).status_code == 200
        browser.get(page, {"link": f"secret-{number}"})

    assert browser.get(page).status_code == 302
    assert browser.get("/api/v1/sessions/").json()["count"] == 20
    browser.cookies[settings.LINKS_COOKIE] = signing.dumps([hashed("secret-link")], salt="another", key="another")
    assert browser.get(page).status_code == 302


def test_a_link_stays_open_with_a_login_and_ends_with_the_logout(people: People) -> None:
    browser, page = Client(), f"/s/{people.session.pk}/"
    people.make_link("link")
    browser.get(page, {"link": "secret-link"})
    browser.force_login(people.stranger)
    assert browser.get(page).status_code == 200

    browser.post("/logout/")

    assert browser.get(page).status_code == 302


def test_a_link_in_a_session_of_an_older_version_is_still_open(people: People) -> None:
    people.make_link("link")
    browser = Client()
    session = browser.session
    session["schedviz_links"] = [hashed("secret-link")]
    session.save()

    assert browser.get(f"/s/{people.session.pk}/").status_code == 200
