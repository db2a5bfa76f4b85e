"""`/api/v1/compare/`: compares two sessions, or two moments of one, as JSON or as a self-contained HTML file."""

from __future__ import annotations

import re
from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis.requests import CompareRequest
from schedviz.sessions.models import Session
from schedviz.trace.comparing import Comparison
from schedviz.trace.comparing.report import html_report
from schedviz.web.api import rendering, versions
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints.explain import analysis_result
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

_MOMENT = re.compile(r"(?P<session>[0-9a-fA-F-]{36})(?:@(?P<event>[0-9]{1,18}))?")
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_WHICH = [
    query(
        "a",
        str,
        "The id of a session, or `<id>@<event>` for its state after that event.",
        pattern=f"^{_UUID}(@[0-9]{{1,18}})?$",
        required=True,
    ),
    query(
        "b",
        str,
        "The other session, in the same form. It may be the same session at another event.",
        pattern=f"^{_UUID}(@[0-9]{{1,18}})?$",
        required=True,
    ),
]


class Compare(Resource):
    """The comparison of two moments."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="compare",
        parameters=_WHICH,
        responses={200: response(Comparison), 304: NOT_MODIFIED, **error_responses(400, 404, 409, 503)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare two sessions: placements, the first difference, the scores there, node utilization, and the reasons of pending pods."""
        return HttpResponse(_compared(request), content_type=rendering.JsonRenderer.media_type)


class CompareReport(Resource):
    """The comparison as a file."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="compareReport",
        parameters=_WHICH,
        responses={
            (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, description="A self-contained HTML file."),
            304: NOT_MODIFIED,
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Download the comparison as one HTML file that can be opened without a network."""
        comparison = msgspec.json.decode(_compared(request), type=Comparison)
        page = HttpResponse(html_report(comparison), content_type="text/html; charset=utf-8")
        page["Content-Disposition"] = 'attachment; filename="schedviz-comparison.html"'
        return page


def _compared(request: Request) -> bytes:
    """The comparison of the moments in the query string as JSON; sets its ETag. Raises `ApiError` or `Unchanged`."""
    (a, event_a), (b, event_b) = _moment(request, "a"), _moment(request, "b")
    heads = versions.etag_of_head(a), versions.etag_of_head(b)
    comparison = analysis_result(a, CompareRequest(at=event_a, other=b.pk, other_at=event_b, versions=heads), unavailable_status=404)
    versions.set_etag(request, versions.etag_of_content(comparison.decode()))
    return comparison


def _moment(request: Request, name: str) -> tuple[Session, int]:
    raw = request.query_params.get(name, "")
    match = _MOMENT.fullmatch(raw)
    try:
        session_id = UUID(match["session"]) if match else None
    except ValueError:
        session_id = None
    if match is None or session_id is None:
        expected = "a session's id, or <id>@<event>"
        raise ApiError(400, "invalid", f"?{name}={raw[:80]}: expected {expected}.", path=f"?{name}", expected=expected, found=raw[:80])
    session = session_for(request, session_id, Verb.SEE)
    return session, session.event if match["event"] is None else min(int(match["event"]), session.event)
