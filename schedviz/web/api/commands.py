"""`/api/v1/sessions/{id}/commands/`: send commands, and see what came of them."""

from __future__ import annotations

import re
import time
import uuid
from typing import Any
from uuid import UUID

import msgspec
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedviz.kube.explain import describe
from schedviz.sessions import history, inbox
from schedviz.sessions.errors import CommandRefused, KeyReused, SessionError, SessionFailed, SessionGone, TooManyCommands
from schedviz.sessions.models import Command
from schedviz.trace.commands import AnyCommand, convert_command
from schedviz.web.api import bodies
from schedviz.web.api.access import json_object, session_for
from schedviz.web.api.errors import ApiError, not_found, struct_error
from schedviz.web.api.schema import answer, command_request, refused
from schedviz.web.permissions import Verb

LONGEST_WAIT_SECONDS = 30.0
_FIRST_LOOK_SECONDS = 0.002
_LAST_LOOK_SECONDS = 0.05

_STATUS: dict[type[SessionError], int] = {CommandRefused: 400, KeyReused: 409, SessionGone: 404, SessionFailed: 409, TooManyCommands: 429}


def command_refused(error: SessionError) -> ApiError:
    """What the inbox refused, as an answer. Its message begins with the path: `object.spec…: "10x" is not a quantity`."""
    path, colon, _ = str(error).partition(": ")
    detail = {"path": f"$.{path}"} if colon and isinstance(error, CommandRefused | KeyReused) else {}
    headers = {"Retry-After": "1"} if isinstance(error, TooManyCommands) else None
    return ApiError(_STATUS.get(type(error), 409), error.code, f"$.{error}" if detail else str(error), headers=headers, **detail)


class Commands(APIView):
    """The commands of a session."""

    @extend_schema(
        operation_id="sendCommand",
        request={"application/json": command_request()},
        parameters=[
            OpenApiParameter(
                "Prefer", str, OpenApiParameter.HEADER, description="wait=5: answer when it is done, or after 5 seconds (at most 30)."
            )
        ],
        responses={
            202: answer(bodies.CommandBody, "Accepted: it is stored, and will be done in order."),
            200: answer(bodies.CommandBody, "Done: with `Prefer: wait`, and within that time."),
            **refused(400, 403, 404, 409, 413, 415),
        },
    )
    def post(self, request: Request, session_id: UUID) -> Response:
        """Send a command. With the same `key` it is the same command, so that who got no answer can send it again."""
        session = session_for(request, session_id, Verb.COMMAND)
        wait = _wait_seconds(request)
        body = dict(json_object(request))
        key = body.pop("key", None)
        if key is None:
            key = uuid.uuid4().hex
        if not isinstance(key, str):
            found = describe(key)
            raise ApiError(400, "invalid", f"$.key: expected a string, found {found}", path="$.key", expected="a string", found=found)
        try:
            accepted = inbox.accept(session.pk, convert_command(body), key)
        except msgspec.ValidationError as error:
            raise struct_error(error, body, AnyCommand) from error
        except SessionError as error:
            raise command_refused(error) from error
        stored = history.command(session.pk, accepted.seq)
        if stored is None:
            raise not_found()
        if wait > 0:
            stored = _when_done(session.pk, stored, wait)
        done = wait > 0 and stored.outcome is not None
        answer_body = command_body(request, stored, duplicate=accepted.duplicate)
        headers = {"Location": answer_body.url}
        if wait > 0:
            headers["Preference-Applied"] = f"wait={wait:g}"
        return Response(answer_body, status=200 if done else 202, headers=headers)


class OneCommand(APIView):
    """One command of a session."""

    @extend_schema(operation_id="getCommand", responses={200: answer(bodies.CommandBody), **refused(404)})
    def get(self, request: Request, session_id: UUID, seq: int) -> Response:
        """See whether a command is done, and what came of it."""
        session = session_for(request, session_id, Verb.SEE)
        stored = history.command(session.pk, seq)
        if stored is None:
            raise not_found("command")
        return Response(command_body(request, stored))


def command_body(request: Request, stored: Command, *, duplicate: bool = False) -> bodies.CommandBody:
    """A command as the API shows it."""
    outcome: Any = stored.outcome
    return bodies.CommandBody(
        seq=stored.seq,
        key=stored.key,
        url=request.build_absolute_uri(reverse("command", args=[stored.session_id, stored.seq])),
        status="quarantined" if stored.quarantined else "waiting" if outcome is None else "done",
        command=msgspec.json.decode(bytes(stored.body)),
        accepted_at=stored.accepted_at,
        applied_at=stored.applied_at,
        outcome=None if outcome is None else msgspec.convert(outcome, bodies.OutcomeBody),
        duplicate=duplicate,
    )


def _wait_seconds(request: Request) -> float:
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*(\d+(?:\.\d+)?)", request.headers.get("Prefer", ""))
    return min(float(found[1]), LONGEST_WAIT_SECONDS) if found else 0.0


def _when_done(session_id: UUID, stored: Command, wait: float) -> Command:
    """The command as it is when it is done, or when the time is over. It asks the database: Redis may be away."""
    until = time.monotonic() + wait
    pause = _FIRST_LOOK_SECONDS
    while stored.outcome is None and not stored.quarantined and (left := until - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(pause * 1.3, _LAST_LOOK_SECONDS)
        found = history.command(session_id, stored.seq)
        if found is None:
            raise not_found()
        stored = found
    return stored
