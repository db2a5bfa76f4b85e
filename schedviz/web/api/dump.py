"""`/api/v1/sessions/{id}/dump/`: what SIGUSR2 would make the scheduler of a session print."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis import requests
from schedviz.web.actors import Verb
from schedviz.web.api.access import one_of, session_for, whole_number
from schedviz.web.api.explain import ask, moment
from schedviz.web.api.moments import AT
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.schema import refused

_FORMATS = ("text", "json")
#: The most that says anything is 3; kube-scheduler takes what it is given.
_MOST_VERBOSE = 10


class Dump(Resource):
    """The lines of the scheduler's log."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="dumpScheduler",
        parameters=[
            AT,
            query("format", str, "As which logging prints it: `text` (what is left out) or `json`.", choices=_FORMATS),
            query(
                "v",
                int,
                "The verbosity of the log, 2 if left out; from 3 on also that the comparer started and finished.",
                most=_MOST_VERBOSE,
            ),
        ],
        responses={
            (200, "text/plain"): OpenApiResponse(
                OpenApiTypes.STR, "What the comparer found, nodes with their pods, the queue: docs/dump.md."
            ),
            **refused(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Read what kube-scheduler prints on SIGUSR2, byte for byte."""
        session = session_for(request, session_id, Verb.SEE)
        wanted = one_of(request, "format", _FORMATS)
        verbosity = whole_number(request, "v", default=2, most=_MOST_VERBOSE)
        answer = ask(session, requests.Dumped(at=moment(request, session), json=wanted == "json", verbosity=verbosity))
        return HttpResponse(msgspec.json.decode(answer.content, type=str), content_type="text/plain; charset=utf-8")
