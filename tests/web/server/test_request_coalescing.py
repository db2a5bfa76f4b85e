"""Equal requests that wait for a result need one thread and one place."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import RequestAborted
from django.http import HttpRequest, HttpResponse
from django.urls import path

from schedviz.web.api.shared_computations import STATES
from schedviz.web.server import request_coalescing
from schedviz.web.server.asgi_handler import HTTP_THREADS, ThreadedHandler
from schedviz.web.server.request_coalescing import LEADERS, coalesce
from schedviz.web.server.waiting_requests import MAX_WAITING, TooManyWait, requester, worker_waits
from tests.conftest import until

CLASS = 60


class Late(Exception):
    """The result is not there yet."""


class Worker:
    """Computes one result, but not before the test allows it."""

    def __init__(self) -> None:
        self.is_done = threading.Event()
        self.senders: list[str] = []
        self.waiting: list[float] = []
        self.begun = 0

    def wait(self, seconds: float) -> str:
        self.senders.append(requester.get())
        if seconds:
            self.waiting.append(seconds)
        if not self.is_done.wait(min(seconds, 30.0)):
            raise Late
        return "the result"

    def fold(self) -> str:
        self.begun += 1
        self.is_done.wait(30)
        return "the state"


WORKER = Worker()


def question(request: HttpRequest) -> HttpResponse:
    requester.set(f"guest 192.0.2.1 {request.GET['who']}")
    try:
        if WORKER.is_done.is_set():
            return HttpResponse("the result, stored")
        return HttpResponse(coalesce(request.GET["key"], WORKER.wait, late=Late))
    except TooManyWait:
        return HttpResponse("busy", status=503)
    except Late:
        return HttpResponse("late", status=503)


def state(request: HttpRequest) -> HttpResponse:
    requester.set(f"guest 192.0.2.1 {request.GET['who']}")
    return HttpResponse(STATES.once("a state", WORKER.fold))


urlpatterns = [path("question/", question), path("state/", state)]


@pytest.fixture
def handler(settings: Any) -> Iterator[ThreadedHandler]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    WORKER.__init__()  # type: ignore[misc]
    yield ThreadedHandler()
    WORKER.is_done.set()
    HTTP_THREADS.close()
    assert not LEADERS._flights
    assert not STATES._computations
    assert not worker_waits._waiting.total


class Client:
    """A client that sends one request, and may leave."""

    def __init__(self, handler: ThreadedHandler, address: str, query: str) -> None:
        self._handler = handler
        self._left = asyncio.Event()
        self._has_sent = False
        self.statuses: list[int] = []
        self.content = b""
        self._scope = {"type": "http", "method": "GET", "path": address, "query_string": query.encode(), "client": ("192.0.2.1", 1)}
        self._scope["headers"] = [(b"host", b"localhost")]

    def leave(self) -> None:
        self._left.set()

    async def ask(self) -> bytes:
        await self._handler(self._scope, self._receive, self._send)
        return self.content

    async def _receive(self) -> dict[str, Any]:
        if not self._has_sent:
            self._has_sent = True
            return {"type": "http.request", "body": b""}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if self._left.is_set():
            raise RequestAborted
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])
        else:
            self.content += message.get("body", b"")


def test_simultaneous_equal_requests_share_one_result(handler: ThreadedHandler) -> None:
    async def run() -> tuple[list[bytes], int]:
        clients = [Client(handler, "/question/", f"key=a&who={who}") for who in range(CLASS)]
        asking = [asyncio.create_task(client.ask()) for client in clients]
        await asyncio.to_thread(until, lambda: len(WORKER.senders) == CLASS)
        places = worker_waits._waiting.total
        clients[-1].leave()
        await asking[-1]
        # Another question of the class finds a place.
        other = asyncio.create_task(Client(handler, "/question/", "key=b&who=x").ask())
        await asyncio.to_thread(until, lambda: worker_waits._waiting.total == 2)
        WORKER.is_done.set()
        return [await answer for answer in [*asking, other]], places

    found, places = asyncio.run(run())

    assert places == 1
    assert len(WORKER.waiting) == 2, "one request of each question held a thread"
    assert len(set(WORKER.senders)) == CLASS + 1, "the worker knows of all"
    assert sorted(found) == sorted([b"the result"] * 2 + [b"the result, stored"] * (CLASS - 2) + [b""])


def test_a_coalesced_request_gets_an_error_when_its_time_is_over(handler: ThreadedHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_coalescing, "WAIT_SECONDS", 0.3)

    async def run() -> list[bytes]:
        return await asyncio.gather(*(Client(handler, "/question/", f"key=a&who={who}").ask() for who in range(3)))

    assert asyncio.run(run()) == [b"late"] * 3


def test_requests_coalesced_with_a_refused_one_are_tried_themselves(handler: ThreadedHandler) -> None:
    async def run() -> list[bytes]:
        with contextlib.ExitStack() as running:
            for number in range(MAX_WAITING):
                requester.set(f"user {number}")
                with contextlib.suppress(TooManyWait):
                    while True:
                        running.enter_context(worker_waits.slot())
            return await asyncio.gather(*(Client(handler, "/question/", f"key=a&who={who}").ask() for who in range(5)))

    assert asyncio.run(run()) == [b"busy"] * 5


def test_simultaneous_requests_for_a_state_share_its_computation(handler: ThreadedHandler) -> None:
    async def run() -> list[bytes]:
        first = asyncio.create_task(Client(handler, "/state/", "who=0").ask())
        await asyncio.to_thread(until, lambda: WORKER.begun == 1)
        asking = [asyncio.create_task(Client(handler, "/state/", f"who={who}").ask()) for who in range(1, CLASS)]
        # Their threads are free.
        WORKER.is_done.clear()
        for _ in range(3):
            assert await Client(handler, "/state/nothing/", "").ask()
        assert not worker_waits._waiting.total
        WORKER.is_done.set()
        return [await answer for answer in [first, *asking]]

    assert asyncio.run(run()) == [b"the state"] * CLASS
    assert WORKER.begun == 1
