"""Changing a password."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(people) -> Client:
    people.owner.set_password("a long password")
    people.owner.save()
    client = Client()
    client.force_login(people.owner)
    return client


def change(client: Client, old: str, new: str, again: str | None = None):
    return client.post("/password/", {"old_password": old, "new_password1": new, "new_password2": new if again is None else again})


def test_a_password_is_changed_and_other_logins_end(browser, people, audit):
    elsewhere = Client()
    elsewhere.force_login(people.owner)
    assert change(browser, "a long password", "quite-another-one-7").status_code == 200

    assert browser.get("/sessions/").status_code == 200
    assert elsewhere.get("/sessions/")["Location"].startswith("/login/")
    people.owner.refresh_from_db()
    assert people.owner.check_password("quite-another-one-7")
    assert audit()[-1] == "password_changed"


@pytest.mark.parametrize(
    ("old", "new", "again"),
    [("wrong", "quite-another-one-7", None), ("a long password", "12345678", None), ("a long password", "quite-another-one-7", "x")],
)
def test_a_wrong_or_weak_one_changes_nothing(browser, people, old, new, again):
    assert b'role="alert"' in change(browser, old, new, again).content
    people.owner.refresh_from_db()
    assert people.owner.check_password("a long password")


def test_who_has_none_has_none_to_change(people):
    assert people.client("viewer").get("/password/").status_code == 404
    assert people.client("anonymous").get("/password/")["Location"] == "/login/?next=/password/"


def test_wrong_passwords_are_limited_as_at_the_login(browser, settings):
    settings.LOGINS_PER_MINUTE = 2

    statuses = [change(browser, "wrong", "quite-another-one-7").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert browser.get("/password/").status_code == 200
