"""`/api/v1/sessions/{id}/describe/…`: the sums of `kubectl describe` next to those of the scheduler's cache."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.sessions.analysis import requests
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints.explain import analyse, moment
from schedviz.web.api.endpoints.moments import AT
from schedviz.web.api.openapi import error_responses
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb


class DescribeNode(Resource):
    """A node."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="describeNode",
        parameters=[AT],
        responses={
            200: OpenApiResponse({"type": "object", "additionalProperties": True}, "A NodeDescription: docs/explain.md."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID, name: str) -> HttpResponse:
        """Add up the requests on a node: of the pods that the API server has there, and of those in the cache."""
        session = session_for(request, session_id, Verb.SEE)
        return analyse(session, requests.DescribeRequest("Node", name, at=moment(request, session)))


class DescribePod(Resource):
    """A pod."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="describePod",
        parameters=[AT],
        responses={
            200: OpenApiResponse({"type": "object", "additionalProperties": True}, "A PodDescription: docs/explain.md."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID, namespace: str, name: str) -> HttpResponse:
        """Add up the requests of a pod, and compare them with its node's allocatable resources."""
        session = session_for(request, session_id, Verb.SEE)
        return analyse(session, requests.DescribeRequest("Pod", f"{namespace}/{name}", at=moment(request, session)))
