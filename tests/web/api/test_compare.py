"""Comparison over REST: permissions, positions, and the file."""

from __future__ import annotations

import uuid

import pytest

from schedviz.sessions.models import Checkpoint
from schedviz.web.server import request_coalescing
from schedviz.web.server.waiting_requests import worker_waits
from tests.sessions import conftest as working

make_session = working.make_session


@pytest.fixture
def two(people, make_session, io_worker):
    """Two sessions that the viewer may see."""
    results = []
    for cycles in (3, 5):
        session_id = make_session()
        working.send(session_id, "run", max=cycles)
        session = working.work_off(session_id)
        session.owner = people.viewer
        session.save()
        results.append(session)
    return results


def get(client, a, b, rest=""):
    return client.get(f"/api/v1/compare/{rest}", {"a": a, "b": b})


def test_two_sessions_are_compared(people, two):
    response = get(people.client("viewer-token"), two[0].pk, two[1].pk)

    assert response.status_code == 200, response.content
    body = response.json()
    assert body["same"] is False
    assert body["placements"]["placedOnlyInB"] == 2
    assert body["divergence"]["cycle"]["b"]["cycle"] == 4
    assert [body["a"]["session"], body["b"]["session"]] == [str(one.pk) for one in two]


def test_moments_are_named_by_an_event(people, two):
    body = get(people.client("viewer"), f"{two[0].pk}@{two[0].event}", f"{two[1].pk}@999999").json()

    assert [body["a"]["event"], body["b"]["event"]] == [one.event for one in two]
    assert get(people.client("viewer"), f"{two[0].pk}@20", f"{two[0].pk}@20").json()["same"] is True


def test_a_comparison_can_be_downloaded(people, two):
    response = get(people.client("viewer"), two[0].pk, two[1].pk, "report/")

    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    assert b"placed in B alone" in response.content


@pytest.mark.parametrize("rest", ["", "report/"])
def test_an_unchanged_comparison_is_not_sent_again(people, two, rest):
    client = people.client("viewer")
    first = get(client, two[0].pk, two[1].pk, rest)

    again = client.get(f"/api/v1/compare/{rest}", {"a": two[0].pk, "b": two[1].pk}, headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert first["Cache-Control"] == "private, no-cache"


def test_a_worker_compares_and_a_repeated_request_finds_the_result(people, two, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(request_coalescing, "WAIT_SECONDS", 0)
        late = get(people.client("viewer"), two[0].pk, two[1].pk)
    assert (late.status_code, late.json()["code"]) == (503, "answer_late")
    assert get(people.client("viewer"), two[0].pk, two[1].pk).status_code == 200


def test_a_stored_result_is_returned_even_if_too_many_requests_wait(people, two, monkeypatch):
    assert get(people.client("viewer"), two[0].pk, two[1].pk).status_code == 200
    monkeypatch.setattr(worker_waits, "maximum", 0)

    assert get(people.client("viewer"), two[0].pk, two[1].pk).status_code == 200
    other = get(people.client("viewer"), two[0].pk, two[0].pk)
    assert (other.status_code, other.json()["code"], other["Retry-After"]) == (503, "answer_late", "2")


def test_a_moment_that_is_no_longer_stored_gets_404(people, two):
    Checkpoint.objects.filter(session=two[0]).update(event=4, chunk=1)

    response = get(people.client("viewer"), f"{two[0].pk}@2", two[1].pk)

    assert (response.status_code, response.json()["code"]) == (404, "history_unavailable")


@pytest.mark.parametrize("role", ["stranger", "anonymous"])
def test_comparing_needs_access_to_both_sessions(people, two, role):
    for rest in ("", "report/"):
        response = get(people.client(role), two[0].pk, people.session.pk, rest)
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("which", ["", "x", "@3", "x" * 36, f"{uuid.UUID(int=7)}@", f"{uuid.UUID(int=7)}@-1"])
def test_an_invalid_moment_gets_400(people, two, which):
    response = get(people.client("viewer"), two[0].pk, which)

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == "?b"


def test_an_unknown_session_gets_404(people, two):
    assert get(people.client("viewer"), two[0].pk, uuid.uuid4()).status_code == 404
