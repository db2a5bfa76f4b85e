"""Changing a password."""

from __future__ import annotations

import time

import pytest
from django.test import Client

from schedviz.web.accounts.models import PasswordAttempt

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


def test_changing_a_password_ends_other_logins(browser, people, audit):
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
def test_a_wrong_or_weak_password_changes_nothing(browser, people, old, new, again):
    assert b'role="alert"' in change(browser, old, new, again).content
    people.owner.refresh_from_db()
    assert people.owner.check_password("a long password")


def test_users_without_a_password_cannot_change_one(people):
    assert people.client("viewer").get("/password/").status_code == 404
    assert people.client("anonymous").get("/password/")["Location"] == "/login/?next=/password/"


def test_wrong_passwords_are_limited_as_on_the_login_page(browser, settings):
    settings.LOGINS_PER_MINUTE = 2

    statuses = [change(browser, "wrong", "quite-another-one-7").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert browser.get("/password/").status_code == 200


NETWORKS = [f"198.51.100.{n}" for n in range(20)]


def log_in(address: str, password: str, name: str = "owner") -> int:
    return Client(REMOTE_ADDR=address).post("/login/", {"username": name, "password": password}).status_code


@pytest.mark.parametrize("name", ["owner", "nobody of this name", "a\0b"])
def test_wrong_passwords_for_one_account_are_limited_across_all_addresses(browser, settings, name):
    settings.WRONG_PASSWORDS_PER_HOUR = 3

    assert [log_in(address, "wrong", name) for address in NETWORKS[:5]] == [200, 200, 200, 429, 429]
    assert log_in(NETWORKS[9], "a long password") == (429 if name == "owner" else 302)
    assert log_in(NETWORKS[9], "wrong", "editor") == 200
    assert browser.post("/password/", {}, REMOTE_ADDR=NETWORKS[10]).status_code == (429 if name == "owner" else 200)


def test_wrong_passwords_by_others_do_not_lock_a_user_out_of_a_network_they_use(browser, settings):
    settings.WRONG_PASSWORDS_PER_HOUR = 3
    assert log_in("2001:db8:1:2::7", "a long password") == 302
    assert [log_in(address, "wrong") for address in NETWORKS[:4]] == [200, 200, 200, 429]

    assert log_in("2001:db8:1:2::8", "a long password") == 302
    # A correct password resets the count.
    assert log_in(NETWORKS[5], "wrong") == 200


def test_wrong_passwords_on_the_password_page_count_for_the_account(browser, settings):
    settings.WRONG_PASSWORDS_PER_HOUR = 2

    assert [change(browser, "wrong", "quite-another-one-7").status_code for _ in range(2)] == [200, 200]
    assert log_in(NETWORKS[0], "wrong") == 429


def test_password_attempts_are_counted_across_all_web_processes_and_expire_after_an_hour(browser, settings):
    settings.LOGINS_PER_MINUTE = 2
    assert [log_in(NETWORKS[0], "wrong") for _ in range(3)] == [200, 200, 429]
    # The counts of another process are in the database, where this one reads them.
    assert PasswordAttempt.objects.count() == 4
    assert not any("198.51" in obj.who or "owner" in obj.who for obj in PasswordAttempt.objects.all())

    PasswordAttempt.objects.update(at=time.time() - 61)
    assert log_in(NETWORKS[0], "wrong") == 200
    PasswordAttempt.objects.update(at=time.time() - 3601)
    assert log_in(NETWORKS[1], "wrong") == 200
    assert PasswordAttempt.objects.count() == 2
