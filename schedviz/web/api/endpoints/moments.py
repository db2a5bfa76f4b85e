"""`/api/v1/sessions/{id}/view/`: the view of a session at any moment, and the `?at=` parameter of all resources."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from schedviz.sessions.errors import HistoryUnavailable
from schedviz.sessions.history import reading
from schedviz.sessions.models import Session
from schedviz.web.api import rendering, schemas, versions
from schedviz.web.api.access import optional_number, session_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource, query
from schedviz.web.api.shared_computations import STATES
from schedviz.web.auth.actors import Verb

AT = query("at", int, "An event number: the state after that event. By default, or if the event has not happened yet, the newest state.")


class ViewAt(Resource):
    """The view of a session."""

    @extend_schema(
        operation_id="getView",
        parameters=[AT],
        responses={200: response(schemas.ViewBody), 304: NOT_MODIFIED, **error_responses(400, 404, 503)},
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponse:
        """Read the view after an event, as the WebSocket sends it. Fold later events over it to continue."""
        session = session_for(request, session_id, Verb.SEE)
        versions.set_etag(request, versions.etag_of_moment(session, optional_number(request, "at")))
        return moment_response(request, session, _view_body)


def _view_body(session: Session, moment: reading.Moment) -> schemas.ViewBody:
    return schemas.ViewBody(event=moment.view.event, chunk=moment.chunk, first_event=reading.first_moment(session), view=moment.view)


def moment_response(request: Request, session: Session, body_of: Callable[[Session, reading.Moment], msgspec.Struct]) -> HttpResponse:
    """The response about the moment of the query string, whose body `body_of` makes.

    Raises `ApiError`: 400, or 404 if the history of the moment is no longer stored; and `TooManyWait`.
    """
    event = optional_number(request, "at")
    if event is not None and event >= session.event:
        event = None

    def encoded() -> bytes:
        moment = reading.state_at_head(session) if event is None else reading.state_at_event(session, event)
        return rendering.encoded(body_of(session, moment))

    try:
        if event is None and reading.is_small(session):
            body = encoded()
        else:
            body = STATES.once((body_of, session.pk, event, versions.etag_of_head(session)), encoded)
    except HistoryUnavailable as error:
        first = reading.first_moment(session)
        raise ApiError(404, error.code, str(error), path="?at", expected=f"{first} or more", found=str(event)) from error
    return HttpResponse(body, content_type=rendering.JsonRenderer.media_type)
