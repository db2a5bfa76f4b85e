"""The cases that ship with schedviz, over REST."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.conftest import RedisServer, Worker, until
from tests.web.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_sample_can_be_listed_downloaded_and_opened_as_a_session(people: People, redis: RedisServer, engine_worker: Worker) -> None:
    until(engine_worker.is_ready)
    owner = people.client("owner")
    listed = owner.get("/api/v1/samples/").json()["results"]
    assert "nominated-for-ever" in [each["name"] for each in listed]
    assert all(each["description"] for each in listed)
    trace = owner.get("/api/v1/samples/nominated-for-ever/").json()
    made = owner.post("/api/v1/sessions/", {"name": "a case", "trace": trace}, format="json")
    assert made.status_code in (201, 202), made.content


def test_an_unknown_sample_gets_404_with_the_known_ones(people: People) -> None:
    response = people.client("owner").get("/api/v1/samples/nobody/")
    assert response.status_code == 404
    assert "nominated-for-ever" in response.json()["error"]["message"]
    assert Client().get("/api/v1/samples/").status_code in (401, 403)


def test_every_case_has_its_trace_its_fix_and_its_thumbnail(people: People) -> None:
    owner = people.client("owner")
    listed = owner.get("/api/v1/cases/").json()["results"]
    assert len(listed) >= 10
    for case in listed:
        trace = owner.get(f"/api/v1/samples/{case['name']}/").json()
        namespace, name = case["pod"].split("/")
        created = [step["object"]["metadata"] for step in trace["steps"] if step["op"] == "create"]
        assert {"name": name, "namespace": namespace}.items() <= next(one for one in created if one["name"] == name).items()
        assert case["fix"]
        assert case["action"]
        assert case["commands"][-1] == {"op": "run"}
        assert case["thumbnail"]["nodes"]
