"""`/api/v1/sessions/{id}/events/`: trace events, as a page or as a stream."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.authentication import get_authorization_header
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.history import reading
from schedviz.sessions.models import Session, ShareLink
from schedviz.web.addresses import client_network
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import optional_number, session_for
from schedviz.web.api.endpoints.event_stream import NDJSON, SSE, stream_of_events
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.paging import Paging, link_pages
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.authentication import bearer_secret
from schedviz.web.live.handshake import Credentials, cookie_credentials

PAGING: Final = Paging("an event", default=500, maximum=5000)
_STREAMS: dict[Any, OpenApiResponse] = {
    (200, SSE): OpenApiResponse(
        OpenApiTypes.STR, "An endless stream of server-sent events: `id` is the event's number, `event` its kind (`t`)."
    ),
    (200, NDJSON): OpenApiResponse(OpenApiTypes.STR, "One event per line: all stored events, and with `follow=1` new ones as they happen."),
}


class Events(Resource):
    """The trace events of a session."""

    @extend_schema(
        operation_id="listEvents",
        parameters=[
            *PAGING.parameters(),
            query("follow", int, "1, with `Accept: application/x-ndjson`: continue with new events.", maximum=1),
            OpenApiParameter("Last-Event-ID", int, OpenApiParameter.HEADER, description="In a stream, the same as `after`."),
        ],
        responses={
            (200, "application/json"): response(schemas.EventList),
            **_STREAMS,
            304: NOT_MODIFIED,
            **error_responses(400, 404, 429),
        },
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponseBase:
        """Read trace events in order: a page, or with `Accept: text/event-stream` or `application/x-ndjson` a stream."""
        session = session_for(request, session_id, Verb.SEE)
        kind = _stream_kind(request)
        if kind:
            return stream_of_events(
                kind,
                session.pk,
                _credentials_of(request),
                network=client_network(request),
                after=_from(request, session),
                follows=kind == SSE or request.GET.get("follow") == "1",
            )
        return _page(request, session)


def _page(request: Request, session: Session) -> Response:
    page = PAGING.page_of(request)
    versions.set_etag(request, versions.etag_of_head(session))
    events = reading.events(
        session.pk, after=page.after, before=page.before, limit=page.limit, max_bytes=reading.PAGE_BYTES, tail=page.tail
    )
    last = max(session.event, events[-1].event if events else 0)
    following = events[-1].event if events and events[-1].event < last else None
    previous = events[0].event if events and events[0].event > 1 else None
    link_pages(request, following=following, previous=previous)
    return Response(schemas.EventList(results=events, last=last, next=following, previous=previous))


def _stream_kind(request: Request) -> str:
    """The kind of stream that the Accept header asks for; "" for a page."""
    accepted = [media_type.partition(";")[0].strip().lower() for media_type in request.headers.get("Accept", "").split(",")]
    return next((kind for kind in (SSE, NDJSON) if kind in accepted), "")


def _credentials_of(request: Request) -> Credentials:
    """The credentials that the stream checks every minute, as a WebSocket does."""
    secret = bearer_secret(get_authorization_header(request))
    if secret is not None:
        return Credentials(link=secret) if isinstance(request.auth, ShareLink) else Credentials(token=secret)
    return cookie_credentials(request.COOKIES)


def _from(request: Request, session: Session) -> int:
    """The event after which a stream starts: the last received one, else by `?tail=`, else `?after=`, else the beginning."""
    last = request.headers.get("Last-Event-ID", "").strip()
    if last.isascii() and last.isdigit() and len(last) <= 18:
        return int(last)
    tail = optional_number(request, "tail")
    return max(0, session.event - tail) if tail is not None else optional_number(request, "after") or 0
