"""Turns Django's own HTML error pages under `/api/` and `/ws/` into problem responses (RFC 9457)."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from schedviz.web.api.errors import refusal
from schedviz.web.api.problem_details import MEDIA_TYPE

_PREFIXES = ("/api/", "/ws/")
#: Code and message for responses that only have a status.
_STATUSES: dict[int, tuple[str, str]] = {
    400: ("invalid", "The request is malformed."),
    403: ("forbidden", "The request was refused: it changes data and has no valid CSRF token."),
    404: ("not_found", "There is no such address."),
    405: ("method_not_allowed", "This address does not have this method; the Allow header lists its methods."),
    413: ("too_large", "The request is too large."),
    500: ("internal", "An internal error occurred and was logged. The request may be tried again."),
}
#: Headers that describe the replaced body.
_BODY_HEADERS = frozenset({"content-type", "content-length"})


class ProblemResponses:
    """The middleware. It wraps the middleware that refuses requests, and is wrapped by the one that adds headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not f"{request.path_info}/".startswith(_PREFIXES):
            return self.get_response(request)
        try:
            request.get_host()
        except DisallowedHost:
            message = "The Host header names a host that this server does not serve."
            hint = "Use the server's own name; SCHEDVIZ_ALLOWED_HOSTS lists the allowed names."
            return refusal(400, "wrong_host", message, {"path": "Host", "hint": hint})
        response = self.get_response(request)
        if response.status_code < 400 or response.get("Content-Type", "").startswith(MEDIA_TYPE):
            return response
        return _as_problem(response)


def _as_problem(response: HttpResponseBase) -> HttpResponseBase:
    code, message = _STATUSES.get(response.status_code, _STATUSES[500 if response.status_code >= 500 else 400])
    headers = {name: value for name, value in response.items() if name.lower() not in _BODY_HEADERS}
    problem_response = refusal(response.status_code, code, message, headers=headers)
    problem_response.cookies = response.cookies
    return problem_response
