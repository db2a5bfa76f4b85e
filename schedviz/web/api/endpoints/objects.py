"""`/api/v1/sessions/{id}/objects/`: one object of the simulated API server, and the objects that a label selector selects."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.kube.kinds import BY_NAME, Kind
from schedviz.kube.selector_text import parse_selector
from schedviz.kube.selectors import SelectorError
from schedviz.sessions.analysis import requests
from schedviz.web.api import schemas
from schedviz.web.api.access import session_for
from schedviz.web.api.endpoints.explain import analyse, moment
from schedviz.web.api.endpoints.moments import AT
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses, response
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb


class OneObject(Resource):
    """One object."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="getObject",
        parameters=[
            query("kind", str, "Pod, Node, PersistentVolumeClaim, …", choices=tuple(BY_NAME), required=True),
            query("name", str, "Its name.", required=True),
            query("namespace", str, "The namespace, for namespaced kinds: default."),
            AT,
        ],
        responses={
            200: OpenApiResponse(
                {"type": "object", "additionalProperties": True},
                "The fields that the scheduler reads; other fields are replaced by a digest, in members that begin with `unread`.",
            ),
            **error_responses(400, 404, 409, 503),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Read an object as it is stored. An object of the newest state can be sent back with an `update` command."""
        session = session_for(request, session_id, Verb.SEE)
        kind = _kind(request)
        name = request.query_params.get("name", "")
        if not name:
            raise ApiError(400, "invalid", "?name: the name of an object is expected.", path="?name", expected="a name")
        namespace = request.query_params.get("namespace", "") or "default"
        key = f"{namespace}/{name}" if kind.namespaced else name
        return analyse(session, requests.ObjectRequest(kind=kind.name, key=key, at=moment(request, session)))


class SelectedObjects(Resource):
    """The objects of a kind that a label selector selects."""

    rates: ClassVar[dict[str, Scope]] = {"GET": "questions"}

    @extend_schema(
        operation_id="selectObjects",
        parameters=[
            query("kind", str, "Pod, Node, PersistentVolumeClaim, …", choices=tuple(BY_NAME), required=True),
            query(
                "selector",
                str,
                "A selector as for `kubectl -l`: `zone=a,tier!=web,gpu,!spot,arch in (amd64,arm64)`. By default, all objects of the kind.",
            ),
            AT,
        ],
        responses={200: response(schemas.NamesBody), **error_responses(400, 404, 409, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """List the objects that a label selector selects, as `namespace/name`, or as the name for kinds without namespaces."""
        session = session_for(request, session_id, Verb.SEE)
        kind = _kind(request)
        selector = request.query_params.get("selector", "")
        try:
            parse_selector(selector)
        except SelectorError as error:
            raise ApiError(400, "invalid", f"?selector: {error}", path="?selector", found=selector) from error
        return analyse(session, requests.SelectorRequest(kind=kind.name, selector=selector, at=moment(request, session)))


def _kind(request: Request) -> Kind:
    kind = BY_NAME.get(kind_name := request.query_params.get("kind", ""))
    if kind is None:
        kinds = ", ".join(BY_NAME)
        raise ApiError(400, "invalid", f"?kind={kind_name}: one of {kinds} is expected.", path="?kind", expected=kinds, found=kind_name)
    return kind
