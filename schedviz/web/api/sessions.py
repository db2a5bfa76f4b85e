"""`/api/v1/sessions/`: creates, lists, reads and deletes sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar, Final, cast
from uuid import UUID, uuid4

import msgspec
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.files.uploadedfile import UploadedFile
from django.db.models import F, Q, QuerySet
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz import lessons
from schedviz.ingest.generate import parse_generate_spec
from schedviz.kube.errors import DecodeError, KubeError
from schedviz.kube.validation_errors import explain_validation_error
from schedviz.sessions import quotas, storage
from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import SourceRefused, SourceTooLarge
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.models import Membership, Session
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.transfer import create, deletion
from schedviz.sessions.transfer.validation import ValidationUnavailable, validate_settings, validate_trace
from schedviz.trace.commands import Pause
from schedviz.trace.policies import Policies
from schedviz.trace.releases import RELEASES, gates_in, release_in, unknown_release
from schedviz.web.accounts.audit import Action, record
from schedviz.web.actors import Actor, Verb
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for, body_as, role_for, session_for
from schedviz.web.api.errors import ApiError, not_found, struct_error
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, idempotent
from schedviz.web.api.lessons import unreadable
from schedviz.web.api.openapi import IF_MATCH, NOT_MODIFIED, error_responses, ref, response
from schedviz.web.api.paging import Paging
from schedviz.web.api.parsing import JsonParser
from schedviz.web.api.prefer_wait import PREFER, wait_seconds, wait_until
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.resource import Resource, query
from schedviz.web.permissions import actor_of, may, visible_sessions
from schedviz.web.redaction import printable
from schedviz.web.waiting_requests import worker_waits

PAGING: Final = Paging(None, default=50, maximum=1000)
#: The sort keys of the list, with their columns.
ORDERS = {"name": "name", "status": "status", "cycles": "cycle", "created": "created_at"}
NEWEST_FIRST = ("-created_at", "-pk")
#: Settings that a request can have at its top level, too.
_TOP_LEVEL_SETTINGS = frozenset({"release", "featureGates"})


def session_body(request: Request, session: Session) -> schemas.SessionBody:
    """A session in its API form."""
    return session_bodies(request, [session])[0]


def session_bodies(request: Request, sessions: Collection[Session], *, with_sizes: bool = False) -> list[schemas.SessionBody]:
    """Sessions in their API form, in the same order.

    Sizes, times of commands and memberships are each read with one query for all sessions; the role in a shared session with some for each.
    """
    ids = [session.pk for session in sessions]
    sizes = storage.stored_bytes(ids) if with_sizes else {}
    command_times = inbox.last_command_times(ids)
    joined = _joined_by(request.user, sessions)
    return [
        _session_body(
            request,
            session,
            last_command_at=command_times.get(session.pk),
            stored_bytes=sizes.get(session.pk),
            is_member=session.pk in joined,
        )
        for session in sessions
    ]


def _session_body(
    request: Request, session: Session, *, last_command_at: datetime | None, stored_bytes: int | None, is_member: bool
) -> schemas.SessionBody:
    forked_from = _forked_from(request, session)
    return schemas.SessionBody(
        id=str(session.pk),
        url=request.build_absolute_uri(reverse("session", args=[session.pk])),
        page=request.build_absolute_uri(reverse("session-page", args=[session.pk])),
        name=session.name,
        status=cast("schemas.SessionStatus", session.shown_status),
        message=session.message,
        progress=session.progress,
        role=role_for(request, session).value,
        clock_seconds=session.clock_seconds,
        event=session.event,
        cycle=session.cycle,
        nodes=session.nodes,
        pods=session.pods,
        chunk=session.chunk,
        applied_seq=session.applied_seq,
        last_seq=session.last_seq,
        created_at=session.created_at,
        updated_at=session.updated_at,
        last_command_at=last_command_at,
        owner=_owner_name(request, session),
        stored_bytes=stored_bytes,
        source=session.source if forked_from is None or forked_from.id is not None else session.source_without_origin,
        report=session.report,
        forked_from=forked_from,
        follows=schemas.Follows(source=session.follows, detached="fork" in session.source) if session.follows else None,
        hit=None if session.hit is None else schemas.HitBody(**session.hit),
        release=release_in(session.settings),
        feature_gates=gates_in(session.settings),
        calls_extenders=session.calls_extenders,
        member=request.user.get_username() if is_member else None,
    )


def _joined_by(user: AbstractBaseUser | AnonymousUser, sessions: Collection[Session]) -> AbstractSet[UUID]:
    """The sessions of others that a user is a member of."""
    if not user.is_authenticated:
        return frozenset()
    of_others = [session.pk for session in sessions if session.owner_id != user.pk]
    if not of_others:
        return frozenset()
    return set(Membership.objects.filter(session__in=of_others, user_id=cast("int", user.pk)).values_list("session_id", flat=True))


def _owner_name(request: Request, session: Session) -> str | None:
    # Usually the owner is the client, whose user is already loaded.
    owner = request.user if session.owner_id == request.user.pk else session.owner
    return None if session.owner_id is None or owner is None else owner.get_username()


def _forked_from(request: Request, session: Session) -> schemas.ForkedFrom | None:
    if "fork" not in session.source:
        return None
    # A fork to another release has no history before its own, so its `fork_event` is 0. For others the exact event is known when the
    # fork is ready: it can be later than the requested one, at the end of a stage.
    event = session.source["fork"]["event"] if "release" in session.source["fork"] else session.fork_event
    parent = session.origin
    if parent is None:
        return schemas.ForkedFrom(id=None, name=session.source["fork"]["name"], event=event)
    if not may(actor_of(request), Verb.SEE, parent):
        # A client with access to the fork only must not learn about the original session.
        return schemas.ForkedFrom(id=None, name="", event=event)
    return schemas.ForkedFrom(id=str(parent.pk), name=session.source["fork"]["name"], event=event)


def require_session_quota(actor: Actor, *, nodes: int = 0, pods: int = 0, objects: int = 0) -> None:
    """Raises `ApiError` 409 if the quotas do not allow one more session with a cluster of this size."""
    with within_quotas():
        quotas.require_session_quota(actor.user_id, nodes=nodes, pods=pods, objects=objects)


@contextmanager
def within_quotas() -> Iterator[None]:
    """Raises `ApiError` 409 in place of `QuotaReached`."""
    try:
        yield
    except QuotaReached as reached:
        raise ApiError(409, reached.code, str(reached), hint="GET quotas/ lists the quotas and their use.") from reached


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
        calls_extenders = _calls_extenders(request)
        name, source, engine_settings = _from_form(request) if _is_multipart(request) else _from_json(request)
        if isinstance(source, create.Generate):
            size = parse_generate_spec(source.parameters)
            require_session_quota(actor, nodes=size.nodes or 0, pods=size.pods or 0)
        with validating("settings" if _is_multipart(request) else "$.settings", top_level=_TOP_LEVEL_SETTINGS & set(request.data)):
            simulation = validate_settings(engine_settings)
        try:
            with within_quotas():
                session = create.create_session(
                    cast("AbstractBaseUser", request.user),
                    name,
                    source,
                    simulation=simulation,
                    calls_extenders=calls_extenders,
                    within_quotas=True,
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
        session = session_for(request, session_id, Verb.MANAGE)
        versions.require_version(request, versions.etag_of_content(session_body(request, session)))
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
        session = session_for(request, session_id, Verb.MANAGE)
        versions.require_version(request, versions.etag_of_content(session_body(request, session)))
        deletion.delete_session(session.pk)
        record(Action.SESSION_DELETED, request, session=session)
        return Response(status=204)


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


def _is_multipart(request: Request) -> bool:
    return str(request.content_type).startswith("multipart/form-data")


def _calls_extenders(request: Request) -> bool:
    """Whether the session may call its extenders. Raises `ApiError` 403 if the user has no permission for that."""
    value = request.data.get("callExtenders") if hasattr(request.data, "get") else None
    if value in (None, "", False, "false"):
        return False
    if value not in (True, "true"):
        raise ApiError(400, "invalid", "callExtenders: expected true or false.", path="callExtenders", expected="true or false")
    if not may_call_extenders(cast("AbstractBaseUser", request.user)):
        raise ApiError(
            403,
            "extenders_not_allowed",
            "Your sessions may not call extenders: SCHEDVIZ_EXTENDER_USERS of this server does not include you.",
            hint="Declare their responses (fakeExtenders), or ask the operator.",
        )
    return True


def _from_form(request: Request) -> tuple[str, create.Source, dict[str, Any]]:
    data = cast("QueryDict", request.data)
    unknown = sorted(set(data) - {"file", "name", "settings", "policies", "callExtenders", "releaseWithoutVersion", *_TOP_LEVEL_SETTINGS})
    if unknown:
        expected = "file (repeatable), name, settings, policies, release, releaseWithoutVersion, featureGates, callExtenders"
        hint = "A KubeSchedulerConfiguration is one of the files; as JSON it is settings.config." if unknown[0] == "config" else ""
        raise ApiError(400, "invalid", f"There is no field {unknown[0]!r}.", path=unknown[0], expected=expected, hint=hint)
    uploads = list(cast("Iterable[UploadedFile[bytes]]", request.FILES.getlist("file")))
    if not uploads:
        raise ApiError(
            400, "invalid", "No file was sent.", path="file", expected="one or more files", hint="curl -F file=@nodes-and-pods.json"
        )
    engine_settings = _json_field(data, "settings") or {}
    if (policies := _json_field(data, "policies")) is not None:
        engine_settings = {**engine_settings, "policies": _valid_policies(policies)}
    if release := data.get("release"):
        engine_settings = {**engine_settings, "release": release}
    if (gates := _json_field(data, "featureGates")) is not None:
        engine_settings = {**engine_settings, "featureGates": gates}
    return _name_in(data) or _name_of(uploads), create.Files(uploads, _release_without_version(data)), engine_settings


def _release_without_version(data: QueryDict) -> str:
    """The release for files that suggest none; "" if the form names none. Raises `ApiError` 400."""
    release = str(data.get("releaseWithoutVersion") or "")
    if release and release not in RELEASES:
        expected = " or ".join(RELEASES)
        raise ApiError(400, "invalid", unknown_release(release), path="releaseWithoutVersion", expected=expected, found=release)
    return release


def _name_in(data: QueryDict) -> str:
    """The name field of a form, checked as in JSON. Raises `ApiError` 400."""
    name = str(data.get("name") or "")
    try:
        return msgspec.convert(name, schemas.Title)
    except msgspec.ValidationError as error:
        raise struct_error(error, name, inside="name") from error


def _json_field(data: QueryDict, name: str) -> dict[str, Any] | None:
    raw = data.get(name)
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ApiError(400, "invalid", f"{name}: {error}", path=name, expected="a JSON object") from error


def _valid_policies(policies: dict[str, Any]) -> dict[str, Any]:
    """The policies, if they are valid. Raises `ApiError` 400."""
    try:
        msgspec.convert(policies, Policies)
    except msgspec.ValidationError as error:
        fault = explain_validation_error(error, policies, Policies)
        path = f"policies.{fault.path}" if fault.path else "policies"
        raise ApiError(400, "invalid", f"{path}: {fault.message}", path=path, expected=fault.expected, found=fault.found) from error
    return policies


def _name_of(files: list[UploadedFile[bytes]]) -> str:
    first = str(files[0].name or "files")
    return printable(first if len(files) == 1 else f"{first} and {len(files) - 1} more", schemas.MAX_TITLE_LENGTH)


def _from_json(request: Request) -> tuple[str, create.Source, dict[str, Any]]:
    new = body_as(schemas.NewSession, request)
    if sum(source is not None for source in (new.generate, new.trace, new.lesson)) != 1:
        raise ApiError(
            400,
            "invalid",
            "$: Expected one of generate, trace and lesson.",
            path="$",
            expected='{"generate": {...}}, {"trace": {...}} or {"lesson": "..."}',
            hint="Files are sent as multipart/form-data, in the field file.",
        )
    top_level = {"policies": new.policies, "release": new.release, "featureGates": new.feature_gates}
    engine_settings = {**new.settings, **{name: msgspec.to_builtins(value) for name, value in top_level.items() if value is not None}}
    if new.generate is not None:
        _require_allowed(new.generate)
        return new.name or "Generated cluster", create.Generate(new.generate), engine_settings
    if new.lesson is not None:
        return lesson_source(new.lesson, new.name)
    assert new.trace is not None
    with validating("$.trace"):
        validate_trace(new.trace)
    return new.name or printable(str(new.trace.get("name") or "Trace"), schemas.MAX_TITLE_LENGTH), create.Trace(new.trace), engine_settings


@contextmanager
def validating(path: str, *, top_level: AbstractSet[str] = frozenset()) -> Iterator[None]:
    """Raises `ApiError` for what the validation of the request's member at `path` raises: 400, or 503 where no worker validates it.

    The members in `top_level` were sent beside `path`, not in it.
    """
    try:
        with worker_waits.slot():
            yield
    except DecodeError as error:
        is_top_level = error.path.partition(".")[0] in top_level
        fault = error.inside(path.rpartition(".")[0] if is_top_level else path)
        raise ApiError(400, "invalid", str(fault), path=fault.path, expected=fault.expected, found=fault.found) from error
    except ValidationUnavailable as error:
        raise ApiError(503, error.code, str(error), headers={"Retry-After": "2"}, path=path) from error


def lesson_source(name: str, wanted: str) -> tuple[str, create.Source, dict[str, Any]]:
    """The source and the settings of a lesson's session. Raises `ApiError` 404."""
    try:
        lesson = lessons.find(name)
    except lessons.UnknownLessonError as error:
        raise ApiError(404, "not_found", f"$.lesson: {error}", path="$.lesson", hint="GET /api/v1/lessons/ lists them.") from error
    except lessons.LessonError as error:
        raise unreadable(name, error) from error
    title = next((text.title for text in lesson.texts.values()), name)
    return wanted or title, create.LessonCluster(name, lesson.objects, lesson.version), lesson.settings


def _require_allowed(parameters: dict[str, Any]) -> None:
    """Raises `ApiError` 400 unless the generator and the limits of this server allow the parameters."""
    try:
        spec = parse_generate_spec(parameters)
    except KubeError as error:
        path, _, message = str(error).partition(": ")
        raise ApiError(400, "invalid", f"$.{path}: {message}", path=f"$.{path}") from error
    for member, limit in (("nodes", settings.GENERATE_NODES), ("pods", settings.GENERATE_PODS)):
        if (getattr(spec, member) or 0) > limit:
            setting = f"SCHEDVIZ_GENERATE_{member.upper()}"
            message = f"$.generate.{member}: more than {limit:,}, the limit {setting} of this server."
            raise ApiError(
                400, "invalid", message, path=f"$.generate.{member}", expected=f"at most {limit}", found=str(getattr(spec, member))
            )
