"""Who may make a session that calls extenders."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedviz.sessions.models import Session

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")


@pytest.mark.parametrize(
    ("asked", "users", "status"), [(True, ["ann"], 201), (True, ["bob"], 403), (False, [], 201), ("yes", ["ann"], 400)]
)
def test_a_session_that_calls_extenders_needs_leave(settings: Any, asked: object, users: list[str], status: int) -> None:
    settings.EXTENDER_USERS = users
    client = Client()
    client.force_login(User.objects.create_user("ann"))
    body = {"generate": {"nodes": 2, "pods": 2}, "callExtenders": asked}

    answer = client.post("/api/v1/sessions/", body, content_type="application/json")

    assert answer.status_code == status, answer.content
    assert list(Session.objects.values_list("calls_extenders", flat=True)) == ([asked] if status == 201 else [])
