"""`/api/v1/sessions/{id}/view/`: the view of a session at any moment, and the `?at=` parameter of all resources."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.web.actors import Verb
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import optional_number, session_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.past_moments import PAST_MOMENTS
from schedviz.web.api.resource import Resource, query
from schedviz.web.waiting import TooManyWait

AT = query("at", int, "An event number: the state after that event. By default, or if the event has not happened yet, the newest state.")


class ViewAt(Resource):
    """The view of a session."""

    @extend_schema(
        operation_id="getView", parameters=[AT], responses={200: response(schemas.ViewBody), 304: NOT_MODIFIED, **error_responses(400, 404)}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read the view after an event, as the WebSocket sends it. Fold later events over it to continue."""
        session = session_for(request, session_id, Verb.SEE)
        versions.set_etag(request, versions.etag_of_moment(session, optional_number(request, "at")))
        moment = moment_at(request, session)
        return Response(
            schemas.ViewBody(event=moment.view.event, chunk=moment.chunk, first_event=reading.first_moment(session), view=moment.view)
        )


def moment_at(request: Request, session: Session) -> reading.Moment:
    """The moment of the query string. Raises `ApiError`: 400, 404 if its history is no longer stored, or 503 if many requests wait."""
    event = optional_number(request, "at")
    if event is None or event >= session.event:
        return reading.state_at_head(session)
    try:
        return PAST_MOMENTS.at(session, event)
    except TooManyWait as error:
        raise ApiError(503, "busy", f"{error} Try again in a moment.", headers={"Retry-After": "2"}) from error
    except HistoryUnavailable as error:
        first = reading.first_moment(session)
        raise ApiError(404, error.code, str(error), path="?at", expected=f"{first} or more", found=str(event)) from error
