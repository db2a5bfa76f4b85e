"""`/api/v1/sessions/`: creates, lists, reads and deletes sessions."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.ingest.generate import parse_generate_spec
from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import SourceRefused, SourceTooLarge
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create, deletion
from schedviz.trace.commands import Pause
from schedviz.web.accounts.audit import Action, record
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for, body_as, session_for
from schedviz.web.api.endpoints.new_session import calls_extenders_of, source_of, validated_settings
from schedviz.web.api.endpoints.session_bodies import session_bodies, session_body
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, idempotent
from schedviz.web.api.openapi import IF_MATCH, NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.paging import Paging
from schedviz.web.api.parsing import JsonParser
from schedviz.web.api.prefer_wait import PREFER, wait_seconds, wait_until
from schedviz.web.api.quota_errors import require_session_quota, within_quotas
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of, user_of, visible_sessions

PAGING: Final = Paging(None, default=50, maximum=1000)
#: The sort keys of the list, with their columns.
ORDERS = {"name": "name", "status": "status", "cycles": "cycle", "created": "created_at"}
NEWEST_FIRST = ("-created_at", "-pk")


class Sessions(Resource):
    """The sessions that you may see."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    parser_classes = (JsonParser, MultiPartParser)

    @extend_schema(
        operation_id="listSessions",
        parameters=[
            *PAGING.parameters(),
            query("offset", int, "Skip this many sessions, to open a page by its number."),
            query("q", str, "A part of the name."),
            query("status", str, "importing, ready, running, paused or failed.", choices=tuple(Session.Status.values)),
            query(
                "sort",
                str,
                f"One of {', '.join(ORDERS)}; prefix with - for descending order. By default, newest first.",
                choices=tuple(f"{sign}{name}" for name in ORDERS for sign in ("", "-")),
            ),
            query("sizes", int, "1: include the size of each session in the database.", maximum=1),
        ],
        responses={200: response(schemas.SessionList), 304: NOT_MODIFIED, **error_responses(400, 401)},
    )
    def get(self, request: Request) -> Response:
        """List the sessions that you may see, newest first."""
        actor = actor_of(request)
        if not actor.links and not settings.PUBLIC_DEMO:
            actor = actor_for(request, Verb.LIST)
        sessions = _filtered(request, visible_sessions(actor).select_related("owner", "origin"))
        page = PAGING.rows_of(request, sessions, _order(request))
        listed = session_bodies(request, page.rows, with_sizes=request.query_params.get("sizes") == "1")
        body = schemas.SessionList(results=listed, next=page.next, previous=page.previous, count=sessions.count())
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="createSession",
        request={"application/json": ref(schemas.NewSession), "multipart/form-data": ref(schemas.NewSessionFiles)},
        parameters=[PREFER, IDEMPOTENCY_KEY],
        responses={
            201: response(schemas.SessionBody, "The session was created and is being imported."),
            **error_responses(400, 401, 403, 404, 409, 413, 415, 503),
        },
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a session from files, a generated cluster or a trace. Returns immediately with status `importing`; with `Prefer: wait`,
        when the import has ended, or after the timeout.
        """
        actor = actor_for(request, Verb.CREATE)
        wait = wait_seconds(request)
        require_session_quota(actor)
        calls_extenders = calls_extenders_of(request)
        name, source, engine_settings = source_of(request)
        if isinstance(source, create.Generate):
            size = parse_generate_spec(source.parameters)
            require_session_quota(actor, nodes=size.nodes or 0, pods=size.pods or 0)
        simulation = validated_settings(request, engine_settings)
        try:
            with within_quotas():
                session = create.create_session(
                    user_of(request),
                    name,
                    source,
                    simulation=simulation,
                    calls_extenders=calls_extenders,
                )
        except SourceRefused as error:
            status = 413 if isinstance(error, SourceTooLarge) else 400
            raise ApiError(status, error.code, str(error), path="file") from error
        body = session_body(request, when_imported(session, wait))
        return Response(body, status=201, headers={"Location": body.url})


def when_imported(session: Session, wait: float) -> Session:
    """The session once its import (or fork) has ended, or after the timeout. Raises `ApiError` 404."""

    def read() -> Session:
        newest = Session.objects.select_related("owner", "origin").filter(pk=session.pk).first()
        if newest is None:
            raise not_found()
        return newest

    return wait_until(lambda current: current.status != Session.Status.IMPORTING, read, session, wait)


class OneSession(Resource):
    """One session."""

    @extend_schema(
        operation_id="getSession",
        parameters=[PREFER],
        responses={200: response(schemas.SessionBody), 304: NOT_MODIFIED, **error_responses(404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read a session; with `Prefer: wait`, once its import has ended."""
        session = when_imported(session_for(request, session_id, Verb.SEE), wait_seconds(request))
        body = session_body(request, session)
        versions.set_etag(request, versions.etag_of_content(body))
        return Response(body)

    @extend_schema(
        operation_id="changeSession",
        request={"application/json": ref(schemas.SessionChange)},
        parameters=[IF_MATCH],
        responses={200: response(schemas.SessionBody), **error_responses(400, 403, 404, 412)},
    )
    def patch(self, request: Request, session_id: UUID) -> Response:
        """Rename a session."""
        with transaction.atomic():
            session = _locked_version(request, session_id)
            name = body_as(schemas.SessionChange, request).name.strip()
            if not name:
                raise ApiError(400, "invalid", "$.name: the name must not be empty.", path="$.name", expected="a name")
            # Not save(): the lease owner writes all other columns.
            Session.objects.filter(pk=session.pk).update(name=name)
        session.name = name
        return Response(session_body(request, session))

    @extend_schema(operation_id="deleteSession", parameters=[IF_MATCH], responses={204: None, **error_responses(403, 404, 412)})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Delete a session with all its data."""
        with transaction.atomic():
            session = _locked_version(request, session_id)
            deletion.fence(session.pk)
        deletion.delete_fenced(session.pk)
        record(Action.SESSION_DELETED, request, session=session)
        return Response(status=204)


def _locked_version(request: Request, session_id: UUID) -> Session:
    """A session that the client manages, of the version that it has seen (`If-Match`); nobody changes it until the transaction ends."""
    session_for(request, session_id, Verb.MANAGE)
    session = Session.objects.select_related("owner", "origin").select_for_update(of=("self",)).filter(pk=session_id).first()
    if session is None:
        raise not_found()
    versions.require_version(request, versions.etag_of_content(session_body(request, session)))
    return session


class Cancel(Resource):
    """The current activity of a session."""

    @extend_schema(operation_id="cancel", request=None, responses={202: response(schemas.SessionBody), **error_responses(403, 404, 409)})
    def post(self, request: Request, session_id: UUID) -> Response:
        """Stop the import (the session becomes `failed`, with a message), or else the running commands: what they did so far is kept."""
        session = session_for(request, session_id, Verb.COMMAND)
        if session.status == Session.Status.IMPORTING:
            session = session_for(request, session_id, Verb.MANAGE)
            create.cancel_import(session.pk)
            session.refresh_from_db()
        elif session.shown_status == Session.Status.RUNNING:
            inbox.accept(session.pk, Pause(), f"cancel {uuid4().hex}")
            session.refresh_from_db()
        else:
            raise ApiError(409, "nothing_to_cancel", f"The session is {session.status}; there is nothing to cancel.")
        return Response(session_body(request, session), status=202)


def _filtered(request: Request, sessions: QuerySet[Session]) -> QuerySet[Session]:
    if part := request.query_params.get("q", ""):
        sessions = sessions.filter(name__icontains=part.replace("\0", ""))
    status = request.query_params.get("status", "")
    if not status:
        return sessions
    if status not in Session.Status.values:
        expected = ", ".join(Session.Status.values)
        raise ApiError(400, "invalid", f"?status={status}: one of {expected} is expected.", path="?status", expected=expected, found=status)
    # As `shown_status`: an open session with unapplied commands counts as running.
    busy = Q(status__in=(Session.Status.READY, Session.Status.PAUSED), applied_seq__lt=F("last_seq"))
    return sessions.filter(Q(status=status) | busy if status == Session.Status.RUNNING else Q(status=status) & ~busy)


def _order(request: Request) -> list[str]:
    sort = request.query_params.get("sort", "")
    if not sort:
        return list(NEWEST_FIRST)
    name = sort.removeprefix("-")
    if name not in ORDERS:
        expected = ", ".join(ORDERS)
        raise ApiError(400, "invalid", f"?sort={sort}: one of {expected} is expected.", path="?sort", expected=expected, found=sort)
    column = f"-{ORDERS[name]}" if sort.startswith("-") else ORDERS[name]
    return [column, *NEWEST_FIRST] if name != "created" else [column, "-pk"]
