"""Quotas over REST."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from rest_framework.test import APIClient

from schedviz.sessions import quotas
from schedviz.sessions.models import Session
from tests.web.conftest import People


def test_users_read_their_own_use_and_all_limits(people: People, settings: Any) -> None:
    settings.NODES_PER_USER, settings.BYTES_IN_ALL = 500, 10_000
    Session.objects.update(nodes=7, pods=70, object_count=80, cycle=20, fork_cycle=5)
    quotas.clear_cache()

    results = people.client("owner-read-token").get("/api/v1/quotas/").json()["results"]

    assert {one["kind"]: one["used"] for one in results if one["own"]} == {
        "sessions": 1,
        "nodes": 7,
        "pods": 70,
        "objects": 80,
        "cycles": 15,
        "bytes": 0,
    }
    assert {"kind": "nodes", "setting": "SCHEDVIZ_NODES_PER_USER", "limit": 500, "used": 7, "own": True} in results
    assert {"kind": "bytes", "setting": "SCHEDVIZ_BYTES_IN_ALL", "limit": 10_000, "used": None, "own": False} in results
    assert people.client("anonymous").get("/api/v1/quotas/").status_code == 401
    assert people.client("stranger").get("/api/v1/quotas/").json()["results"][1]["used"] == 0


def test_a_quota_that_is_used_up_refuses_with_409_and_its_setting(people: People, settings: Any) -> None:
    Session.objects.update(pods=70)
    owner = people.client("owner")
    settings.PODS_PER_USER = 70
    quotas.clear_cache()

    made = owner.post("/api/v1/sessions/", {"generate": {"nodes": 2, "pods": 5}}, format="json")
    body = {
        "op": "create",
        "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}},
    }
    sent = owner.post(f"/api/v1/sessions/{people.session.pk}/commands/", body, format="json")

    for response in (made, sent):
        assert (response.status_code, response.json()["error"]["code"]) == (409, "quota_reached")
        assert "SCHEDVIZ_PODS_PER_USER allows 70" in response.json()["error"]["message"]


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_create_no_more_sessions_than_the_quota_allows(people: People, settings: Any, redis: object) -> None:
    settings.SESSIONS_PER_USER = Session.objects.filter(owner=people.owner).count() + 2
    quotas.clear_cache()

    clients = [people.client("owner-token")] * 12

    def create(client: APIClient) -> int:
        try:
            response = client.post("/api/v1/sessions/", {"generate": {"nodes": 1, "pods": 1}}, format="json")
            return int(response.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as threads:
        statuses = sorted(threads.map(create, clients))

    assert statuses == [201] * 2 + [409] * 10
    assert Session.objects.filter(owner=people.owner).count() == settings.SESSIONS_PER_USER
