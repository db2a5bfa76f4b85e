"""Requests that wait for a worker leave threads for the others."""

from __future__ import annotations

import contextlib
import json
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from schedviz.sessions.analysis import requests
from schedviz.sessions.models import Session
from schedviz.sessions.redis import worker_calls
from schedviz.sessions.senders import sender_group_of
from schedviz.web.accounts.models import DemoSession, Visitor
from schedviz.web.server.waiting_requests import (
    MAX_PREFERRING,
    MAX_WAITING,
    TooManyWait,
    WaitingRequests,
    prefer_waits,
    requester,
    worker_waits,
)
from tests.web.conftest import People


def test_one_client_may_use_half_of_what_others_leave() -> None:
    waiting = WaitingRequests(16)
    counts: list[int] = []
    with ExitStack() as running:
        for who in range(6):
            requester.set(f"user {who}")
            counts.append(0)
            with contextlib.suppress(TooManyWait):
                while True:
                    running.enter_context(waiting.slot())
                    counts[-1] += 1
        assert counts == [8, 4, 2, 1, 1, 0]
        for who, words in ((0, "This web server has 16"), (9, "This web server has 16")):
            requester.set(f"user {who}")
            with pytest.raises(TooManyWait, match=words):
                running.enter_context(waiting.slot())
    requester.set("user 1")
    with ExitStack() as running:
        for _ in range(8):
            running.enter_context(waiting.slot())
        with pytest.raises(TooManyWait, match="You have 8 of the 8 requests"):
            running.enter_context(waiting.slot())
    assert not waiting._waiting.total


def test_clients_without_an_account_divide_the_share_of_one_user() -> None:
    waiting = WaitingRequests(16)
    counts: dict[str, int] = {}
    with ExitStack() as running:
        for who in (
            *(f"visitors of {number}" for number in range(5)),
            *(f"address 192.0.2.{number}" for number in range(3)),
            "user 1",
            "user 2",
        ):
            requester.set(who)
            counts[who] = 0
            with contextlib.suppress(TooManyWait):
                while True:
                    running.enter_context(waiting.slot())
                    counts[who] += 1
    assert list(counts.values()) == [2, 1, 1, 0, 0, 1, 1, 0, 5, 3]
    assert not waiting._waiting.total
    assert not waiting._waiting._held


def test_a_participant_who_joins_often_leaves_places_for_those_of_other_networks() -> None:
    waiting = WaitingRequests(16)
    counts: list[int] = []
    with ExitStack() as running:
        for who in (*(f"guest 192.0.2.1 {number}" for number in range(4)), "guest 198.51.100.7 ada", "guest 198.51.100.7 bob", "user 1"):
            requester.set(who)
            counts.append(0)
            with contextlib.suppress(TooManyWait):
                while True:
                    running.enter_context(waiting.slot())
                    counts[-1] += 1
    assert counts == [2, 1, 1, 0, 1, 1, 5]


def test_requests_that_prefer_to_wait_leave_places_for_analyses() -> None:
    with ExitStack() as running:
        for who in range(MAX_PREFERRING):
            requester.set(f"user {who}")
            running.enter_context(prefer_waits.slot())
        with pytest.raises(TooManyWait):
            running.enter_context(prefer_waits.slot())
        for _ in range(MAX_WAITING // 2):
            running.enter_context(worker_waits.slot())


@pytest.mark.django_db
def test_too_many_waiting_requests_get_an_immediate_response(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    Session.objects.filter(pk=people.session.pk).update(status=Session.Status.IMPORTING)
    client = people.client("owner-token")
    monkeypatch.setattr(prefer_waits, "maximum", 0)
    monkeypatch.setattr(worker_waits, "maximum", 0)

    response = client.get(f"/api/v1/sessions/{people.session.pk}/", headers={"Prefer": "wait=30"})
    question = client.post(f"/api/v1/sessions/{people.session.pk}/explain/message/", {"text": "0/5 nodes"}, format="json")

    assert (response.status_code, response.json()["status"]) == (200, "importing")
    assert (question.status_code, question.json()["code"], question["Retry-After"]) == (503, "answer_late", "2")


@pytest.mark.django_db
def test_anonymous_clients_of_other_addresses_have_their_own_places(people: People, settings: LazySettings, redis: object) -> None:
    settings.PUBLIC_DEMO, settings.PROXIES = True, 1
    DemoSession.objects.create(session=people.session)
    client = APIClient()

    def senders_of(**headers: str) -> str:
        client.get(f"/api/v1/sessions/{people.session.pk}/", headers=headers)
        return requester.get()

    assert senders_of(**{"X-Forwarded-For": "192.0.2.7"}) == "address 192.0.2.7"
    assert senders_of(**{"X-Forwarded-For": "2001:db8::7"}) == "address 2001:db8::/56"
    assert sender_group_of(requester.get()).group == "anonymous"
    people.client("editor-link").get(f"/api/v1/sessions/{people.session.pk}/")
    assert requester.get() == "address 127.0.0.1", "an owner can make many links"
    for name in ("visitor", "another visitor"):
        visitor = User.objects.create_user(name)
        Visitor.objects.create(user=visitor, expires_at=timezone.now() + timedelta(hours=1), network="of both")
        client.force_login(visitor)
        client.get(f"/api/v1/sessions/{people.session.pk}/")
        assert requester.get() == "visitors of of both"
        assert sender_group_of(requester.get()) == sender_group_of(f"user {visitor.pk}")
    people.client("owner").get(f"/api/v1/sessions/{people.session.pk}/")
    assert requester.get() == f"user {people.owner.pk}"


@pytest.mark.django_db
def test_analysis_requests_are_sent_with_their_sender(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    senders: list[object] = []

    def late(*_: object, sender: str, **__: object) -> bytes:
        senders.append(sender)
        raise requests.ResultLate("late")

    monkeypatch.setattr(requests, "request_result", late)
    monkeypatch.setattr(worker_calls, "call", lambda _task, body, **_: senders.append(json.loads(body)["sender"]))
    client = people.client("viewer")
    assert client.get(f"/api/v1/sessions/{people.session.pk}/overview/").status_code == 503
    assert client.post("/api/v1/explain/message/", {"text": "0/5 nodes"}, format="json").status_code == 503

    assert senders == [f"user {people.viewer.pk}"] * 2
