"""What `ThreadedHandler` needs of Django that Django does not document (docs/decisions/0013), and what it promises in return."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core import signals
from django.core.handlers import asgi
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path

from schedviz.web.server.asgi_handler import HTTP_THREADS, ThreadedHandler

THREADS: list[str] = []


def echo(request: HttpRequest) -> HttpResponse:
    THREADS.append(threading.current_thread().name)
    return HttpResponse(request.body[::-1])


def stream(_request: HttpRequest) -> StreamingHttpResponse:
    async def numbers() -> Any:
        yield b"1"
        yield b"2"

    return StreamingHttpResponse(numbers())


urlpatterns = [path("echo/", echo), path("stream/", stream)]


@pytest.fixture
def handler(settings) -> Iterator[ThreadedHandler]:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    THREADS.clear()
    yield ThreadedHandler()
    HTTP_THREADS.close()


async def ask(handler: ThreadedHandler, address: str, *received: dict[str, Any]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    messages = iter(received)

    async def receive() -> dict[str, Any]:
        if (message := next(messages, None)) is not None:
            return message
        return await asyncio.Future()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": address, "query_string": b"", "headers": [(b"host", b"testserver")]}
    await handler(scope, receive, send)
    return sent


@pytest.mark.parametrize(
    ("member", "parameters"),
    [
        (ASGIHandler.load_middleware, ["self", "is_async"]),
        (ASGIHandler.read_body, ["self", "receive"]),
        (ASGIHandler.create_request, ["self", "scope", "body_file"]),
        (ASGIHandler.send_response, ["self", "response", "send"]),
        (ASGIHandler.get_response, ["self", "request"]),
        (asgi.get_script_prefix, ["scope"]),
    ],
)
def test_django_still_has_what_is_overridden_or_called(member: Callable[..., Any], parameters: list[str]) -> None:
    assert list(inspect.signature(member).parameters) == parameters
    assert "_handler_class" in inspect.getsource(ASGIHandler)


@pytest.mark.asyncio
async def test_a_request_runs_in_a_thread_of_the_pool_and_its_signals_are_sent_once(handler: ThreadedHandler) -> None:
    seen: list[str] = []

    def started(**_: Any) -> None:
        seen.append(f"started in {threading.current_thread().name}")

    def finished(**_: Any) -> None:
        seen.append(f"finished in {threading.current_thread().name}")

    signals.request_started.connect(started)
    signals.request_finished.connect(finished)
    try:
        body = ({"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.request", "body": b"c"})
        start, content = await ask(handler, "/echo/", *body)
    finally:
        signals.request_started.disconnect(started)
        signals.request_finished.disconnect(finished)

    assert (start["status"], content["body"]) == (200, b"cba")
    [thread] = THREADS
    assert thread.startswith("http_")
    assert seen == [f"started in {thread}", f"finished in {thread}"]


@pytest.mark.asyncio
async def test_a_stream_is_sent_from_the_event_loop(handler: ThreadedHandler) -> None:
    sent = await ask(handler, "/stream/", {"type": "http.request", "body": b""})

    assert [message.get("body", b"") for message in sent[1:]] == [b"1", b"2", b""]


@pytest.mark.asyncio
async def test_a_request_whose_client_leaves_before_the_body_is_complete_is_dropped(handler: ThreadedHandler) -> None:
    body = ({"type": "http.request", "body": b"ab", "more_body": True}, {"type": "http.disconnect"})

    assert await ask(handler, "/echo/", *body) == []
    assert THREADS == []


def test_of_channels_only_the_routing_is_used() -> None:
    """docs/decisions/0015."""
    root = Path(__file__).parents[3] / "schedviz"
    results = {
        line
        for file in root.rglob("*.py")
        for line in re.findall(r"^ *((?:from|import) channels.*)", file.read_text("utf-8"), re.MULTILINE)
    }

    assert results == {"from channels.routing import ProtocolTypeRouter", "from channels.routing import URLRouter"}
