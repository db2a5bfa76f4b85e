"""Forks over REST: permissions and ownership. The worker's part runs in the test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedviz.sessions import quotas
from schedviz.sessions.forks import requests
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import import_job
from tests.sessions import conftest as working

make_session = working.make_session


@pytest.fixture
def ran(people, make_session):
    """The session of `people`, with some history."""
    session_id = make_session()
    working.send(session_id, "run", max=3)
    session = working.work_off(session_id)
    session.owner = people.owner
    session.save()
    people.session.memberships.update(session=session)
    people.session.delete()
    return session


def fork(client, session, **body):
    return client.post(f"/api/v1/sessions/{session.pk}/branches/", body, format="json")


@pytest.mark.parametrize(
    ("role", "status"),
    [
        ("owner", 201),
        ("editor-token", 201),
        ("viewer", 201),
        ("owner-read-token", 403),
        ("stranger", 404),
        ("stranger-token", 404),
        ("anonymous", 404),
    ],
)
def test_logged_in_viewers_may_fork(people, ran, role, status):
    assert fork(people.client(role), ran).status_code == status


def test_forking_with_only_a_share_link_requires_a_login(people, ran):
    linked = replace(people, session=ran)

    assert fork(linked.client("link"), ran).status_code == 401


def test_a_fork_to_another_release_starts_its_scheduler_with_the_objects_of_the_moment(people, ran):
    client = people.client("viewer")
    response = fork(client, ran, at=60, release="v1.36", featureGates={}, key="upgrade")
    made = response.json()
    assert (response.status_code, made["release"], made["name"]) == (201, "v1.36", "a test (fork after event 60, v1.36)")
    import_job.run_import(made["id"])

    body = client.get(f"/api/v1/sessions/{made['id']}/").json()
    moment = body["forkedFrom"]["event"]
    before, after = (client.get(f"/api/v1/sessions/{one}/state/?at={at}").json() for one, at in ((ran.pk, moment), (made["id"], 0)))

    assert (body["status"], body["release"], body["event"]) == ("ready", "v1.36", 0)
    assert body["forkedFrom"] == {"id": str(ran.pk), "name": "a test", "event": moment}
    assert moment >= 60
    assert before["api"]["objects"] == after["api"]["objects"]
    assert after["clockSeconds"] < 0.001 < before["clockSeconds"]
    assert [one["id"] for one in client.get(f"/api/v1/sessions/{ran.pk}/branches/").json()["results"]] == [made["id"]]
    again = fork(client, ran, at=60, release="v1.36", featureGates={}, key="upgrade")
    assert (again.status_code, again.json()["id"]) == (200, made["id"])
    other = fork(client, ran, at=60, key="upgrade")
    assert other.status_code == 409
    assert "for a fork to v1.36" in other.json()["detail"]


def test_a_fork_keeps_the_release_of_its_session(people, ran):
    ran.settings = {**ran.settings, "release": "v1.36", "feature_gates": {"OpportunisticBatching": False}}
    ran.save()

    for body in ({}, {"release": "v1.36", "featureGates": {"OpportunisticBatching": False}}):
        made = fork(people.client("owner"), ran, **body).json()
        assert (made["release"], made["featureGates"]) == ("v1.36", {"OpportunisticBatching": False})
        assert Session.objects.get(pk=made["id"]).forked_from_id == ran.pk


def test_a_fork_to_an_unknown_release_is_refused(people, ran):
    refused = fork(people.client("owner"), ran, release="v1.31")

    assert refused.status_code == 400
    problem = refused.json()
    assert (problem["path"], problem["expected"], problem["found"]) == ("$.release", "v1.27.1 or v1.36", "v1.31")


def test_a_fork_of_a_deleted_session_to_another_release_fails(people, ran):
    made = fork(people.client("viewer"), ran, release="v1.36").json()
    ran.delete()
    import_job.run_import(made["id"])

    body = people.client("viewer").get(f"/api/v1/sessions/{made['id']}/").json()
    assert body["status"] == "failed"
    assert body["message"] == "The session to fork was deleted."


def test_a_viewer_owns_their_fork(people, ran):
    made = fork(people.client("viewer"), ran, at=20, name="what if").json()

    assert (made["role"], made["name"], made["status"]) == ("owner", "what if", "importing")
    assert made["forkedFrom"] == {"id": str(ran.pk), "name": "a test", "event": 20}
    assert made["progress"]["phase"] == "forking"
    address = f"/api/v1/sessions/{made['id']}/"
    assert people.client("owner").get(address).status_code == 404

    import_job.run_import(Session.objects.get(pk=made["id"]).pk)

    ready = people.client("viewer").get(address).json()
    assert (ready["status"], ready["event"], ready["chunk"]) == ("ready", ready["forkedFrom"]["event"], 0)
    assert people.client("viewer").get(address + "events/?limit=3").json()["results"][0]["event"] == 1
    assert people.client("viewer").get(address + "view/?at=5").json()["event"] == 5


def test_forks_are_listed_for_those_who_may_see_them(people, ran):
    made = fork(people.client("viewer"), ran).json()
    address = f"/api/v1/sessions/{ran.pk}/branches/"

    assert [one["id"] for one in people.client("viewer").get(address).json()["results"]] == [made["id"]]
    assert people.client("owner").get(address).json()["results"] == []


def test_the_same_idempotency_key_returns_the_same_fork(people, ran):
    client = people.client("owner")
    first, again = (fork(client, ran, at=7, key="k") for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    other = fork(client, ran, at=8, key="k")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")


@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        ({"at": -1}, 400, "$.at"),
        ({"at": "x"}, 400, "$.at"),
        ({"at": 10_000}, 404, "$.at"),
        ({"name": "x" * 201}, 400, "$.name"),
        ({"name": "a\0b"}, 400, "$.name"),
        ({"from": 3}, 400, "$.from"),
    ],
)
def test_an_error_is_reported_with_its_path(people, ran, body, status, path):
    response = fork(people.client("owner"), ran, **body)

    assert response.status_code == status
    assert response.json()["error"]["detail"]["path"] == path


def test_the_session_quota_is_enforced(people, ran, settings):
    settings.SESSIONS_PER_USER = 1
    response = fork(people.client("owner"), ran)

    assert response.status_code == 409
    assert "SCHEDVIZ_SESSIONS_PER_USER" in response.json()["error"]["message"]


def test_a_repeated_fork_request_returns_the_fork_even_at_the_limit(people, ran, settings):
    made = fork(people.client("owner"), ran, key="k").json()
    settings.SESSIONS_PER_USER = 1

    assert fork(people.client("owner"), ran, key="k").json()["id"] == made["id"]


def test_a_session_that_is_being_imported_cannot_be_forked(people, ran):
    Session.objects.filter(pk=ran.pk).update(status=Session.Status.IMPORTING)
    response = fork(people.client("owner"), ran)

    assert (response.status_code, response.json()["error"]["code"]) == (409, "not_forkable")


def test_a_fork_at_a_past_moment_counts_the_size_of_that_moment(people, ran, settings):
    before = ran.event
    for number in range(3):
        working.send(ran.pk, "create", object=working.pod(f"late-{number}"))
    session = working.work_off(ran.pk)
    assert (session.nodes, session.pods) == (3, 13)
    middle = next(one for one in range(before, session.event) if requests.size_at(session, one)["pods"] == 11)
    assert requests.size_at(session, before) == {"nodes": 3, "pods": 10, "objects": 13}
    for at in (0, before, middle, session.event):
        objects = reading.state_at_event(session, at).view.api.objects
        assert requests.size_at(session, at) == {"nodes": objects["Node"], "pods": objects["Pod"], "objects": sum(objects.values())}

    settings.PODS_PER_USER = 13 + 10
    quotas.clear_cache()
    refused = fork(people.client("owner"), ran)
    assert (refused.status_code, refused.json()["code"]) == (409, "quota_reached")
    assert fork(people.client("owner"), ran, at=middle).status_code == 409
    made = fork(people.client("owner"), ran, at=before)
    assert made.status_code == 201
    # A fork shares its beginning with its parent.
    import_job.run_import(made.json()["id"])
    assert requests.size_at(Session.objects.get(pk=made.json()["id"]), before - 1)["pods"] == 10


def test_a_fork_of_a_past_moment_counts_the_size_before_the_session_shrank(people, ran, settings):
    before = ran.event
    working.send(ran.pk, "delete", kind="Pod", name="pod-1")
    assert working.work_off(ran.pk).pods == 9
    settings.PODS_PER_USER = 9 + 9
    quotas.clear_cache()

    assert fork(people.client("owner"), ran, at=before).status_code == 409
    assert fork(people.client("owner"), ran).status_code == 201
