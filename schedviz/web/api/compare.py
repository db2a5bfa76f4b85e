"""`/api/v1/compare/`: compares two sessions, or two moments of one, as JSON or as a self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis.comparison import compare_sessions
from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.sessions.replay.cycle_details import DetailLate
from schedviz.trace.comparing import Comparison
from schedviz.trace.comparing.report import html_report
from schedviz.web.actors import Verb
from schedviz.web.api import rendering, versions
from schedviz.web.api.access import session_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.foldings import FOLDINGS
from schedviz.web.api.moments import busy
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.waiting import TooManyWait, requester, waits

#: How long the comparison waits for the scores of all nodes, in seconds.
DETAIL_SECONDS = 5.0
#: Comparing this many events takes about a tenth of a second.
_QUICK_EVENTS = 5_000
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
        responses={200: response(Comparison), 304: NOT_MODIFIED, **error_responses(400, 404, 503)},
    )
    def get(self, request: Request) -> HttpResponse:
        """Compare two sessions: placements, the first difference, the scores there, node utilization, and the reasons of pending pods."""
        return HttpResponse(_compared(request, rendering.encoded), content_type=rendering.JsonRenderer.media_type)


class CompareReport(Resource):
    """The comparison as a file."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="compareReport",
        parameters=_WHICH,
        responses={
            (200, "text/html"): OpenApiResponse(OpenApiTypes.STR, description="A self-contained HTML file."),
            304: NOT_MODIFIED,
            **error_responses(400, 404, 503),
        },
    )
    def get(self, request: Request) -> HttpResponse:
        """Download the comparison as one HTML file that can be opened without a network."""
        page = HttpResponse(_compared(request, _report), content_type="text/html; charset=utf-8")
        page["Content-Disposition"] = 'attachment; filename="schedviz-comparison.html"'
        return page


def _report(comparison: Comparison) -> bytes:
    return html_report(comparison).encode()


def _compared(request: Request, render: Callable[[Comparison], bytes]) -> bytes:
    """The rendered comparison of the moments in the query string; sets its ETag. Raises `ApiError` or `Unchanged`."""
    a, b = _moment(request, "a"), _moment(request, "b")
    is_quick = _is_quick(*a) and _is_quick(*b)

    def fold() -> tuple[str, bytes]:
        comparison = compare_sessions(a, b, detail_seconds=DETAIL_SECONDS, pause=_waiting if is_quick else _paused, sender=requester.get())
        return versions.etag_of_content(comparison), render(comparison)

    try:
        version, body = fold() if is_quick else FOLDINGS.once((render, *_identity(*a), *_identity(*b)), fold)
    except TooManyWait as error:
        raise busy(error) from error
    except HistoryUnavailable as error:
        raise ApiError(404, error.code, str(error)) from error
    versions.set_etag(request, version)
    return body


def _is_quick(session: Session, event: int) -> bool:
    """Whether a comparison with this moment takes so little time that nothing needs to limit it: events are compared one by one."""
    return reading.is_small(session) and event <= _QUICK_EVENTS


def _identity(session: Session, event: int) -> tuple[UUID, int, str]:
    return session.pk, event, versions.etag_of_head(session)


@contextmanager
def _waiting() -> Iterator[None]:
    """Counts the request while it waits for a worker. Raises `DetailLate` if too many wait."""
    try:
        with waits.one():
            yield
    except TooManyWait as error:
        raise DetailLate(str(error)) from error


@contextmanager
def _paused() -> Iterator[None]:
    """As `_waiting`, and leaves the place of the folding to others."""
    with _waiting(), FOLDINGS.pause():
        yield


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
