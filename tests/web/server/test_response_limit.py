"""Responses that clients do not read are bounded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework.response import Response

from schedviz.web.server.asgi_handler import HTTP_THREADS, ThreadedHandler
from schedviz.web.server.response_limit import ResponseLimit, drop_rendering_data
from schedviz.web.server.waiting_requests import requester

LARGE = HttpResponse(b"x" * (1 << 20))


def test_one_client_may_use_half_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RESPONSE_BYTES", 4 << 20)
    limit = ResponseLimit()
    with ExitStack() as sending:
        responses = [
            sending.enter_context(limit.counted(LARGE, who)) for who in ("user 1", "user 1", "user 1", "user 2", "user 3", "user 4")
        ]
        small = sending.enter_context(limit.counted(HttpResponse(b"x"), "user 1"))

    assert [response.status_code for response in responses] == [200, 200, 503, 200, 200, 503]
    assert responses[2]["Retry-After"] == "10"
    assert "SCHEDVIZ_RESPONSE_BYTES" in json.loads(responses[2].content)["detail"]
    assert small.status_code == 200
    assert limit._sending.total == 0


def test_memory_is_given_back_after_a_large_response(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = ResponseLimit()
    requested: list[int] = []
    monkeypatch.setattr(limit._trim, "request", lambda: requested.append(1))
    with limit.counted(LARGE, "user 1"):
        pass
    with limit.counted(HttpResponse(b"x" * (5 << 20)), "user 1"):
        assert not requested

    assert requested == [1]


def test_half_of_the_limit_is_left_for_users_by_all_kinds_of_clients_without_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RESPONSE_BYTES", 8 << 20)
    limit = ResponseLimit()
    statuses: dict[str, list[int]] = {}
    with ExitStack() as sending:
        for who in ("address 192.0.2.1", "visitors of x", "guest 192.0.2.1 ada", "guest 192.0.2.1 bob", "user 1"):
            statuses[who] = [sending.enter_context(limit.counted(LARGE, who)).status_code for _ in range(3)]

    assert statuses == {
        "address 192.0.2.1": [200, 503, 503],
        "visitors of x": [200, 503, 503],
        "guest 192.0.2.1 ada": [200, 503, 503],
        "guest 192.0.2.1 bob": [503, 503, 503],
        "user 1": [200, 200, 503],
    }
    assert limit._sending.total == 0


def test_the_only_large_response_is_sent_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RESPONSE_BYTES", 1)
    with ResponseLimit().counted(LARGE, "user 1") as response:
        assert response is LARGE


def test_a_rendered_response_keeps_only_its_content() -> None:
    response = Response({"a": 1})
    response.content = b"{}"

    drop_rendering_data(response)

    assert response.content == b"{}"
    assert not hasattr(response, "data")


def large(_request: HttpRequest) -> HttpResponse:
    requester.set("user 1")
    return HttpResponse(b"x" * (1 << 20))


urlpatterns = [path("large/", large)]


@pytest.fixture
def handler(settings) -> Iterator[ThreadedHandler]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    settings.RESPONSE_BYTES = 4 << 20
    yield ThreadedHandler()
    HTTP_THREADS.close()


def test_a_response_counts_until_the_client_has_read_it(handler: ThreadedHandler) -> None:
    async def run() -> tuple[list[int], list[int]]:
        reads = asyncio.Event()
        started = asyncio.Event()
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                if len(statuses) == 2:
                    started.set()
            elif statuses[-1] == 200:
                await reads.wait()

        async def ask() -> None:
            scope = {"type": "http", "method": "GET", "path": "/large/", "query_string": b"", "headers": [(b"host", b"testserver")]}
            await handler(scope, receive, send)

        unread = [asyncio.create_task(ask()) for _ in range(2)]
        await started.wait()
        await ask()
        before = list(statuses)
        reads.set()
        await asyncio.gather(*unread)
        await ask()
        return before, statuses[len(before) :]

    assert asyncio.run(run()) == ([200, 200, 503], [200])
