"""`/api/v1/problems/`: what can go wrong, for whoever follows the `type` of a problem."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.api.problems import TITLES, ProblemLine, ProblemList
from schedviz.web.api.resource import Resource
from schedviz.web.api.schema import answer, refused


class Problems(Resource):
    """Kinds of problems."""

    @extend_schema(operation_id="listProblems", responses={200: answer(ProblemList), **refused()}, auth=[])
    def get(self, _request: Request) -> Response:
        """List what `code` can be in a problem, with its title. The `type` of a problem leads here."""
        return Response(ProblemList([ProblemLine(code, title) for code, title in TITLES.items()]))
