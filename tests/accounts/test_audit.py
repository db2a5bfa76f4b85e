"""The audit log: what is written down, what never is, who reads it, how long it is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from schedviz.web.accounts.audit import forget_old
from schedviz.web.accounts.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_logins_are_written_down_with_where_they_came_from_and_never_a_password(people, audit):
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


def test_sharing_exporting_and_deleting_are_written_down(people, audit):
    owner, session = people.client("owner-token"), f"/api/v1/sessions/{people.session.pk}/"
    link = owner.post(f"{session}links/", {"role": "editor"}, format="json").json()
    owner.delete(f"{session}links/{link['id']}/")
    owner.get(f"{session}export/")
    owner.delete(session)

    assert audit() == ["link_made", "link_revoked", "session_exported", "session_deleted"]
    entry = AuditEntry.objects.get(action="session_deleted")
    assert (entry.user_name, entry.by_way_of, entry.session) == ("owner", "token token", people.session.pk)
    assert entry.facts["name"] == "a session"
    assert link["url"].partition("link=")[2] not in str(list(AuditEntry.objects.values()))


def test_an_entry_outlives_whom_it_tells_of(people):
    people.client("owner-token").delete(f"/api/v1/sessions/{people.session.pk}/")
    User.objects.get(username="owner").delete()

    entry = AuditEntry.objects.get()
    assert (entry.user, entry.user_name) == (None, "owner")


def test_staff_reads_it_in_pages_and_selects(people):
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


def test_it_is_kept_for_so_many_days(people, settings):
    AuditEntry.objects.create(action="login", at=timezone.now() - timedelta(days=91))
    AuditEntry.objects.create(action="login", at=timezone.now() - timedelta(days=89))

    settings.AUDIT_DAYS = 0
    assert forget_old(now=True) == 0
    settings.AUDIT_DAYS = 90
    assert forget_old(now=True) == 1
    assert AuditEntry.objects.count() == 1


@pytest.mark.parametrize(("proxies", "address"), [(0, "127.0.0.1"), (1, "198.51.100.9"), (2, "203.0.113.7")])
def test_a_forwarded_address_is_believed_as_far_as_there_are_proxies(people, settings, proxies, address):
    settings.PROXIES = proxies
    Client().post("/login/", {"username": "x", "password": "y"}, headers={"X-Forwarded-For": "1.2.3.4, 203.0.113.7, 198.51.100.9"})

    assert AuditEntry.objects.get().address == address
