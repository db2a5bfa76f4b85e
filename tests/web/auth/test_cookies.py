"""Cookies have the installation in their names, and those of earlier releases are accepted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session as DjangoSession
from django.test import Client
from django.utils import timezone

from schedviz.web.environment import instance_of
from schedviz.web.live.handshake import credentials_of
from tests.web.conftest import People

pytestmark = pytest.mark.django_db

HOST = "127.0.0.1:8777"


@pytest.fixture
def old(people: People) -> Client:
    """A browser that logged in at an earlier release."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.owner)
    client.get("/sessions/")
    for name, before in ((settings.SESSION_COOKIE_NAME, "schedviz_login"), (settings.CSRF_COOKIE_NAME, "schedviz_csrf")):
        client.cookies[before] = client.cookies.pop(name).value
    return client


def test_names_are_the_same_for_the_same_secret_key_and_differ_for_another() -> None:
    assert instance_of("a" * 48) == instance_of("a" * 48) != instance_of("b" * 48)
    names = {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.ROOM_GUEST_COOKIE, settings.LOGIN_BROWSER_COOKIE}
    assert len(names) == 4
    assert all(name.endswith(f"_{instance_of(settings.SECRET_KEY)}") for name in names)


def test_a_login_under_the_old_cookie_name_stays_valid_and_gets_the_new_name(old: Client, people: People) -> None:
    token = old.cookies["schedviz_csrf"].value

    changed = old.patch(f"/api/v1/sessions/{people.session.pk}/", {"name": "x"}, "application/json", headers={"X-CSRFToken": token})

    assert changed.status_code == 200, "a page that was open during the upgrade goes on"
    assert old.cookies[settings.SESSION_COOKIE_NAME].value == old.cookies["schedviz_login"].value
    page = old.get("/sessions/")
    assert page.status_code == 200
    assert page.cookies[settings.CSRF_COOKIE_NAME].value == token


def test_a_cookie_of_another_instance_logs_nobody_in_and_is_kept(people: People) -> None:
    browser = Client()
    browser.cookies["schedviz_login"] = "of-another-instance"

    page = browser.get("/sessions/")

    assert page.status_code == 302
    assert browser.cookies["schedviz_login"].value == "of-another-instance"


@pytest.mark.parametrize("address", ["/logout/", "/admin/logout/"])
def test_a_logout_does_not_uncover_a_login_under_the_old_name(old: Client, people: People, address: str) -> None:
    browser = Client()
    browser.force_login(people.staff)
    browser.cookies["schedviz_login"] = old.cookies["schedviz_login"].value

    assert browser.post(address).status_code == 302

    assert browser.cookies["schedviz_login"].value == ""
    assert browser.get("/sessions/").status_code == 302


def test_the_new_cookie_name_wins_over_the_old_one(old: Client, people: People) -> None:
    other = Client()
    other.force_login(people.stranger)
    other.cookies["schedviz_login"] = old.cookies["schedviz_login"].value

    assert other.get(f"/s/{people.session.pk}/").status_code == 404


def test_a_socket_accepts_a_login_under_either_cookie_name() -> None:
    headers = [(b"host", HOST.encode()), (b"origin", f"http://{HOST}".encode())]

    for name in ("schedviz_login", settings.SESSION_COOKIE_NAME):
        assert credentials_of({"headers": [*headers, (b"cookie", f"{name}=abc".encode())]}).cookie == "abc"


def test_a_participant_of_a_room_is_recognised_by_the_old_cookie_name() -> None:
    from django.http import HttpResponse

    from schedviz.web.auth.cookies import adopt_old
    from schedviz.web.rooms import guests

    response = HttpResponse()
    guests.set_cookie(response, "a-secret", secure=False)
    cookies = {"schedviz_guest": response.cookies[settings.ROOM_GUEST_COOKIE].value}
    adopt_old(cookies)

    assert guests.guest_of(cookies)


def test_a_login_that_expired_because_of_a_wrong_clock_is_valid_again_with_the_right_one(people: People) -> None:
    browser = Client()
    browser.force_login(people.owner)
    secret = browser.cookies[settings.SESSION_COOKIE_NAME].value
    logins = DjangoSession.objects.filter(session_key=secret)
    until = logins.get().expire_date

    logins.update(expire_date=timezone.now() - timedelta(hours=1))
    page = browser.get("/sessions/")
    assert page.status_code == 302
    assert settings.SESSION_COOKIE_NAME not in page.cookies

    logins.update(expire_date=until)
    assert browser.get("/sessions/").status_code == 200
    browser.post("/logout/")
    assert browser.cookies[settings.SESSION_COOKIE_NAME].value == ""
