"""`/api/v1/problems/`: the list of problem codes, to which the `type` of each problem points."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.api.openapi import error_responses, response
from schedviz.web.api.problem_details import TITLES, ProblemLine, ProblemList
from schedviz.web.api.resource import Resource


class Problems(Resource):
    """The kinds of problems."""

    @extend_schema(operation_id="listProblems", responses={200: response(ProblemList), **error_responses()}, auth=[])
    def get(self, _request: Request) -> Response:
        """List the possible values of `code` with their titles. The `type` of a problem points here."""
        return Response(ProblemList([ProblemLine(code, title) for code, title in TITLES.items()]))
