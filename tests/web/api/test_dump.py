"""The SIGUSR2 dump of a session at a position, over REST."""

from __future__ import annotations

import json
import re
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create
from tests.conftest import Worker, until
from tests.sessions.conftest import dump, send, work_off
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")


@pytest.fixture
def address(people: People, io_worker: Worker) -> str:
    source = create.Files([ContentFile(dump(2, 2), name="cluster.json")])
    session_id: UUID = create.create_session(None, "a test", source).pk
    until(lambda: Session.objects.get(pk=session_id).status == Session.Status.READY)
    send(session_id, "cycle")
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner)
    return f"/api/v1/sessions/{session_id}/dump/"


def test_a_session_is_dumped_at_its_newest_and_at_a_past_moment(owner: APIClient, address: str) -> None:
    now, before = owner.get(address), owner.get(f"{address}?at=0")

    assert now["Content-Type"] == "text/plain; charset=utf-8"
    head, *_ = now.content.decode().splitlines()
    assert re.fullmatch(r'I0101 00:00:00\.001\d{3}       1 dumper\.go:52\] "Dump of cached NodeInfo" nodes=<', head)
    assert 'summary="activeQ:1; backoffQ:0; unschedulablePods:0"' in now.content.decode()
    assert 'summary="activeQ:2; backoffQ:0; unschedulablePods:0"' in before.content.decode()


def test_a_dump_can_be_json_and_verbose(owner: APIClient, address: str) -> None:
    lines = [json.loads(line) for line in owner.get(f"{address}?format=json&v=3").content.decode().splitlines()]

    assert [line["msg"] for line in lines] == [
        "Cache comparer started",
        "Cache comparer finished",
        "Dump of cached NodeInfo",
        "Dump of scheduling queue",
    ]


@pytest.mark.parametrize(("query", "path"), [("format=xml", "?format"), ("v=loud", "?v"), ("at=-1", "?at")])
def test_an_invalid_query_is_reported(owner: APIClient, address: str, query: str, path: str) -> None:
    refused = owner.get(f"{address}?{query}")

    assert refused.status_code == 400
    assert refused.json()["error"]["detail"]["path"] == path
