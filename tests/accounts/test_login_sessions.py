"""Expired login sessions are deleted by the sweeper, a limited number at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as LoginSession
from django.test import Client
from django.utils import timezone

from schedviz.sessions.hosting import sweep
from schedviz.web.accounts import login_sessions

pytestmark = pytest.mark.django_db


def logins(number: int, *, expired: bool) -> None:
    at = timezone.now() + timedelta(days=-1 if expired else 1)
    LoginSession.objects.bulk_create(LoginSession(session_key=f"{expired}-{n}", session_data="", expire_date=at) for n in range(number))


def test_the_sweeper_deletes_only_expired_logins() -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    logins(3, expired=True)
    sweep._periodic_interval.reset()

    sweep.sweep()

    assert [obj.session_key for obj in LoginSession.objects.all()] == [client.session.session_key]
    assert client.get("/sessions/").status_code == 200


def test_expired_logins_are_deleted_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_sessions, "_DELETED_AT_ONCE", 2)
    logins(5, expired=True)
    logins(1, expired=False)

    assert [login_sessions.delete_expired() for _ in range(4)] == [2, 2, 1, 0]
    assert LoginSession.objects.count() == 1
