"""`/api/v1/sessions/{id}/commands/`: sends commands, one or many, and reads their outcomes."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

import msgspec
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.kube.validation_errors import describe
from schedviz.sessions.commands import inbox
from schedviz.sessions.errors import (
    CommandRefused,
    HeadMoved,
    InvalidField,
    KeyReused,
    SessionError,
    SessionFailed,
    SessionGone,
    TooManyCommands,
)
from schedviz.sessions.history import reading
from schedviz.sessions.models import Command
from schedviz.trace.commands import AnyCommand, convert_command
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import json_object, session_for
from schedviz.web.api.errors import ApiError, not_found, struct_error
from schedviz.web.api.idempotency import IDEMPOTENCY_KEY, key_of
from schedviz.web.api.openapi import NOT_MODIFIED, command_request, commands_request, error_responses, response
from schedviz.web.api.paging import Paging, link_pages
from schedviz.web.api.prefer_wait import PREFER, wait_seconds, wait_until
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of
from schedviz.web.extender_commands import ExtendersNotAllowed, require_extender_permission
from schedviz.web.server.waiting_requests import requester

PAGING: Final = Paging("a command", default=100, maximum=1000)
#: The largest number of commands in one request.
MAX_COMMANDS_TOGETHER = 1000

_STATUS: dict[type[SessionError], int] = {
    CommandRefused: 400,
    KeyReused: 409,
    SessionGone: 404,
    SessionFailed: 409,
    TooManyCommands: 429,
    HeadMoved: 412,
    ExtendersNotAllowed: 403,
}
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag of `state/` or `view/`: accept the command only if no event or command was added since, otherwise 412.",
)


def command_refused(error: SessionError) -> ApiError:
    """The response to a command that the inbox refused."""
    path = error.path if isinstance(error, InvalidField) else ""
    headers = {"Retry-After": "1"} if isinstance(error, TooManyCommands) else None
    return ApiError(
        _STATUS.get(type(error), 409), error.code, f"$.{error}" if path else str(error), headers=headers, path=path and f"$.{path}"
    )


class Commands(Resource):
    """The commands of a session."""

    @extend_schema(
        operation_id="listCommands",
        parameters=PAGING.parameters(),
        responses={200: response(schemas.CommandList), 304: NOT_MODIFIED, **error_responses(400, 404)},
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """List the accepted commands, in order, with their outcomes. A page ends after about 4 MiB of commands."""
        session = session_for(request, session_id, Verb.SEE)
        page = PAGING.page_of(request)
        versions.set_etag(request, versions.etag_of_head(session))
        page_of_commands = reading.commands(session.pk, after=page.after, before=page.before, limit=page.limit, tail=page.tail)
        following = page_of_commands[-1].seq if page_of_commands and page_of_commands[-1].seq < session.last_seq else None
        previous = page_of_commands[0].seq if page_of_commands and page_of_commands[0].seq > 1 else None
        link_pages(request, following=following, previous=previous)
        return Response(
            schemas.CommandList(
                results=command_bodies(request, session.pk, page_of_commands),
                last=session.last_seq,
                applied=session.applied_seq,
                next=following,
                previous=previous,
            )
        )

    @extend_schema(
        operation_id="sendCommand",
        request={"application/json": command_request()},
        parameters=[PREFER, IDEMPOTENCY_KEY, _IF_MATCH],
        responses={
            202: response(schemas.CommandBody, "Accepted: the command is stored and will be applied in order."),
            200: response(schemas.CommandBody, "Applied: with `Prefer: wait`, if it was applied within that time."),
            **error_responses(400, 403, 404, 409, 412, 413, 415),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Send a command. It is safe to retry with the same `key`: the command is stored once."""
        session = session_for(request, session_id, Verb.COMMAND)
        wait = wait_seconds(request)
        body = dict(json_object(request))
        own = _key(body.pop("key", None), "$.key")
        key = (key_of(request) or uuid.uuid4().hex) if own is None else own
        try:
            command = convert_command(body)
            require_extender_permission(actor_of(request), session, command)
            accepted = inbox.accept(session.pk, command, key, seen=versions.seen_head(request), sender=requester.get())
        except msgspec.ValidationError as error:
            raise struct_error(error, body, AnyCommand) from error
        except SessionError as error:
            raise command_refused(error) from error
        stored = _when_applied(session.pk, accepted.seq, wait)
        stored_body = command_body(request, stored, duplicate=accepted.duplicate)
        status = 200 if wait > 0 and stored.outcome is not None else 202
        return Response(stored_body, status=status, headers={"Location": stored_body.url})


class CommandsTogether(Resource):
    """Several commands in one request."""

    @extend_schema(
        operation_id="sendCommands",
        request={"application/json": commands_request(MAX_COMMANDS_TOGETHER)},
        parameters=[PREFER, IDEMPOTENCY_KEY, _IF_MATCH],
        responses={
            202: response(
                schemas.CommandsTaken, "All commands are stored. They will be applied in order, with no other command in between."
            ),
            200: response(schemas.CommandsTaken, "All commands were applied: with `Prefer: wait`, if they were applied within that time."),
            **error_responses(400, 403, 404, 409, 412, 413, 415),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Send several commands. Either all are stored, or none. With `Idempotency-Key` the request can be retried."""
        session = session_for(request, session_id, Verb.COMMAND)
        wait = wait_seconds(request)
        commands = _commands(json_object(request), key_of(request) or uuid.uuid4().hex)
        try:
            require_extender_permission(actor_of(request), session, *(command for _, command in commands))
            accepted = inbox.accept_all(session.pk, commands, seen=versions.seen_head(request), sender=requester.get())
        except SessionError as error:
            raise command_refused(error) from error
        last = _when_applied(session.pk, accepted[-1].seq, wait)
        stored = reading.commands_numbered(session.pk, (command.seq for command in accepted))
        results = [command_body(request, stored[command.seq], duplicate=command.duplicate) for command in accepted if command.seq in stored]
        status = 200 if wait > 0 and last.outcome is not None else 202
        return Response(schemas.CommandsTaken(results=results), status=status)


class OneCommand(Resource):
    """One command of a session."""

    @extend_schema(operation_id="getCommand", parameters=[PREFER], responses={200: response(schemas.CommandBody), **error_responses(404)})
    def get(self, request: Request, session_id: UUID, seq: int) -> Response:
        """Read a command and its outcome; with `Prefer: wait`, once it was applied."""
        session = session_for(request, session_id, Verb.SEE)
        return Response(command_body(request, _when_applied(session.pk, seq, wait_seconds(request))))


def command_body(request: Request, stored: Command, *, duplicate: bool = False) -> schemas.CommandBody:
    """A command in its API form."""
    return _body(stored, request.build_absolute_uri(reverse("command", args=[stored.session_id, stored.seq])), duplicate=duplicate)


def command_bodies(request: Request, session_id: UUID, stored: Sequence[Command]) -> list[schemas.CommandBody]:
    """Commands of one session. Only the number in their addresses differs; calling Django's `reverse` for each would dominate the cost."""
    address = request.build_absolute_uri(reverse("command", args=[session_id, 0])).removesuffix("0/")
    return [_body(command, f"{address}{command.seq}/", duplicate=False) for command in stored]


def _body(stored: Command, url: str, *, duplicate: bool) -> schemas.CommandBody:
    outcome: Any = stored.outcome
    return schemas.CommandBody(
        seq=stored.seq,
        key=stored.key,
        url=url,
        status="quarantined" if stored.quarantined else "waiting" if outcome is None else "done",
        command=msgspec.Raw(bytes(stored.body)),
        accepted_at=stored.accepted_at,
        applied_at=stored.applied_at,
        outcome=None if outcome is None else msgspec.convert(outcome, schemas.OutcomeBody),
        duplicate=duplicate,
    )


def _key(value: Any, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    actual = describe(value)
    raise ApiError(400, "invalid", f"{path}: expected a string, found {actual}", path=path, expected="a string", found=actual)


def _commands(body: dict[str, Any], key: str) -> Sequence[tuple[str, AnyCommand]]:
    """The commands of a body with their keys. A command without a key gets one from the request's key and its position. Raises `ApiError`
    400.
    """
    entries = body.get("commands")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_COMMANDS_TOGETHER or set(body) != {"commands"}:
        expected = f'{{"commands": [...]}} with 1 to {MAX_COMMANDS_TOGETHER} commands'
        actual = f"{len(entries)} commands" if isinstance(entries, list) else describe(entries)
        raise ApiError(400, "invalid", f"$: expected {expected}.", path="$.commands", expected=expected, found=actual)
    commands: list[tuple[str, AnyCommand]] = []
    for index, entry in enumerate(entries):
        path = f"$.commands[{index}]"
        if not isinstance(entry, dict):
            raise ApiError(400, "invalid", f"{path}: expected an object.", path=path, expected="an object", found=describe(entry))
        plain = dict(entry)
        own = _key(plain.pop("key", None), f"{path}.key")
        try:
            commands.append((f"{key}/{index}" if own is None else own, convert_command(plain)))
        except msgspec.ValidationError as error:
            raise struct_error(error, plain, AnyCommand, inside=path) from error
    return commands


def _when_applied(session_id: UUID, seq: int, wait: float) -> Command:
    """The command once it has been applied, or after the timeout. Raises `ApiError` 404."""

    def read() -> Command:
        stored = reading.command(session_id, seq)
        if stored is None:
            raise not_found("command")
        return stored

    return wait_until(lambda stored: stored.outcome is not None or stored.quarantined, read, read(), wait)
