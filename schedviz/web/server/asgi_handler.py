"""Django's ASGI handler with a thread pool: views and middlewares are synchronous (docs/decisions/0013)."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextvars import Context, copy_context
from functools import partial
from typing import IO, Any, cast

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from schedviz.ingest.files.spool import Spool
from schedviz.web.api.download import SlotResponse
from schedviz.web.server.body_limit import BodyNotStored
from schedviz.web.server.client_places import PLACES, place
from schedviz.web.server.disconnects import while_connected
from schedviz.web.server.read_limit import DISCONNECT
from schedviz.web.server.request_coalescing import Coalesced, begin_waiting, coalesced_with, coalesces_until
from schedviz.web.server.response_limit import ResponseLimit, drop_rendering_data
from schedviz.web.server.thread_pool import Threads
from schedviz.web.server.waiting_requests import requester

#: The number of requests that run at the same time. Each thread keeps its database connection; further requests wait.
HTTP_THREADS = Threads("http", 32)


class ThreadedHandler(ASGIHandler):
    """Django's ASGI application. A request runs in one thread from the first middleware to the response."""

    def __init__(self) -> None:
        super().__init__()
        self._sending = ResponseLimit()

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 -- Django calls it so.
        """Load the middleware synchronously."""
        super().load_middleware(is_async=False)

    async def read_body(self, receive: Any) -> IO[bytes]:
        """The complete body, in memory or encrypted on disk. Django would write it to a temporary file unencrypted."""
        body = Spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)
        try:
            await _receive_into(body, receive)
            body.seek(0)
        except OSError as error:
            body.close()
            raise BodyNotStored from error
        except BaseException:
            body.close()
            raise
        return cast("IO[bytes]", body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        # In its own context, in which middleware binds the values for the request's log lines.
        context = copy_context()
        try:
            while (response := await self._respond_in_thread(context, scope, receive, body)) is None:
                await _wait_for_other(context, receive)
                body.seek(0)
        except RequestAborted:
            return
        finally:
            body.close()
        PLACES.authenticated(scope, context.get(requester, ""))
        if response.streaming:
            if isinstance(response, SlotResponse):
                response.slot.disconnect = _disconnect(scope)
            await self._stream(response, receive, send)
        elif scope["path"].startswith(settings.STATIC_URL):
            # Responses share the content of static files.
            await self.send_response(response, send)
        else:
            with self._sending.counted(response, context.get(requester, "")) as allowed:
                await self.send_response(allowed, send)

    async def _respond_in_thread(self, context: Context, scope: Any, receive: Any, body: IO[bytes]) -> HttpResponseBase | None:
        """The response; None if the request is coalesced with another one (`coalesced_with` of its context). Raises `RequestAborted` if the
        client leaves before its turn.
        """
        own_place = await PLACES.take(scope, receive)
        context.run(place.set, own_place)
        context.run(begin_waiting)
        try:
            return await HTTP_THREADS.run(context.run, self._respond, scope, body)
        except Coalesced as coalesced:
            context.run(coalesced_with.set, coalesced)
            return None
        finally:
            own_place.release()

    def _respond(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """The response, complete unless it is a stream. Runs in a thread. Upstream: django/core/handlers/asgi.py ASGIHandler.handle"""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(_with_length(scope, body), body)
        response: Any = refused if request is None else self.get_response(request)
        response._handler_class = self.__class__  # noqa: SLF001 -- As Django's own handlers do.
        if not response.streaming:
            # In this thread, so that Django closes its database connection if it has expired.
            response.close()
            drop_rendering_data(response)
        complete: HttpResponseBase = response
        return complete

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send a stream until it ends or the client disconnects."""
        sending = asyncio.create_task(self.send_response(response, send))
        leaving = asyncio.create_task(receive())
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            ended, _ = await asyncio.gather(sending, leaving, return_exceptions=True)
            await HTTP_THREADS.run(response.close)
        if isinstance(ended, Exception):
            raise ended


async def _wait_for_other(context: Context, receive: Any) -> None:
    """Wait until the other request, with which this one is coalesced, has its result, or the time is over.

    Raises `RequestAborted` if the client leaves.
    """
    coalesced, until = context[coalesced_with], context[coalesces_until]
    assert coalesced is not None
    assert until is not None
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    coalesced.result.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    await while_connected(done.wait(), receive, seconds=until - time.monotonic())


def _disconnect(scope: Any) -> Callable[[], object] | None:
    """What ends the connection of a request, callable in any thread; None if the server has no such extension."""
    extension = scope.get("extensions", {}).get(DISCONNECT)
    return None if extension is None else partial(asyncio.get_running_loop().call_soon_threadsafe, extension["call"])


def _with_length(scope: Any, body: IO[bytes]) -> Any:
    """The scope, with the length of a body that came in chunks: forms cannot be read without it, and rate limits count by it."""
    if any(name == b"content-length" for name, _ in scope["headers"]):
        return scope
    length = body.seek(0, os.SEEK_END)
    body.seek(0)
    return {**scope, "headers": [*scope["headers"], (b"content-length", str(length).encode())]} if length else scope


async def _receive_into(body: Spool, receive: Any) -> None:
    """Write the complete body. Raises `RequestAborted` when the client disconnects."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        body.write(message.get("body", b""))
        if not message.get("more_body", False):
            return
