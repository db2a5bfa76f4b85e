"""`GET /healthz`."""

from __future__ import annotations

import json

import pytest
from django.db import OperationalError
from django.urls import get_resolver

from schedviz.sessions.redis import stream
from schedviz.web import health

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(health, "_last", (0.0, {}))
    # Otherwise the first request loads the views, for longer than a heartbeat lasts.
    get_resolver().url_patterns  # noqa: B018


def beat(*queues: str) -> None:
    for queue in queues:
        stream.client().set(f"schedviz:worker:{queue}@test", json.dumps([queue]), ex=5)


def test_healthz_is_200_when_everything_is_up(client, redis):
    beat("engine", "io")

    response = client.get("/healthz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok", "down": [], "web": "ok", "database": "ok", "redis": "ok", "workers": "ok"}


def test_a_queue_without_workers_is_named(client, redis):
    beat("engine")

    response = client.get("/healthz")

    assert response.status_code == 503
    assert response.json()["down"] == ["workers"]
    assert "io" in response.json()["workers"]


def test_an_unreachable_redis_is_named(client, redis):
    redis.kill()
    try:
        response = client.get("/healthz")
    finally:
        redis.start()

    assert response.status_code == 503
    assert response.json()["down"] == ["redis", "workers"]


def test_an_unreachable_database_is_named(client, redis, monkeypatch):
    def fail(*_: object) -> None:
        raise OperationalError("connection refused")

    beat("engine", "io")
    monkeypatch.setattr(health.connection, "cursor", fail)

    response = client.get("/healthz")

    assert response.status_code == 503
    assert response.json()["down"] == ["database"]


def test_the_health_of_one_web_server_can_be_requested(client, redis):
    redis.kill()
    try:
        response = client.get("/healthz?self")
    finally:
        redis.start()

    assert (response.status_code, response.json()) == (200, {"status": "ok", "web": "ok"})
