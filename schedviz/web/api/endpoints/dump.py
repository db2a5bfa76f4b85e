"""`/api/v1/sessions/{id}/dump/`: the output of the session's scheduler on SIGUSR2."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis import requests
from schedviz.web.api.access import one_of, session_for, whole_number
from schedviz.web.api.endpoints.explain import analyse, moment
from schedviz.web.api.endpoints.moments import AT
from schedviz.web.api.openapi import error_responses
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb

_FORMATS = ("text", "json")
#: Higher levels than 3 print nothing more; kube-scheduler accepts them.
_MAX_VERBOSITY = 10


class Dump(Resource):
    """The scheduler's log lines."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="dumpScheduler",
        parameters=[
            AT,
            query("format", str, "The logging format: `text` (default) or `json`.", choices=_FORMATS),
            query(
                "v",
                int,
                "The log verbosity, 2 by default. From 3 on, the start and the end of the comparer are logged too.",
                maximum=_MAX_VERBOSITY,
            ),
        ],
        responses={
            (200, "text/plain"): OpenApiResponse(
                OpenApiTypes.STR, "The differences that the comparer found, the nodes with their pods, and the queue: docs/dump.md."
            ),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Read the output of kube-scheduler on SIGUSR2, byte for byte."""
        session = session_for(request, session_id, Verb.SEE)
        format_ = one_of(request, "format", _FORMATS)
        verbosity = whole_number(request, "v", default=2, maximum=_MAX_VERBOSITY)
        result = analyse(session, requests.DumpRequest(at=moment(request, session), json=format_ == "json", verbosity=verbosity))
        return HttpResponse(msgspec.json.decode(result.content, type=str), content_type="text/plain; charset=utf-8")
