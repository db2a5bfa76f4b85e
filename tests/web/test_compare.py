"""Comparison over REST: permissions, positions, and the file."""

from __future__ import annotations

import uuid

import pytest

from schedviz.web.api import compare
from tests.sessions import conftest as working

make_session = working.make_session


@pytest.fixture
def two(people, make_session, monkeypatch):
    """Two sessions that the viewer may see."""
    monkeypatch.setattr(compare, "DETAIL_SECONDS", 0)
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


def test_moments_are_named_with_an_event(people, two):
    body = get(people.client("viewer"), f"{two[0].pk}@{two[0].event}", f"{two[1].pk}@999999").json()

    assert [body["a"]["event"], body["b"]["event"]] == [one.event for one in two]
    assert get(people.client("viewer"), f"{two[0].pk}@20", f"{two[0].pk}@20").json()["same"] is True


def test_a_comparison_is_a_file_too(people, two):
    response = get(people.client("viewer"), two[0].pk, two[1].pk, "report/")

    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "attachment" in response["Content-Disposition"]
    assert b"placed in B alone" in response.content


@pytest.mark.parametrize("role", ["stranger", "anonymous"])
def test_comparing_needs_access_to_both_sessions(people, two, role):
    for rest in ("", "report/"):
        response = get(people.client(role), two[0].pk, people.session.pk, rest)
        assert response.status_code == 404
        assert response.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize("which", ["", "x", "@3", "x" * 36, f"{uuid.UUID(int=7)}@", f"{uuid.UUID(int=7)}@-1"])
def test_what_is_no_moment_gets_400(people, two, which):
    response = get(people.client("viewer"), two[0].pk, which)

    assert response.status_code == 400
    assert response.json()["error"]["detail"]["path"] == "?b"


def test_a_session_that_is_not_there_gets_404(people, two):
    assert get(people.client("viewer"), two[0].pk, uuid.uuid4()).status_code == 404
