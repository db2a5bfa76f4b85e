"""`/api/v1/cases/`: everyday cases that ship with schedviz."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.samples.cases import Case, cases, thumbnails
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb


class Cases(Resource):
    """The everyday cases."""

    @extend_schema(operation_id="listCases", responses={200: response(schemas.CaseList), 304: NOT_MODIFIED, **error_responses(401)})
    def get(self, request: Request) -> Response:
        """List the everyday cases: small clusters in which a pod waits for a frequent reason, each with its usual fix."""
        actor_for(request, Verb.LIST)
        return versions.versioned(request, schemas.CaseList(results=[_line(case) for case in cases()]))


def _line(case: Case) -> schemas.CaseLine:
    drawn = thumbnails()[case.name]
    nodes = [schemas.NodeMark(mark.node, mark.zone, mark.used, mark.requested, mark.plugin) for mark in drawn.nodes]
    return schemas.CaseLine(
        name=case.name,
        title=case.title,
        seen=case.seen,
        fix=case.fix,
        action=case.action,
        pod=case.pod,
        reason=case.reason,
        commands=case.commands,
        thumbnail=schemas.Thumbnail(drawn.resource, nodes),
    )
