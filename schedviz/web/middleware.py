"""Middleware for every response: the content security policy, static files, and an error message while the database is down."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from schedviz.web.live.database import DATABASE_AWAY

log = structlog.get_logger(__name__)

GetResponse = Callable[[HttpRequest], Any]


class ContentSecurityPolicy:
    """Adds the content security policy to responses that have none. Django 6.0 brings such a middleware (docs/decisions/0012)."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc,unused-ignore]
    """WhiteNoise with complete bodies. Its responses iterate over a file synchronously, which Django warns about under ASGI.

    The front end's build writes the `.gz` files that WhiteNoise sends to clients which accept gzip.
    """

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        with found.file or BytesIO() as file:
            response = HttpResponse(file.read(), status=int(found.status))
        # WhiteNoise sets it where there is one.
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


class DatabaseDown:
    """503 and one sentence, where a page or an answer needs the database and it is not there."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = self.get_response(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DATABASE_AWAY):
            return None
        from schedviz.web.api.errors import not_stored, refusal

        status, code, message = not_stored(exception)
        log.error(message, path=request.path, error=str(exception))
        return refusal(status, code, message, headers={"Retry-After": "2"})
