"""The history of one object, over REST."""

from __future__ import annotations

from uuid import UUID

import pytest
from rest_framework.test import APIClient

from schedviz.sessions.models import Session
from tests.sessions.conftest import MakeSession, make_session, send, work_off  # noqa: F401  (a fixture)
from tests.web.conftest import People


@pytest.fixture
def recorded(people: People, make_session: MakeSession) -> UUID:  # noqa: F811
    session_id = make_session(nodes=2, pods=3)
    send(session_id, "run")
    work_off(session_id)
    Session.objects.filter(pk=session_id).update(owner=people.owner)
    return session_id


def test_the_history_of_a_pod_is_paginated(owner: APIClient, recorded: UUID) -> None:
    url = f"/api/v1/sessions/{recorded}/stories/pods/default/pod-1/"

    whole = owner.get(url).json()
    first = owner.get(url, {"limit": 3}).json()
    second = owner.get(url, {"limit": 1000, "after": first["next"]}).json()
    last = owner.get(url, {"tail": 2}).json()

    assert whole["kind"] == "pods"
    assert whole["name"] == "default/pod-1"
    assert whole["lives"] == [{"uid": "default/pod-1", "born": 0, "died": None}]
    assert whole["results"][0] == {
        "event": 1, "clockSeconds": whole["results"][0]["clockSeconds"], "cycle": 1, "t": "queueMoved", "text": "popped from activeQ",
        "phrase": {"template": "popped from {queue}", "values": {"queue": "activeQ"}}, "uid": "default/pod-1"
    }  # fmt: skip
    assert first["results"] + second["results"] == whole["results"]
    assert (whole["next"], whole["previous"], second["next"]) == (None, None, None)
    assert last["results"] == whole["results"][-2:]
    assert last["previous"] == last["results"][0]["event"]


def test_the_history_of_an_object_ends_at_the_requested_moment(owner: APIClient, recorded: UUID) -> None:
    url = f"/api/v1/sessions/{recorded}/stories/nodes/node-1/"
    whole = owner.get(url).json()
    middle = whole["results"][3]["event"]

    history = owner.get(url, {"at": middle}).json()

    assert history["at"] == middle
    assert history["results"] == whole["results"][:4]
    assert owner.get(url, {"at": middle, "tail": 1}).json()["results"] == [whole["results"][3]]


def test_a_parameter_that_is_not_a_number_is_refused_by_name(owner: APIClient, recorded: UUID) -> None:
    response = owner.get(f"/api/v1/sessions/{recorded}/stories/nodes/node-1/", {"at": "now"})

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == "?at"


def test_a_user_without_access_gets_404(people: People, recorded: UUID) -> None:
    response = people.client("stranger").get(f"/api/v1/sessions/{recorded}/stories/pods/default/pod-1/")

    assert response.status_code == 404


@pytest.fixture
def owner(people: People) -> APIClient:
    return people.client("owner")
