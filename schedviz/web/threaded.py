"""Django's HTTP in a few threads: all of our views are synchronous, and so is the whole way to them, from the first middleware on."""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import IO, Any, cast

from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from schedviz.ingest.spool import Spool
from schedviz.web.threads import Threads

#: So many requests are answered at a time, each over its thread's connection to the database; others wait.
HTTP_THREADS = Threads("http", 32)


class ThreadedHandler(ASGIHandler):
    """The ASGI application of Django, with one step into a thread and back."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 -- Django calls it so.
        """Load it for threads."""
        super().load_middleware(is_async=False)

    async def read_body(self, receive: Any) -> IO[bytes]:
        """The whole body, in memory or encrypted on disk. Django would write it to a temporary file as it is."""
        body = Spool(settings.FILE_UPLOAD_MAX_MEMORY_SIZE)
        try:
            await _receive_into(body, receive)
        except BaseException:
            body.close()
            raise
        body.seek(0)
        return cast("IO[bytes]", body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        try:
            # In a context of its own: middleware says in it whose log lines these are.
            response = await HTTP_THREADS.run(copy_context().run, self._answer, scope, body)
            if response.streaming:
                await self._stream(response, receive, send)
            else:
                await self.send_response(response, send)
        finally:
            body.close()

    def _answer(self, scope: Any, body: IO[bytes]) -> HttpResponseBase:
        """The whole way of a request; what is not a stream is complete afterwards."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response: Any = refused if request is None else self.get_response(request)
        response._handler_class = self.__class__  # noqa: SLF001 -- As Django's own handlers do.
        if not response.streaming:
            # In this thread, whose connection is looked after then.
            response.close()
        answer: HttpResponseBase = response
        return answer

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send it until its end, or until nobody reads any more."""
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


async def _receive_into(body: Spool, receive: Any) -> None:
    """Write a whole body. Raises `RequestAborted`."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestAborted
        body.write(message.get("body", b""))
        if not message.get("more_body", False):
            return
