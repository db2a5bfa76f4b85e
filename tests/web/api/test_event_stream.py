"""Events as a stream, read as curl reads them, from the real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from schedviz.web.api.download import downloads
from schedviz.web.api.endpoints import event_stream
from schedviz.web.auth.actors import Actor
from schedviz.web.auth.login import make_token
from schedviz.web.live.client_names import ClientNames
from schedviz.web.server.waiting_requests import requester
from tests.conftest import until

pytestmark = pytest.mark.django_db(transaction=True)
SSE, NDJSON = {"Accept": "text/event-stream"}, {"Accept": "application/x-ndjson"}


@pytest.fixture
def curl(web_server, people) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {make_token(people.owner, 'curl')}"}
    with httpx.Client(base_url=f"http://{web_server.netloc}/api/v1/sessions/{people.session.pk}/", headers=headers, timeout=20) as client:
        yield client


def event_numbers(lines: Iterator[str], count: int) -> list[int]:
    """The numbers of the next server-sent events."""
    ids: list[int] = []
    for line in lines:
        if line.startswith("id: "):
            ids.append(int(line[4:]))
        if line.startswith("data: ") and ids:
            assert json.loads(line[6:])["event"] == ids[-1]
        if len(ids) == count and line == "":
            break
    return ids


def test_a_stream_sends_all_stored_events_and_ends(curl, commits):
    for _ in range(3):
        commits.chunk(events=400)

    lines = curl.get("events/", headers=NDJSON, params={"after": 100}).text.splitlines()

    assert [json.loads(line)["event"] for line in lines] == list(range(101, 1201))


def test_a_stream_continues_with_new_events(curl, commits):
    commits.chunk(events=3)
    with curl.stream("GET", "events/", headers=SSE) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        first = event_numbers(response.iter_lines(), 3)
    with curl.stream("GET", "events/", headers={**SSE, "Last-Event-ID": str(first[-1])}) as response:
        commits.chunk(events=2)
        commits.chunk(events=1)
        then = event_numbers(response.iter_lines(), 3)

    assert (first, then) == ([1, 2, 3], [4, 5, 6])


def test_a_frame_is_encoded_once_for_all_streams(curl, commits, monkeypatch):
    encoded = []
    encode = event_stream._encode
    monkeypatch.setattr(event_stream, "_encode", lambda data, write: encoded.append(data) or encode(data, write))
    commits.chunk(events=1)
    with ExitStack() as at_end:
        streams = [at_end.enter_context(curl.stream("GET", "events/", headers=SSE)).iter_lines() for _ in range(3)]
        assert [event_numbers(lines, 1) for lines in streams] == [[1]] * 3
        commits.chunk(events=2)
        assert [event_numbers(lines, 2) for lines in streams] == [[2, 3]] * 3
    assert len(encoded) <= 1


def test_a_client_has_a_limited_number_of_streams(curl, commits, monkeypatch):
    monkeypatch.setattr(event_stream, "MAX_STREAMS_OF_ONE_CLIENT", 1)
    commits.chunk(events=1)
    with curl.stream("GET", "events/", headers=SSE) as first:
        lines = first.iter_lines()
        assert event_numbers(lines, 1) == [1]
        with curl.stream("GET", "events/", headers=SSE) as second:
            assert "You have 1 event streams" in next(line for line in second.iter_lines() if line.startswith("data: "))
    until(lambda: not event_stream._streams)
    with curl.stream("GET", "events/", headers=SSE) as again:
        assert event_numbers(again.iter_lines(), 1) == [1]


def test_participants_of_one_network_share_the_limit_of_streams():
    def client_of(actor: Actor, network: str) -> str:
        return event_stream._client_of(actor, ClientNames(actor.identity), network)

    ada, bob = Actor(guest="ada"), Actor(guest="bob")
    assert client_of(ada, "192.0.2.1") == client_of(bob, "192.0.2.1")
    assert client_of(ada, "192.0.2.2") != client_of(bob, "192.0.2.1")
    assert client_of(Actor(user_id=7, guest="ada"), "192.0.2.1") == "user 7"
    assert event_stream._client_of(Actor(), ClientNames("", "address 192.0.2.1"), "192.0.2.1") == "address 192.0.2.1"


def test_events_missing_in_redis_are_read_from_the_database(curl, commits):
    commits.chunk(events=1)
    with curl.stream("GET", "events/", headers=SSE) as response:
        lines = response.iter_lines()
        assert event_numbers(lines, 1) == [1]
        commits.chunk(events=2, publish=False)
        commits.chunk(events=2)
        assert event_numbers(lines, 4) == [2, 3, 4, 5]


def test_a_quiet_stream_sends_keepalives(curl, commits, monkeypatch):
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.05)
    with curl.stream("GET", "events/", headers=SSE) as response:
        assert ": still here" in response.iter_lines()


def test_a_client_that_loses_access_is_notified_and_disconnected(curl, commits, people, monkeypatch):
    from schedviz.web.models import Token

    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0.0)
    with curl.stream("GET", "events/", headers=NDJSON, params={"follow": 1}) as response:
        lines = response.iter_lines()
        next(lines)
        Token.objects.all().delete()
        last = [line for line in lines if line][-1]

    assert json.loads(last)["t"] == "ended"


def test_a_user_without_access_gets_no_stream(web_server, people):
    response = httpx.get(f"http://{web_server.netloc}/api/v1/sessions/{people.session.pk}/events/", headers=SSE)

    assert response.status_code == 404


def test_a_stored_stream_ends_when_access_is_lost_while_it_is_read(curl, commits, people, monkeypatch):
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0)
    monkeypatch.setattr(event_stream, "_EVENTS_AT_ONCE", 1)
    commits.chunk(events=50)
    pages = iter(range(100))

    def allowed(*_: object) -> bool:
        return next(pages) < 10

    monkeypatch.setattr(event_stream, "allowed", allowed)
    lines = [json.loads(line) for line in curl.get("events/", headers=NDJSON).text.splitlines()]

    assert len(lines) == 11
    assert lines[-1]["t"] == "ended"


def test_stored_streams_count_as_downloads(curl, commits, people, settings, caplog):
    settings.DOWNLOADS = 2
    commits.chunk(events=3)
    requester.set(f"user {people.owner.pk}")
    slot = downloads.acquire()

    refused = curl.get("events/", headers=NDJSON)
    followed = curl.stream("GET", "events/", headers=SSE)
    with followed as response:
        assert response.status_code == 200
    slot.release()

    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    # A limit is no error of the server, for which its operator would be called.
    assert not [record for record in caplog.records if record.name == "django.request"]
    for _ in range(5):
        assert len(curl.get("events/", headers=NDJSON).text.splitlines()) == 3
