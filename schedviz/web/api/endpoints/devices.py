"""`/api/v1/sessions/{id}/devices/`: the devices of a session's nodes, and the claims that have them."""

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
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb


class Devices(Resource):
    """Devices, claims and classes."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="devices",
        parameters=[
            AT,
            query("node", str, "Only the pools of this node, and the claims that have their devices."),
            query("pod", str, "Only the claims of this pod (`namespace/name`), and the pools of their devices."),
        ],
        responses={
            200: OpenApiResponse({"type": "object", "additionalProperties": True}, "A DeviceInventory: docs/devices.md."),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """List the devices of all nodes with the claims that have them, the claims, and the device classes."""
        session = session_for(request, session_id, Verb.SEE)
        node, pod = (request.query_params.get(name, "") for name in ("node", "pod"))
        return analyse(session, requests.DevicesRequest(node, pod, at=moment(request, session)))
