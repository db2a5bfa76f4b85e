"""Measures the duration of every request, by route."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.sessions.metrics.process import REQUESTS

#: Clients can send any method; only known ones become labels, so that the number of series stays bounded.
_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))


class RequestMetrics:
    """The outermost middleware, so that the time spent in the others counts."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        began = time.perf_counter()
        response: HttpResponseBase = self.get_response(request)
        method = request.method if request.method in _METHODS else "other"
        route = request.resolver_match.route if request.resolver_match is not None else "other"
        REQUESTS.labels(method, route, str(response.status_code)).observe(time.perf_counter() - began)
        return response
