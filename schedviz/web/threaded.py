"""Django's HTTP in one thread for each request: all of our views are synchronous, and so is the whole way to them.

Django itself would go from the event loop to a thread, from there to an event loop made for the request, and back to the thread: half of
what a small read costs.
"""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class ThreadedHandler(ASGIHandler):
    """The ASGI application of Django, with a synchronous chain of middleware behind one step into a thread."""

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 -- Django calls it so.
        """Load it for threads."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, made in a thread of the request's own."""
        answer: Any = await sync_to_async(self.get_response, thread_sensitive=True)(request)
        made: HttpResponseBase = answer
        return made
