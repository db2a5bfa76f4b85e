"""What every answer goes through: security headers, static files, and a plain word when the database is down."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware

from schedviz.web.live.database import DATABASE_AWAY

log = structlog.get_logger(__name__)

_TEXTS = {"text/javascript", "application/javascript", "text/css", "image/svg+xml", "application/json", "text/html"}
_WORTH_PACKING_BYTES = 1024

GetResponse = Callable[[HttpRequest], Any]


class SecurityHeaders:
    """A strict content security policy and its company on every answer."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = self.get_response(request)
        headers = response.headers
        headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        headers.setdefault("X-Content-Type-Options", "nosniff")
        if "frame-ancestors 'none'" in headers["Content-Security-Policy"]:
            # It knows one site or none: where there is a list, the policy alone has it.
            headers.setdefault("X-Frame-Options", "DENY")
        headers.setdefault("Referrer-Policy", "same-origin")
        headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
        if settings.PUBLIC:
            headers.setdefault("Strict-Transport-Security", f"max-age={settings.SECURE_HSTS_SECONDS}")
        return response


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc,unused-ignore]
    """WhiteNoise, with whole bodies, compressed once and kept: its file answers are iterators for threads, which ASGI warns about.

    The files are small: the front end and its fonts.
    """

    def immutable_file_test(self, _path: str, url: str) -> bool:
        return bool(self._immutable.match(url))

    def __init__(self, get_response: GetResponse) -> None:
        self._immutable = re.compile(settings.WHITENOISE_IMMUTABLE_FILE_TEST)
        #: Compressed bodies by path and ETag.
        self._packed: dict[tuple[str, str], bytes] = {}
        super().__init__(get_response)

    def serve(self, static_file: Any, request: HttpRequest) -> HttpResponse:
        answer = static_file.get_response(request.method, request.META)
        try:
            body = answer.file.read() if answer.file is not None else b""
        finally:
            if answer.file is not None:
                answer.file.close()
        response = HttpResponse(body, status=int(answer.status))
        del response["Content-Type"]
        for name, value in answer.headers:
            response[name] = value
        if request.method == "GET" and response.status_code == HTTPStatus.OK:
            self._pack(request, response)
        return response

    def _pack(self, request: HttpRequest, response: HttpResponse) -> None:
        """Compress a text, for who can read it."""
        kind = response.get("Content-Type", "").partition(";")[0]
        if kind not in _TEXTS or response.has_header("Content-Encoding") or len(response.content) < _WORTH_PACKING_BYTES:
            return
        patch_vary_headers(response, ["Accept-Encoding"])
        if "gzip" not in request.headers.get("Accept-Encoding", ""):
            return
        key = (request.path_info, response.get("ETag", ""))
        if key not in self._packed:
            self._packed[key] = gzip.compress(response.content, 9, mtime=0)
        response.content = self._packed[key]
        response["Content-Encoding"] = "gzip"
        response["Content-Length"] = str(len(response.content))


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
