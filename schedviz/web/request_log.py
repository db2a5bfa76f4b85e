"""Binds log lines to their request: each line carries the request id, and the session of the address.

The id is the proxy's `X-Request-ID`, if there is one, and is returned in the same header. With SCHEDVIZ_LOG_REQUESTS=1 each request is
logged as a line of its own.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from structlog.contextvars import bound_contextvars

from schedviz.sessions import tracing

log = structlog.get_logger(__name__)

HEADER = "X-Request-ID"
#: The form of an id that a proxy may send: other texts could inject lines into log viewers.
_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")


class RequestLog:
    """Binds the ids for the log lines that are written during a request."""

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with _bound(request) as id_, _traced(request):
            began = time.perf_counter()
            response: HttpResponseBase = self.get_response(request)
            response.headers.setdefault(HEADER, id_)
            _log_request(request, response, time.perf_counter() - began)
            return response

    @staticmethod
    def process_view(_request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        """Called once the address is resolved."""
        if "session_id" in kwargs:
            structlog.contextvars.bind_contextvars(session=str(kwargs["session_id"]))


@contextmanager
def _bound(request: HttpRequest) -> Iterator[str]:
    sent = request.headers.get(HEADER, "")
    id_ = sent if _ID.fullmatch(sent) else secrets.token_hex(8)
    # The session is bound when the address is resolved, and unbound with the request.
    with bound_contextvars(request=id_, session=""):
        structlog.contextvars.unbind_contextvars("session")
        yield id_


@contextmanager
def _traced(request: HttpRequest) -> Iterator[None]:
    with tracing.request_span(request.method or "", request.headers) as span:
        yield
        if span is not None and request.resolver_match is not None:
            span.update_name(f"{request.method} {request.resolver_match.route}")


def _log_request(request: HttpRequest, response: HttpResponseBase, seconds: float) -> None:
    if settings.LOG_REQUESTS:
        route = request.resolver_match.route if request.resolver_match is not None else ""
        log.info("request", method=request.method, route=route, status=response.status_code, seconds=round(seconds, 4))
