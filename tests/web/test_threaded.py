"""Requests are answered in threads that stay, and so do their connections to the database."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db.backends.signals import connection_created

from schedviz.sessions.models import Session
from tests.sessions.conftest import MakeSession, make_session  # noqa: F401  (a fixture)
from tests.web.conftest import LiveServer, People


@pytest.fixture
def connected() -> Iterator[list[Any]]:
    """Each connection that is opened to the database."""
    opened: list[Any] = []

    def note(connection: Any, **_: object) -> None:
        opened.append(connection)

    connection_created.connect(note)
    yield opened
    connection_created.disconnect(note)


@pytest.fixture
def client(web_server: LiveServer, people: People) -> Iterator[httpx.Client]:
    headers = {"Authorization": people.client("owner-token")._credentials["HTTP_AUTHORIZATION"]}
    # Past a limit of idle ones httpx's pool closes a connection that another thread is just about to use.
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=None)
    with httpx.Client(base_url=f"http://{web_server.netloc}", headers=headers, limits=limits, timeout=60) as made:
        yield made


def test_one_request_after_the_other_opens_no_connections(client: httpx.Client, connected: list[Any]) -> None:
    for _ in range(20):
        assert client.get("/api/v1/sessions/").status_code == 200

    # A thread that has just answered may not be free yet when the next request comes.
    assert len(connected) <= 2


def test_more_than_there_are_threads_are_all_answered(client: httpx.Client, connected: list[Any]) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: client.get("/api/v1/sessions/").status_code, range(200)))

    assert answers == [200] * 200
    assert len(connected) <= 32


def test_a_download_closes_its_connection(
    client: httpx.Client,
    people: People,
    make_session: MakeSession,  # noqa: F811
    connected: list[Any],
) -> None:
    session_id = make_session(nodes=2, pods=3)
    Session.objects.filter(pk=session_id).update(owner=people.owner)
    assert client.get("/api/v1/sessions/").status_code == 200
    opened = len(connected)

    assert client.get(f"/api/v1/sessions/{session_id}/export/").status_code == 200

    while all(one.connection is not None for one in connected[opened:]):
        time.sleep(0.01)
