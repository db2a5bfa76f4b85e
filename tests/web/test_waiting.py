"""Requests that wait for a worker leave threads for the others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from schedviz.sessions.models import Session
from schedviz.web import waiting
from schedviz.web.waiting import MAX_WAITING, MAX_WAITING_PER_CLIENT, TooManyWait, WaitingRequests, requester
from tests.web.conftest import People


def test_one_requester_may_have_some_waits_and_all_together_more() -> None:
    waits, entered, release = WaitingRequests(), threading.Semaphore(0), threading.Event()

    def wait(who: str) -> None:
        requester.set(who)
        with waits.one():
            entered.release()
            assert release.wait(10)

    with ThreadPoolExecutor(MAX_WAITING) as pool:
        running = [pool.submit(wait, f"user {n // MAX_WAITING_PER_CLIENT}") for n in range(MAX_WAITING)]
        for _ in running:
            assert entered.acquire(timeout=10)
        for who, words in (("user 0", "You have"), ("user 9", "This web server has")):
            with pytest.raises(TooManyWait, match=words):
                wait(who)
        release.set()
        for each in running:
            each.result()
    with waits.one():
        assert waits._waiting.total() == 1


@pytest.mark.django_db
def test_too_many_waiting_requests_get_an_immediate_response(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    Session.objects.filter(pk=people.session.pk).update(status=Session.Status.IMPORTING)
    client = people.client("owner-token")
    monkeypatch.setattr(waiting, "MAX_WAITING_PER_CLIENT", 0)

    response = client.get(f"/api/v1/sessions/{people.session.pk}/", headers={"Prefer": "wait=30"})
    question = client.post(f"/api/v1/sessions/{people.session.pk}/explain/message/", {"text": "0/5 nodes"}, format="json")

    assert (response.status_code, response.json()["status"]) == (200, "importing")
    assert (question.status_code, question.json()["code"], question["Retry-After"]) == (503, "answer_late", "2")
