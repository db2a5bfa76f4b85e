"""`/api/v1/sessions/{id}/events/`: what the scheduler did, event by event."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedviz.sessions import history
from schedviz.web.api import bodies
from schedviz.web.api.access import page_of, session_for
from schedviz.web.api.schema import answer, query, refused
from schedviz.web.permissions import Verb

PAGE = 500
LONGEST_PAGE = 5000


class Events(APIView):
    """The trace events of a session."""

    @extend_schema(
        operation_id="listEvents",
        parameters=[
            query("after", int, "The number of an event; those after it are given. 0: from the first."),
            query("before", int, "The number of an event; those before it are given, the last of them where there is no `after`."),
            query("limit", int, f"How many at most: {PAGE}, never more than {LONGEST_PAGE}."),
            query("tail", int, "The last so many, instead of `limit`."),
        ],
        responses={200: answer(bodies.EventList), **refused(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read trace events, in order."""
        session = session_for(request, session_id, Verb.SEE)
        page = page_of(request, default=PAGE, most=LONGEST_PAGE)
        found = history.events(session.pk, after=page.after, before=page.before, limit=page.limit, tail=page.tail)
        last = max(session.event, found[-1].event if found else 0)
        return Response(
            bodies.EventList(
                events=found,
                last=last,
                next=found[-1].event if found and found[-1].event < last else None,
                previous=found[0].event if found and found[0].event > 1 else None,
            )
        )
