"""`/api/v1/sessions/{id}/export/`: downloads a session as a file."""

from __future__ import annotations

import re
from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis import requests
from schedviz.sessions.errors import NotExportable
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import session_file_export, trace_export
from schedviz.web.accounts.audit import Action, record_once_an_hour
from schedviz.web.api import versions
from schedviz.web.api.access import one_of, optional_number, session_for
from schedviz.web.api.download import Download, downloads
from schedviz.web.api.endpoints.explain import analyse
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.shared_computations import TRACES
from schedviz.web.auth.actors import Verb

_FORMATS = ("schedviz", "trace")


class Export(Resource):
    """A session as a file."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="exportSession",
        parameters=[
            query(
                "format",
                str,
                "`schedviz` (default): the whole session, for an import elsewhere. `trace`: a schedviz-trace/1.",
                choices=_FORMATS,
            ),
            query("to", int, "With `format=trace`: the event at which the trace ends."),
            query("from", int, "With `format=trace`: start with the objects of this moment, instead of the session's beginning."),
            query(
                "observed",
                int,
                "With `format=trace`: 1 runs the trace and adds the observations, as `schedviz conformance` reads them.",
                maximum=1,
            ),
        ],
        responses={
            (200, "application/json"): OpenApiResponse(
                {"type": "object", "additionalProperties": True}, "With format=trace: a schedviz-trace/1."
            ),
            (200, "application/gzip"): OpenApiResponse(OpenApiTypes.BINARY, "A .schedviz file (docs/files.md), or with format=trace JSON."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponseBase:
        """Download a session up to its last applied command, or the commands that lead to a moment as a trace."""
        session = session_for(request, session_id, Verb.SEE)
        format_ = one_of(request, "format", _FORMATS)
        after, until = optional_number(request, "from"), optional_number(request, "to")
        if after is not None and after >= (session.event if until is None else until):
            expected = f"an event before {session.event if until is None else until}"
            raise ApiError(400, "invalid", f"?from={after}: {expected} was expected.", path="?from", expected=expected, found=str(after))
        observed = request.query_params.get("observed") == "1"
        record_once_an_hour(Action.SESSION_EXPORTED, request, session, format=format_)
        try:
            if format_ == "schedviz":
                return _file(session)
            with downloads.slot():
                if after is not None or observed:
                    return _recording(session, after, until, observed=observed)
                return _trace(session, until)
        except NotExportable as error:
            raise ApiError(409, error.code, str(error)) from error


def _file(session: Session) -> HttpResponseBase:
    slot = downloads.acquire()
    try:
        response = Download(session_file_export.export(session), slot, content_type="application/gzip")
    except BaseException:
        slot.release()
        raise
    response["Content-Disposition"] = _named(session, "schedviz")
    return response


def _trace(session: Session, until: int | None) -> HttpResponseBase:
    key = ("trace", session.pk, until, versions.etag_of_head(session))
    body = TRACES.once(key, lambda: msgspec.json.encode(trace_export.trace(session, until=until)))
    response = HttpResponse(body, content_type="application/json")
    response["Content-Disposition"] = _named(session, "json")
    return response


def _recording(session: Session, after: int | None, until: int | None, *, observed: bool) -> HttpResponseBase:
    """The trace is created and checked in a worker."""
    response = analyse(session, requests.RecordingRequest(after=after, until=until, observed=observed))
    response["Content-Disposition"] = _named(session, "json")
    return response


def _named(session: Session, ending: str) -> str:
    name = re.sub(r"[^\w.-]+", "-", session.name).strip("-.")[:80] or "session"
    return content_disposition_header(as_attachment=True, filename=f"{name}.{ending}") or "attachment"
