"""Requests that wait for a worker leave threads for the others."""

from __future__ import annotations

import contextlib
from contextlib import ExitStack

import pytest

from schedviz.sessions.models import Session
from schedviz.web.waiting import MAX_PREFERRING, MAX_WAITING_PER_CLIENT, TooManyWait, WaitingRequests, preferring, requester, waits
from tests.web.conftest import People


def test_one_requester_may_have_half_of_what_others_leave() -> None:
    waits = WaitingRequests(16, 8)
    counts: list[int] = []
    with ExitStack() as running:
        for who in range(6):
            requester.set(f"user {who}")
            counts.append(0)
            with contextlib.suppress(TooManyWait):
                while True:
                    running.enter_context(waits.one())
                    counts[-1] += 1
        assert counts == [8, 4, 2, 1, 1, 0]
        for who, words in ((0, "You have 8 requests"), (9, "This web server has 16")):
            requester.set(f"user {who}")
            with pytest.raises(TooManyWait, match=words):
                running.enter_context(waits.one())
    requester.set("user 1")
    with ExitStack() as running:
        for _ in range(8):
            running.enter_context(waits.one())
    assert not waits._waiting.total()


def test_requests_that_prefer_to_wait_leave_the_places_of_analyses() -> None:
    with ExitStack() as running:
        for who in range(MAX_PREFERRING):
            requester.set(f"user {who}")
            running.enter_context(preferring.one())
        with pytest.raises(TooManyWait):
            running.enter_context(preferring.one())
        for _ in range(MAX_WAITING_PER_CLIENT):
            running.enter_context(waits.one())


@pytest.mark.django_db
def test_too_many_waiting_requests_get_an_immediate_response(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    Session.objects.filter(pk=people.session.pk).update(status=Session.Status.IMPORTING)
    client = people.client("owner-token")
    monkeypatch.setattr(preferring, "per_client", 0)
    monkeypatch.setattr(waits, "per_client", 0)

    response = client.get(f"/api/v1/sessions/{people.session.pk}/", headers={"Prefer": "wait=30"})
    question = client.post(f"/api/v1/sessions/{people.session.pk}/explain/message/", {"text": "0/5 nodes"}, format="json")

    assert (response.status_code, response.json()["status"]) == (200, "importing")
    assert (question.status_code, question.json()["code"], question["Retry-After"]) == (503, "answer_late", "2")
