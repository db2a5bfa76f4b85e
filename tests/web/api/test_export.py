"""Sessions as files, over REST."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from threading import Event
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from schedviz.sessions.models import Command, Session
from schedviz.sessions.transfer import deletion, import_job
from schedviz.web.api.download import MIN_RATE, Download, Slot, downloads
from schedviz.web.api.errors import ApiError
from schedviz.web.api.shared_computations import MAX_STATES, MAX_TRACES, STATES, TRACES
from schedviz.web.server.waiting_requests import MAX_WAITING, requester, worker_waits
from tests.conftest import until
from tests.sessions.conftest import MakeSession, make_session, send, work_off  # noqa: F401  (a fixture)
from tests.web.conftest import People


@pytest.fixture
def ran(people: People, make_session: MakeSession) -> UUID:  # noqa: F811
    session_id = make_session(nodes=2, pods=3)
    send(session_id, "run")
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner, name="My cluster / 1")
    return session_id


def test_an_exported_session_can_be_imported(people: People, ran: UUID) -> None:
    owner = people.client("owner")

    response = owner.get(f"/api/v1/sessions/{ran}/export/")
    data = b"".join(response.streaming_content)
    sent = owner.post("/api/v1/sessions/", {"file": SimpleUploadedFile("x.schedviz", data)}, format="multipart")
    import_job.run_import(UUID(sent.json()["id"]))

    assert response["Content-Type"] == "application/gzip"
    assert response["Content-Disposition"] == 'attachment; filename="My-cluster-1.schedviz"'
    again = owner.get(sent.json()["url"]).json()
    assert (again["status"], again["event"], again["report"]["file"]["verified"]) == ("ready", Session.objects.get(pk=ran).event, True)


def test_a_moment_is_downloaded_as_a_trace_that_can_be_imported(people: People, ran: UUID) -> None:
    owner = people.client("owner")

    response = owner.get(f"/api/v1/sessions/{ran}/export/", {"format": "trace"})
    document = response.json()

    assert response["Content-Disposition"] == 'attachment; filename="My-cluster-1.json"'
    assert [step["op"] for step in document["steps"]] == ["create"] * 5 + ["run"]
    assert owner.post("/api/v1/sessions/", {"trace": document}, format="json").status_code == 201


def test_traces_wait_for_other_traces_and_not_for_large_states(people: People, ran: UUID) -> None:
    owner = people.client("owner")
    address = f"/api/v1/sessions/{ran}/export/?format=trace"
    with ExitStack() as others:
        for number in range(MAX_STATES):
            token = requester.set(f"user {number}")
            others.enter_context(STATES.slot())
            requester.reset(token)
        assert owner.get(address).status_code == 200
    with ExitStack() as others:
        for number in range(MAX_TRACES + MAX_WAITING):
            token = requester.set(f"user {number}")
            others.enter_context(TRACES.slot() if number < MAX_TRACES else worker_waits.slot())
            requester.reset(token)
        assert owner.get(address).status_code == 503
    assert owner.get(address).status_code == 200


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"format": "zip"}, "?format"),
        ({"format": "trace", "to": "x"}, "?to"),
        ({"format": "trace", "from": "x"}, "?from"),
        ({"format": "trace", "from": "30", "to": "30"}, "?from"),
        ({"format": "trace", "from": "100000"}, "?from"),
    ],
)
def test_a_session_that_cannot_be_exported_gets_an_error_that_says_why(people: People, ran: UUID, query: dict[str, str], path: str) -> None:
    response = people.client("owner").get(f"/api/v1/sessions/{ran}/export/", query)

    assert (response.status_code, response.json()["error"]["detail"]["path"]) == (400, path)


def test_an_exported_session_is_restored_on_a_server_that_has_none_of_it(people: People, ran: UUID) -> None:
    before = people.client("owner").get(f"/api/v1/sessions/{ran}/events/?limit=5000").json()["results"]
    state = people.client("owner").get(f"/api/v1/sessions/{ran}/state/").json()
    data = b"".join(people.client("owner").get(f"/api/v1/sessions/{ran}/export/").streaming_content)
    deletion.delete_session(ran)
    assert not Command.objects.exists()

    sent = people.client("stranger").post("/api/v1/sessions/", {"file": SimpleUploadedFile("x", data)}, format="multipart").json()
    import_job.run_import(UUID(sent["id"]))

    again = f"/api/v1/sessions/{sent['id']}/"
    assert people.client("stranger").get(again).json()["report"]["file"]["verified"] is True
    assert people.client("stranger").get(f"{again}events/?limit=5000").json()["results"] == before
    # How many chunks the events are committed in depends on the time that they took.
    of_session = {"id": str(ran), "chunk": state["chunk"]}
    assert {**people.client("stranger").get(f"{again}state/").json(), **of_session} == state


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"format": "schedviz-session/9"}, "this version of schedviz reads schedviz-session/1"),
        ({"commands": 2_000_000}, "the limit commands is 1,000,000"),
        ({"objects": 2_000_000}, "the limit objects is"),
        ({"settings": 3}, "line 1 is no manifest"),
    ],
)
def test_a_file_whose_first_line_is_wrong_is_refused_at_once(people: People, ran: UUID, head: dict[str, object], message: str) -> None:
    data = b"".join(people.client("owner").get(f"/api/v1/sessions/{ran}/export/").streaming_content)
    first, rest = gzip.decompress(data).split(b"\n", 1)
    wrong = gzip.compress(msgspec.json.encode({**json.loads(first), **head}) + b"\n" + rest)

    response = people.client("owner").post("/api/v1/sessions/", {"file": SimpleUploadedFile("x.schedviz", wrong)}, format="multipart")

    assert (response.status_code, response.json()["error"]["detail"]["path"]) == (400, "file")
    assert message in response.json()["error"]["message"]
    assert not Session.objects.filter(name="x").exists()


def test_a_file_that_is_too_large_is_refused_at_once(people: People, ran: UUID, settings: Any) -> None:
    data = b"".join(people.client("owner").get(f"/api/v1/sessions/{ran}/export/").streaming_content)
    settings.UPLOAD_BYTES = 100

    response = people.client("owner").post("/api/v1/sessions/", {"file": SimpleUploadedFile("x.schedviz", data)}, format="multipart")

    assert (response.status_code, response.json()["error"]["code"]) == (413, "too_large")
    assert "UPLOAD_BYTES" in response.json()["error"]["message"]


def test_a_session_without_a_beginning_is_refused(owner_client: APIClient, people: People) -> None:
    response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/export/")

    assert (response.status_code, response.json()["error"]["code"]) == (409, "not_exportable")


def test_a_user_without_access_gets_no_file(people: People, ran: UUID) -> None:
    assert people.client("stranger").get(f"/api/v1/sessions/{ran}/export/").status_code == 404


@pytest.mark.django_db
def test_a_download_is_sent_while_it_is_produced() -> None:
    made: list[int] = []

    def pieces():
        for number in range(3):
            made.append(number)
            yield b"x"

    async def take_one() -> bytes:
        download = Download(pieces(), downloads.acquire())
        try:
            return await anext(aiter(download))
        finally:
            download.close()

    assert asyncio.run(take_one()) == b"x"
    assert made == [0]


@pytest.mark.django_db
def test_one_part_of_each_client_is_produced_at_a_time() -> None:
    may_end = Event()
    producing: Counter[str] = Counter()

    def pieces(client: str) -> Iterator[bytes]:
        producing[client] += 1
        may_end.wait(30)
        yield b"x"

    async def take(client: str) -> bytes:
        requester.set(client)
        download = Download(pieces(client), downloads.acquire())
        try:
            return b"".join([part async for part in download])
        finally:
            download.close()

    async def take_all() -> list[bytes]:
        taking = [asyncio.create_task(take(client)) for client in ("user 1", "user 1", "user 1", "user 2")]
        await asyncio.to_thread(until, lambda: producing["user 2"] == 1)
        assert producing["user 1"] == 1
        may_end.set()
        return await asyncio.gather(*taking)

    assert asyncio.run(take_all()) == [b"x"] * 4


def test_a_user_may_have_half_of_all_downloads(people: People, ran: UUID, settings: Any) -> None:
    settings.DOWNLOADS = 2
    address = f"/api/v1/sessions/{ran}/export/"
    requester.set(f"user {people.owner.pk}")
    own = downloads.acquire()
    refused = [people.client("owner").get(address, query) for query in ({}, {"format": "trace"}, {"format": "trace", "observed": "1"})]
    own.release()
    others = []
    for user in (people.editor, people.viewer):
        requester.set(f"user {user.pk}")
        others.append(downloads.acquire())
    third = people.client("owner").get(address)
    for other in others:
        other.release()

    for response in refused:
        assert (response.status_code, response.json()["code"], response["Retry-After"]) == (503, "busy", "10")
        assert "You have 1 downloads running, your share of the limit SCHEDVIZ_DOWNLOADS" in response.json()["detail"]
    assert "2 downloads at the moment, the limit SCHEDVIZ_DOWNLOADS" in third.json()["detail"]
    assert b"".join(people.client("owner").get(address).streaming_content)


def test_slow_readers_without_an_account_leave_downloads_for_users(settings: Any) -> None:
    settings.DOWNLOADS = 8
    slots: list[Slot] = []
    counts: list[int] = []
    for who in ("address 192.0.2.1", "address 192.0.2.2", "visitors of x", "guest 192.0.2.3 ada", "user 1", "user 2", "user 3"):
        requester.set(who)
        counts.append(0)
        with suppress(ApiError):
            while True:
                slots.append(downloads.acquire())
                counts[-1] += 1
    for slot in slots:
        slot.release()
    assert counts == [1, 1, 1, 1, 2, 1, 1]
    assert not downloads._running.total


def test_a_client_without_a_download_takes_the_place_of_the_slowest_reader(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DOWNLOADS = 4
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    ended: list[str] = []

    def begun(who: str) -> Slot:
        requester.set(who)
        slot = downloads.acquire()
        slot.disconnect = lambda: ended.append(who)
        return slot

    with ExitStack() as held:
        slots = {who: begun(who) for who in ("user 1", "address 192.0.2.1", "user 2", "user 3")}
        for who, size in (("user 1", 0), ("address 192.0.2.1", MIN_RATE), ("user 2", 5 * MIN_RATE)):
            held.enter_context(slots[who].reading(size))
        now[0] += 12
        # Another download of a client that has one ends nobody's. User 2 is slow by 7 s, and for user 3 a part is being produced.
        for who in ("address 192.0.2.1", "user 3"):
            with pytest.raises(ApiError):
                begun(who)
        assert not ended
        slots["user 4"] = begun("user 4")
        assert ended == ["user 1"]
        slots["address 192.0.2.2"] = begun("address 192.0.2.2")
        assert ended == ["user 1", "address 192.0.2.1"]
        for who in ("user 5", "address 192.0.2.3"):
            with pytest.raises(ApiError):
                begun(who)
        for slot in slots.values():
            slot.release()
            slot.release()
    assert not downloads._running.total


def test_a_client_below_the_rate_earns_no_credit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    slot = downloads.acquire()
    lags: list[float] = []
    for size, seconds in ((MIN_RATE, 3), (MIN_RATE, 1), (MIN_RATE, 0), (100 * MIN_RATE, 0), (0, 4)):
        with slot.reading(size):
            now[0] += seconds
        lags.append(slot.lag)
    slot.release()
    assert lags == [2, 2, 1, 0, 4]


def test_a_download_that_ended_or_could_not_begin_leaves_its_slot(
    owner_client: APIClient, people: People, ran: UUID, settings: Any
) -> None:
    settings.DOWNLOADS = 1
    for _ in range(3):
        assert owner_client.get(f"/api/v1/sessions/{people.session.pk}/export/").status_code == 409
        assert b"".join(owner_client.get(f"/api/v1/sessions/{ran}/export/").streaming_content)
        assert owner_client.get(f"/api/v1/sessions/{ran}/export/", {"format": "trace"}).status_code == 200
    owner_client.get(f"/api/v1/sessions/{ran}/export/").close()

    assert b"".join(owner_client.get(f"/api/v1/sessions/{ran}/export/").streaming_content)
