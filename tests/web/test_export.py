"""Sessions as files, over REST."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from schedviz.sessions import importing
from schedviz.sessions.models import Session
from schedviz.web.api.export import Download
from tests.sessions.conftest import MakeSession, make_session, send, work_off  # noqa: F401  (a fixture)
from tests.web.conftest import People


@pytest.fixture
def ran(people: People, make_session: MakeSession) -> UUID:  # noqa: F811
    session_id = make_session(nodes=2, pods=3)
    send(session_id, "run")
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner, name="My cluster / 1")
    return session_id


def test_what_is_downloaded_can_be_uploaded(people: People, ran: UUID) -> None:
    owner = people.client("owner")

    response = owner.get(f"/api/v1/sessions/{ran}/export/")
    data = b"".join(response.streaming_content)
    sent = owner.post("/api/v1/sessions/", {"file": SimpleUploadedFile("x.schedviz", data)}, format="multipart")
    importing.import_uploads(UUID(sent.json()["id"]))

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


@pytest.mark.parametrize(
    ("query", "path"),
    [({"format": "zip"}, "?format"), ({"format": "trace", "to": "x"}, "?to"), ({"format": "trace", "from": "3"}, "?from")],
)
def test_what_cannot_be_asked_for_is_named(people: People, ran: UUID, query: dict[str, str], path: str) -> None:
    response = people.client("owner").get(f"/api/v1/sessions/{ran}/export/", query)

    assert (response.status_code, response.json()["error"]["detail"]["path"]) == (400, path)


def test_a_session_without_a_beginning_is_refused(owner_client: APIClient, people: People) -> None:
    response = owner_client.get(f"/api/v1/sessions/{people.session.pk}/export/")

    assert (response.status_code, response.json()["error"]["code"]) == (409, "not_exportable")


def test_a_stranger_gets_no_file(people: People, ran: UUID) -> None:
    assert people.client("stranger").get(f"/api/v1/sessions/{ran}/export/").status_code == 404


def test_a_download_is_sent_while_it_is_made() -> None:
    made: list[int] = []

    def pieces():
        for number in range(3):
            made.append(number)
            yield b"x"

    async def take_one() -> bytes:
        return await anext(aiter(Download(pieces())))

    assert asyncio.run(take_one()) == b"x"
    assert made == [0]
