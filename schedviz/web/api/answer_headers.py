"""Headers that something on the way of a request wants on its answer, whoever makes that: the view, the error handler, a stream."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request

_MEMBER = "schedviz_answer_headers"
#: They are about what was asked for, not about a refusal.
_OF_WHAT_IS_GIVEN = frozenset({"ETag", "Link"})


def add_header(request: Request | HttpRequest, name: str, value: str) -> None:
    """Let the answer to this request have a header."""
    plain = request._request if isinstance(request, Request) else request  # noqa: SLF001 -- DRF has no other way to what it wraps.
    noted: dict[str, str] = getattr(plain, _MEMBER, {})
    setattr(plain, _MEMBER, {**noted, name: value})


class AnswerHeaders:
    """The middleware that puts them there; what a view has set itself stays."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for name, value in getattr(request, _MEMBER, {}).items():
            if response.status_code < 400 or name not in _OF_WHAT_IS_GIVEN:
                response.headers.setdefault(name, value)
        return response
