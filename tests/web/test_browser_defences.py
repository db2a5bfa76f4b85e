"""Defences against other sites and injected text in a user's browser: headers, cookies, CSRF, redirects."""

from __future__ import annotations

import importlib
import os
import re

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from tests.web.conftest import People

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def policy_of(response) -> dict[str, str]:
    return dict(part.strip().split(" ", 1) for part in response["Content-Security-Policy"].split(";"))


@pytest.mark.parametrize(
    "address",
    ["/login/", "/sessions/", "/s/{}/", "/api/v1/sessions/", "/api/v1/sessions/{}/", "/healthz", "/nothing/", "/static/app/favicon.svg"],
)
@pytest.mark.parametrize("role", ["owner", "anonymous"])
def test_every_response_disables_unneeded_browser_features(people: People, address: str, role: str) -> None:
    response = people.client(role).get(address.format(people.session.pk))

    assert policy_of(response) == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in response
    assert "Server" not in response


def test_browsers_that_came_over_https_are_told_to_keep_using_it(people: People, settings) -> None:
    """As RFC 6797 has it, the header is sent over HTTPS alone: browsers ignore it elsewhere."""
    settings.SECURE_HSTS_SECONDS = 30 * 24 * 3600

    assert people.client("owner").get("/login/", secure=True)["Strict-Transport-Security"] == "max-age=2592000"
    assert "Strict-Transport-Security" not in people.client("owner").get("/login/")


def test_no_page_has_inline_scripts_or_styles(people: People) -> None:
    for address in ("/login/", "/sessions/", f"/s/{people.session.pk}/", "/nothing/"):
        page = people.client("owner").get(address).content.decode()
        assert not re.search(r"<script(?![^>]* src=)", page)
        assert not re.search(r"<style|\sstyle=|\son\w+=", page)
        assert not re.search(r"(?:src|href|action)=[\"']?(?:https?:)?//", page)


def test_responses_about_sessions_are_not_cached(people: People) -> None:
    for address in (f"/s/{people.session.pk}/", "/sessions/", "/login/", "/nothing/", f"/s/{people.session.pk}/picture.png"):
        assert "no-store" in people.client("owner").get(address)["Cache-Control"]


def test_the_login_cookie_is_host_only_and_unreadable_to_scripts(people: People) -> None:
    people.owner.set_password("a long password")
    people.owner.save()
    client = Client()
    client.get("/login/")
    response = client.post("/login/", {"username": "owner", "password": "a long password"})

    login, csrf = response.cookies[settings.SESSION_COOKIE_NAME], client.cookies[settings.CSRF_COOKIE_NAME]
    assert login["httponly"]
    assert (login["samesite"], csrf["samesite"]) == ("Lax", "Lax")
    assert login["domain"] == ""


def test_a_login_sets_a_new_cookie(people: People) -> None:
    people.owner.set_password("a long password")
    people.owner.save()
    client = Client()
    # A session from before the login, as a login with OpenID Connect begins one.
    session = client.session
    session["begun"] = True
    session.save()
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.post("/login/", {"username": "owner", "password": "a long password"})

    assert client.cookies[settings.SESSION_COOKIE_NAME].value != before


def test_a_public_server_sends_cookies_only_over_https(monkeypatch: pytest.MonkeyPatch) -> None:
    from schedviz import settings

    monkeypatch.setitem(os.environ, "SCHEDVIZ_PUBLIC", "1")
    try:
        public = importlib.reload(settings)
        assert public.SESSION_COOKIE_SECURE
        assert public.CSRF_COOKIE_SECURE
        assert public.SECURE_HSTS_SECONDS >= 30 * 24 * 3600
    finally:
        monkeypatch.undo()
        importlib.reload(settings)


def browser_of(people: People, role: str) -> APIClient:
    browser = APIClient(enforce_csrf_checks=True)
    if role == "editor-link":
        people.open_link(browser, role)
    else:
        browser.force_login(getattr(people, role))
    return browser


@pytest.mark.parametrize("role", ["owner", "editor-link"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_cross_origin_page_cannot_send_a_command_with_a_users_cookie(people: People, redis: object, role: str, kind: str) -> None:
    """A form or a fetch of another site brings the cookie at most, never the token."""
    address = f"/api/v1/sessions/{people.session.pk}/commands/"
    response = browser_of(people, role).generic(
        "POST", address, '{"op": "pause"}', content_type=kind, headers={"Origin": "https://evil.example"}
    )

    assert response.status_code in {403, 415}
    people.session.refresh_from_db()
    assert people.session.last_seq == 0


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://testserver", 202), ("https://evil.example", 403), ("null", 403), ("http://testserver.evil.example", 403)],
)
def test_a_csrf_token_does_not_help_a_foreign_origin(people: People, redis: object, origin: str, status: int) -> None:
    browser = browser_of(people, "owner")
    browser.get(f"/s/{people.session.pk}/")
    token = browser.cookies[settings.CSRF_COOKIE_NAME].value

    response = browser.post(
        f"/api/v1/sessions/{people.session.pk}/commands/", {"op": "pause"}, format="json", headers={"X-CSRFToken": token, "Origin": origin}
    )

    assert response.status_code == status


@pytest.mark.parametrize("address", ["/logout/", "/login/"])
def test_forms_need_the_csrf_token_too(people: People, address: str) -> None:
    assert browser_of(people, "owner").post(address).status_code == 403


def test_a_get_changes_nothing(people: People) -> None:
    browser = browser_of(people, "owner")

    assert browser.get("/logout/").status_code == 405
    assert browser.get("/sessions/").status_code == 200


@pytest.mark.parametrize(
    "following",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
        "http:///evil.example",
        "/%09/evil.example",
        "\thttps://evil.example",
    ],
)
def test_redirects_stay_on_the_site(people: People, following: str) -> None:
    people.owner.set_password("a long password")
    people.owner.save()

    response = Client().post("/login/", {"username": "owner", "password": "a long password", "next": following})

    assert response["Location"] in {"/", following} and not re.match(r"^\s*(//|\\|/\\|https?:|javascript:)", response["Location"])  # noqa: PT018


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:80", ""])
def test_an_unknown_host_name_is_refused(people: People, host: str, settings) -> None:
    """DNS rebinding: a page of another name that resolves to this server."""
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost"]

    assert people.client("owner").get("/api/v1/sessions/", headers={"Host": host}).status_code == 400


def test_addresses_in_responses_ignore_forwarded_hosts(people: People) -> None:
    body = people.client("owner").get(f"/api/v1/sessions/{people.session.pk}/", headers={"X-Forwarded-Host": "evil.example"}).json()

    assert "evil.example" not in str(body)
