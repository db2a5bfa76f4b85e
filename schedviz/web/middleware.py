"""Middleware for every response: the content security policy, static files, and an error message while the database is down."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import IO, Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from schedviz.web.live.database import DATABASE_UNAVAILABLE

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
        file_response = static_file.get_response(request.method, request.META)
        with file_response.file or BytesIO() as file:
            response = HttpResponse(
                _content(file) if file_response.status == HTTPStatus.OK else file.read(), status=int(file_response.status)
            )
        # WhiteNoise sets the header if it applies.
        del response["Content-Type"]
        for name, value in file_response.headers:
            response[name] = value
        return response


def _content(file: IO[bytes]) -> bytes:
    """The content of a static file. Responses share it: clients that read slowly must not multiply its memory."""
    if not isinstance(file, BufferedReader):
        return file.read()
    status = os.fstat(file.fileno())
    return _read(str(file.name), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read(path: str, _changed: int, _size: int) -> bytes:
    return Path(path).read_bytes()


class DatabaseDown:
    """Responds with 503 and a sentence if a page or a response needs the database and it is down."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = self.get_response(request)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DATABASE_UNAVAILABLE):
            return None
        from schedviz.web.api.errors import not_stored, refusal

        status, code, message = not_stored(exception)
        log.error(message, path=request.path, error=str(exception))
        return refusal(status, code, message, headers={"Retry-After": "2"})
