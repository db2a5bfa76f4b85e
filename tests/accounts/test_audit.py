"""The audit log: recorded and excluded events, access and retention."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from schedviz.web.accounts.audit import delete_expired
from schedviz.web.accounts.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_logins_are_audited_with_their_address_and_without_passwords(people, audit):
    people.owner.set_password("a long password")
    people.owner.save()
    client = Client(REMOTE_ADDR="203.0.113.7")
    client.post("/login/", {"username": "owner", "password": "a wrong password"})
    client.post("/login/", {"username": "owner", "password": "a long password"})
    client.post("/logout/")

    assert audit() == ["login_failed", "login", "logout"]
    assert set(AuditEntry.objects.values_list("address", flat=True)) == {"203.0.113.7"}
    assert "password" not in str(list(AuditEntry.objects.values())).replace("'password", "")
    assert AuditEntry.objects.get(action="login_failed").facts == {"tried": "owner"}


def test_a_failed_login_is_audited_with_the_attempted_name_on_one_line(people, client):
    client.post("/login/", {"username": "somebody\r\nelse" + "x" * 1000, "password": "y"})

    entry = AuditEntry.objects.get(action="login_failed")
    assert entry.user is None
    assert entry.user_name.startswith("somebody\ufffd\ufffdelse")
    assert len(entry.user_name) <= 150
    assert people.client("staff-token").get("/api/v1/audit/?action=login_failed").json()["results"][0]["user"] == entry.user_name


def test_session_names_are_removed_from_older_audit_entries(people):
    entry = AuditEntry.objects.create(action="session_exported", session=people.session.pk, facts={"name": "a secret", "format": "trace"})
    other = AuditEntry.objects.create(action="admin_changed", facts={"name": "not of a session"})

    import_module("schedviz.web.accounts.migrations.0002_no_session_names").forget_names(apps, None)

    entry.refresh_from_db()
    other.refresh_from_db()
    assert (entry.facts, other.facts) == ({"format": "trace"}, {"name": "not of a session"})


def test_no_staff_page_shows_the_name_of_a_session(people):
    owner, session = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/"
    owner.patch(session, {"name": "a takeover of Initech"}, format="json")
    owner.post(f"{session}links/", {}, format="json")
    owner.post(f"{session}invites/", {}, format="json")
    owner.get(f"{session}export/")
    staff = people.client("staff")
    for kind in ("auditentry", "hostedsession", "invite", "token"):
        page = staff.get(f"/admin/accounts/{kind}/" if kind != "token" else "/admin/web/token/")
        assert page.status_code == 200
        assert b"Initech" not in page.content
    for entry in AuditEntry.objects.all():
        assert b"Initech" not in staff.get(f"/admin/accounts/auditentry/{entry.pk}/change/").content
    assert b"Initech" not in staff.get("/api/v1/audit/").content


def test_exports_are_audited_once_an_hour_for_each_user_and_session(people):
    session = f"/api/v1/sessions/{people.session.pk}/export/"
    owner, viewer = people.client("owner-token"), people.client("viewer")
    for _ in range(3):
        owner.get(session)
        viewer.get(session)

    exports = AuditEntry.objects.filter(action="session_exported")
    assert sorted(exports.values_list("user_name", flat=True)) == ["owner", "viewer"]
    AuditEntry.objects.update(at=timezone.now() - timedelta(hours=1, seconds=1))
    owner.get(session)
    assert exports.count() == 3


def test_sharing_exporting_and_deleting_are_audited(people, audit):
    owner, session = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/"
    link = owner.post(f"{session}links/", {"role": "editor"}, format="json").json()
    owner.delete(f"{session}links/{link['id']}/")
    owner.get(f"{session}export/")
    owner.delete(session)

    assert audit() == ["link_made", "link_revoked", "session_exported", "session_deleted"]
    entry = AuditEntry.objects.get(action="session_deleted")
    assert (entry.user_name, entry.by_way_of, entry.session) == ("owner", "token token", people.session.pk)
    assert "a session" not in str(list(AuditEntry.objects.values())), "staff must not see the names of sessions"
    assert link["url"].partition("link=")[2] not in str(list(AuditEntry.objects.values()))


def test_an_audit_entry_outlives_its_user(people):
    people.client("owner-token").delete(f"/api/v1/sessions/{people.session.pk}/")
    User.objects.get(username="owner").delete()

    entry = AuditEntry.objects.get()
    assert (entry.user, entry.user_name) == (None, "owner")


def test_staff_can_page_through_and_filter_the_audit_log(people):
    for number in range(5):
        AuditEntry.objects.create(action="login" if number % 2 else "logout", user_name=f"user-{number}", session=people.session.pk)
    staff = people.client("staff-token")

    first = staff.get("/api/v1/audit/?limit=2").json()
    second = staff.get(f"/api/v1/audit/?limit=2&before={first['next']}").json()
    assert [one["user"] for one in first["results"] + second["results"]] == ["user-4", "user-3", "user-2", "user-1"]
    assert [one["user"] for one in staff.get("/api/v1/audit/?action=login").json()["results"]] == ["user-3", "user-1"]
    assert [one["user"] for one in staff.get("/api/v1/audit/?user=user-2").json()["results"]] == ["user-2"]
    assert len(staff.get(f"/api/v1/audit/?session={people.session.pk}").json()["results"]) == 5
    assert staff.get("/api/v1/audit/?session=nonsense").status_code == 400


def test_audit_entries_expire_after_the_configured_number_of_days(people, settings):
    AuditEntry.objects.create(action="login", at=timezone.now() - timedelta(days=91))
    AuditEntry.objects.create(action="login", at=timezone.now() - timedelta(days=89))

    settings.AUDIT_DAYS = 0
    assert delete_expired(now=True) == 0
    settings.AUDIT_DAYS = 90
    assert delete_expired(now=True) == 1
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(("proxies", "address"), [(0, "127.0.0.1"), (1, "198.51.100.9"), (2, "203.0.113.7")])
def test_a_forwarded_address_is_trusted_only_up_to_the_number_of_proxies(people, settings, proxies, address):
    settings.PROXIES = proxies
    Client().post("/login/", {"username": "x", "password": "y"}, headers={"X-Forwarded-For": "1.2.3.4, 203.0.113.7, 198.51.100.9"})

    assert AuditEntry.objects.get().address == address
