"""Response headers that are set before the response exists, for example by the rate limit, whichever code creates the response."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request

_ATTRIBUTE = "schedviz_response_headers"
#: These describe the resource, so error responses do not get them.
_RESOURCE_HEADERS = frozenset({"ETag", "Link"})


def add_header(request: Request | HttpRequest, name: str, value: str) -> None:
    """Set a header of the response to this request."""
    plain = request._request if isinstance(request, Request) else request  # noqa: SLF001 -- DRF has no other way to what it wraps.
    noted: dict[str, str] = getattr(plain, _ATTRIBUTE, {})
    setattr(plain, _ATTRIBUTE, {**noted, name: value})


class ResponseHeaders:
    """The middleware that copies the headers to the response. A header that a view set itself is kept."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for name, value in getattr(request, _ATTRIBUTE, {}).items():
            if response.status_code < 400 or name not in _RESOURCE_HEADERS:
                response.headers.setdefault(name, value)
        if request.path.startswith("/api/"):
            # Unless the view allows a browser to store it.
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
