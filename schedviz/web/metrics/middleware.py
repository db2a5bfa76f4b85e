"""Times every request, under the route that answered it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.sessions.metrics.process import REQUESTS

#: Anybody can ask for anything: only what is known becomes a label.
_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))


class RequestMetrics:
    """The first middleware: what the others take is counted too."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        began = time.perf_counter()
        if self.is_async:
            return self._later(request, began)
        response: HttpResponseBase = self.get_response(request)
        _observe(request, response, began)
        return response

    async def _later(self, request: HttpRequest, began: float) -> HttpResponseBase:
        response: HttpResponseBase = await self.get_response(request)
        _observe(request, response, began)
        return response


def _observe(request: HttpRequest, response: HttpResponseBase, began: float) -> None:
    method = request.method if request.method in _METHODS else "other"
    route = request.resolver_match.route if request.resolver_match is not None else "other"
    REQUESTS.labels(method, route, str(response.status_code)).observe(time.perf_counter() - began)
