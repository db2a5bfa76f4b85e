"""The HTTP threads are shared among clients."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path

from schedviz.web.live.connection import accept_socket
from schedviz.web.live.handshake import Refused
from schedviz.web.server.asgi_handler import HTTP_THREADS, ThreadedHandler
from schedviz.web.server.client_places import (
    MAX_PROBES,
    MAX_THREADS_PER_CLIENT,
    MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT,
    MAX_THREADS_PER_PART,
    MAX_THREADS_WITHOUT_ACCOUNT,
    PLACES,
    ClientPlaces,
)
from schedviz.web.server.waiting_requests import requester, worker_waits
from tests.conftest import until

USERS = {"Bearer one": "user 1", "Bearer one again": "user 1", "Bearer two": "user 2"}


class Requests:
    """The requests that run until they may end."""

    def __init__(self) -> None:
        self.may_end = Event()
        self.running: list[str] = []


REQUESTS = Requests()


def busy(request: HttpRequest) -> HttpResponse:
    requester.set(USERS.get(request.headers.get("Authorization", ""), ""))
    REQUESTS.running.append(request.headers.get("Authorization", ""))
    REQUESTS.may_end.wait(30)
    return HttpResponse("done")


def wait(request: HttpRequest) -> HttpResponse:
    requester.set(request.headers.get("Authorization", ""))
    with worker_waits.slot():
        return busy(request)


def quick(request: HttpRequest) -> HttpResponse:
    requester.set(USERS.get(request.headers.get("Authorization", ""), ""))
    return HttpResponse("done")


urlpatterns = [path("busy/", busy), path("wait/", wait), path("quick/", quick), path("healthz", quick)]


@pytest.fixture
def handler(settings: Any) -> Iterator[ThreadedHandler]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    REQUESTS.__init__()  # type: ignore[misc]
    yield ThreadedHandler()
    REQUESTS.may_end.set()
    HTTP_THREADS.close()


def scope_of(address: str, authorization: str, client: str = "192.0.2.1") -> dict[str, Any]:
    headers = [(b"host", b"localhost"), (b"authorization", authorization.encode())]
    return {"type": "http", "method": "GET", "path": address, "headers": headers, "query_string": b"", "client": (client, 1)}


async def receive_request(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The next message of a client, which stays connected after the last one."""
    if not messages:
        await asyncio.Future()
    return messages.pop(0)


async def ask(handler: ThreadedHandler, address: str, authorization: str, client: str = "192.0.2.1", *, leaves: bool = False) -> int:
    """The status of the response; 0: none. `leaves`: the client closes the connection after it has sent the request."""
    statuses: list[int] = []

    receive = partial(receive_request, [{"type": "http.request", "body": b""}, *([{"type": "http.disconnect"}] if leaves else [])])

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await handler(scope_of(address, authorization, client), receive, send)
    return statuses[0] if statuses else 0


def test_the_requests_of_one_client_leave_threads_for_others(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        for authorization in USERS:
            assert await ask(handler, "/quick/", authorization) == 200
        flood = [asyncio.create_task(ask(handler, "/busy/", f"Bearer one{' again' * (n % 2)}", f"192.0.2.{n}")) for n in range(40)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_CLIENT)
        # From the same address.
        assert await ask(handler, "/quick/", "Bearer two") == 200
        assert len(REQUESTS.running) == MAX_THREADS_PER_CLIENT
        REQUESTS.may_end.set()
        return await asyncio.gather(*flood)

    assert asyncio.run(run()) == [200] * 40


def test_invalid_credentials_count_for_the_address(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        flood = [asyncio.create_task(ask(handler, "/busy/", f"Bearer invented {n}")) for n in range(40)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT)
        assert await ask(handler, "/quick/", "Bearer invented", "192.0.2.7") == 200
        assert len(REQUESTS.running) == MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT
        REQUESTS.may_end.set()
        return await asyncio.gather(*flood)

    assert asyncio.run(run()) == [200] * 40


def test_clients_without_an_account_leave_threads_for_users(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        assert await ask(handler, "/quick/", "Bearer one") == 200
        flood = [asyncio.create_task(ask(handler, "/busy/", f"Bearer invented {n}", f"192.0.2.{n}")) for n in range(40)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_PART)
        flood[0].cancel()
        flood[-1].cancel()
        assert await ask(handler, "/quick/", "Bearer one") == 200
        assert len(REQUESTS.running) <= MAX_THREADS_PER_PART + 1
        REQUESTS.may_end.set()
        results = await asyncio.gather(*flood, return_exceptions=True)
        free = {semaphore._value for semaphore in PLACES._semaphores.values()}
        assert free <= {
            MAX_THREADS_PER_CLIENT,
            MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT,
            MAX_THREADS_PER_PART,
            MAX_THREADS_WITHOUT_ACCOUNT,
        }
        return [result for result in results if not isinstance(result, BaseException)]

    assert asyncio.run(run()) == [200] * 38


def test_probes_do_not_wait_for_clients_without_an_account(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        flood = [asyncio.create_task(ask(handler, "/busy/", "", f"192.0.2.{n}")) for n in range(40)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_PART)
        assert await asyncio.wait_for(ask(handler, "/healthz", ""), 60) == 200
        assert len(REQUESTS.running) == MAX_THREADS_PER_PART
        REQUESTS.may_end.set()
        return await asyncio.gather(*flood)

    assert asyncio.run(run()) == [200] * 40


@pytest.mark.parametrize("query", [b"self", b""])
def test_a_probe_waits_for_at_most_one_probe_of_each_other_address(handler: ThreadedHandler, query: bytes) -> None:
    async def run() -> None:
        PLACES._semaphores.clear()
        waiting = [
            asyncio.create_task(PLACES.take(scope_of("/healthz", "", "192.0.2.9") | {"query_string": query}, partial(receive_request, [])))
            for _ in range(50)
        ]
        others = [scope_of("/healthz", "", f"192.0.2.{number}") | {"query_string": query} for number in range(1, MAX_PROBES)]
        places = [await asyncio.wait_for(PLACES.take(other, partial(receive_request, [])), 60) for other in others]
        assert sum(task.done() for task in waiting) == 1
        # Those that may be slow leave the places of the others.
        (await PLACES.take(scope_of("/healthz", "") | {"query_string": b"" if query else b"self"}, partial(receive_request, []))).release()
        for place in places:
            place.release()
        for task in waiting:
            (await task).release()

    asyncio.run(run())


def test_a_request_whose_client_leaves_before_its_turn_is_dropped(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        staying = [asyncio.create_task(ask(handler, "/busy/", "")) for _ in range(MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT)
        assert await asyncio.gather(*[ask(handler, "/busy/", "", leaves=True) for _ in range(20)]) == [0] * 20
        REQUESTS.may_end.set()
        return [*await asyncio.gather(*staying), await ask(handler, "/busy/", "")]

    assert asyncio.run(run()) == [200] * (MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT + 1)
    assert len(REQUESTS.running) == MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT + 1


def test_handshakes_of_a_client_without_an_account_run_a_few_at_a_time() -> None:
    async def run() -> list[int]:
        running: list[int] = []
        most: list[int] = []
        answered: list[int] = []

        async def enter() -> None:
            running.append(1)
            most.append(len(running))
            await asyncio.sleep(0)
            running.pop()
            raise Refused(404, "No such session.")

        async def send(message: dict[str, Any]) -> None:
            answered.append(message["code"])

        def handshake(*messages: str) -> Coroutine[Any, Any, None]:
            receive = partial(receive_request, [{"type": f"websocket.{message}"} for message in messages])
            return accept_socket({**scope_of("/ws/", ""), "type": "websocket"}, receive, send, enter)

        gone = [handshake("connect", "disconnect") for _ in range(20)]
        await asyncio.gather(*[handshake("connect") for _ in range(20)], *gone)
        assert max(most) == MAX_THREADS_PER_CLIENT_WITHOUT_ACCOUNT
        return answered

    assert asyncio.run(run()) == [4404] * 20


def test_a_request_that_waits_gives_its_place_to_others_of_its_client(handler: ThreadedHandler) -> None:
    async def run() -> list[int]:
        waiting = [asyncio.create_task(ask(handler, "/wait/", "Bearer two")) for _ in range(MAX_THREADS_PER_CLIENT)]
        await asyncio.to_thread(until, lambda: len(REQUESTS.running) == MAX_THREADS_PER_CLIENT)
        assert await ask(handler, "/quick/", "Bearer two") == 200
        REQUESTS.may_end.set()
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [200] * MAX_THREADS_PER_CLIENT


def test_few_credentials_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.web.server.client_places._MAX_KNOWN", 2)
    places = ClientPlaces()
    for name in ("a", "b", "a", "c"):
        places.authenticated(scope_of("/", f"Bearer {name}"), f"user {name}")
    places.authenticated(scope_of("/", "Bearer d"), "")

    found = [places._client(scope_of("/", f"Bearer {name}")) for name in "abcd"]
    assert found == ["user a", "address 192.0.2.1", "user c", "address 192.0.2.1"]


def test_a_client_is_identified_only_by_what_authenticates_it() -> None:
    places = ClientPlaces()

    def scope(*headers: tuple[bytes, bytes]) -> dict[str, Any]:
        return {"path": "/", "headers": list(headers), "client": ("192.0.2.1", 1)}

    login = f"{settings.SESSION_COOKIE_NAME}=of-ada".encode()
    places.authenticated(scope((b"authorization", b"Bearer one")), "user 1")
    places.authenticated(scope((b"cookie", login)), "user 2")
    for number in range(3):
        other = f"other={number}".encode()
        assert places._client(scope((b"cookie", other), (b"authorization", b"Bearer one"))) == "user 1"
        assert places._client(scope((b"cookie", other + b"; " + login))) == "user 2"
        assert places._client(scope((b"cookie", other))) == "address 192.0.2.1"
