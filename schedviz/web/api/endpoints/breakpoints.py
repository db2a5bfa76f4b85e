"""`/api/v1/sessions/{id}/breakpoints/`: the conditions at which a run stops."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.commands import breakpoints
from schedviz.sessions.commands.breakpoints import TooManyBreakpoints
from schedviz.sessions.models import Breakpoint, Session
from schedviz.trace.breakpoint_grammar import BreakpointError
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import body_as, session_for
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, idempotent
from schedviz.web.api.openapi import IF_MATCH, NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb

_HINT = (
    'See docs/breakpoints.md: popped default/web-7, pod default/* reached unschedulablePods, t == "queueMoved" and cause == "NodeAdd", …'
)


class Breakpoints(Resource):
    """The breakpoints of a session."""

    @extend_schema(
        operation_id="listBreakpoints", responses={200: response(schemas.BreakpointList), 304: NOT_MODIFIED, **error_responses(404)}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the breakpoints, by number."""
        session = session_for(request, session_id, Verb.SEE)
        body = schemas.BreakpointList(
            results=[_body(request, row) for row in breakpoints.of_session(session.pk)], most=breakpoints.MAX_BREAKPOINTS
        )
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="createBreakpoint",
        request={"application/json": ref(schemas.NewBreakpoint)},
        parameters=[IDEMPOTENCY_KEY],
        responses={201: response(schemas.BreakpointBody), **error_responses(400, 403, 404, 409)},
    )
    @idempotent
    def post(self, request: Request, session_id: UUID) -> Response:
        """Create a breakpoint. A run in progress applies it within one slice."""
        session = session_for(request, session_id, Verb.COMMAND)
        new = body_as(schemas.NewBreakpoint, request)
        try:
            row = breakpoints.create(session.pk, new.when, enabled=new.enabled)
        except BreakpointError as error:
            raise _refused(error) from error
        except TooManyBreakpoints as error:
            raise ApiError(409, error.code, str(error), expected=f"at most {breakpoints.MAX_BREAKPOINTS}") from error
        body = _body(request, row)
        return Response(body, status=201, headers={"Location": body.url})


class OneBreakpoint(Resource):
    """One breakpoint of a session."""

    @extend_schema(
        operation_id="getBreakpoint", responses={200: response(schemas.BreakpointBody), 304: NOT_MODIFIED, **error_responses(404)}
    )
    def get(self, request: Request, session_id: UUID, number: int) -> Response:
        """Read a breakpoint."""
        session = session_for(request, session_id, Verb.SEE)
        body = _body(request, _find_or_404(session, number))
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="changeBreakpoint",
        request={"application/json": ref(schemas.BreakpointChange)},
        parameters=[IF_MATCH],
        responses={200: response(schemas.BreakpointBody), **error_responses(400, 403, 404, 412)},
    )
    def patch(self, request: Request, session_id: UUID, number: int) -> Response:
        """Enable, disable or rewrite a breakpoint. Members that are left out keep their values."""
        session = session_for(request, session_id, Verb.COMMAND)
        new = body_as(schemas.BreakpointChange, request)
        try:
            row = breakpoints.change(session.pk, number, when=new.when, enabled=new.enabled, require=_same_version(request))
        except BreakpointError as error:
            raise _refused(error) from error
        return Response(_body(request, _or_404(row)))

    @extend_schema(operation_id="deleteBreakpoint", parameters=[IF_MATCH], responses={204: None, **error_responses(403, 404, 412)})
    def delete(self, request: Request, session_id: UUID, number: int) -> Response:
        """Delete a breakpoint."""
        session = session_for(request, session_id, Verb.COMMAND)
        if not breakpoints.remove(session.pk, number, require=_same_version(request)):
            raise not_found("breakpoint")
        return Response(status=204)


def _body(request: Request, row: Breakpoint) -> schemas.BreakpointBody:
    return schemas.BreakpointBody(
        number=row.number,
        url=request.build_absolute_uri(reverse("breakpoint", args=[row.session_id, row.number])),
        when=row.when,
        enabled=row.enabled,
        hits=row.hits,
        last_event=row.last_event,
        created_at=row.created_at,
    )


def _same_version(request: Request) -> Callable[[Breakpoint], None]:
    """Raises `ApiError` 412 for a breakpoint of another version than the one that the client has seen (`If-Match`)."""
    return lambda row: versions.require_version(request, versions.etag_of_content(_body(request, row)))


def _find_or_404(session: Session, number: int) -> Breakpoint:
    return _or_404(Breakpoint.objects.filter(session=session, number=number).first())


def _or_404(row: Breakpoint | None) -> Breakpoint:
    if row is None:
        raise not_found("breakpoint")
    return row


def _refused(error: BreakpointError) -> ApiError:
    return ApiError(
        400,
        "invalid",
        f"$.when: {error}",
        path="$.when",
        expected=error.expected,
        found=error.found,
        column=error.column,
        hint=_HINT,
    )
