"""`rooms/{room}/forks/`: forks of participants."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.errors import HistoryUnavailable, KeyReused
from schedviz.sessions.forks.requests import NotForkable
from schedviz.sessions.models import Session
from schedviz.sessions.quotas import QuotaReached
from schedviz.web.api.access import body_as, session_for
from schedviz.web.api.endpoints.session_bodies import session_body
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.openapi import error_responses, ref, response
from schedviz.web.api.rate_limit import Scope
from schedviz.web.api.schemas import SessionBody
from schedviz.web.auth.actors import Verb
from schedviz.web.rooms import forks, notify, schemas
from schedviz.web.rooms.api.access import RoomResource, member_access
from schedviz.web.rooms.models import Room, RoomFork


class RoomForks(RoomResource):
    """The forks of a participant."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(
        operation_id="forkInRoom",
        request={"application/json": ref(schemas.NewRoomFork)},
        responses={
            201: response(SessionBody, "The fork, which you may command. Its status is `importing` until its engine is ready."),
            200: response(SessionBody, "The fork that was created before with this key."),
            **error_responses(400, 403, 404, 409),
        },
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Fork the shown session, or a fork of yours, at a moment."""
        access = member_access(request, room_id)
        participant = access.participant
        new = body_as(schemas.NewRoomFork, request)
        if "\0" in new.key:
            raise ApiError(400, "invalid", "$.key: contains the character U+0000, which cannot be stored.", path="$.key")
        session = _in_room(request, access.room, new.session)
        try:
            forked = forks.fork_for(participant, session, at=new.at, key=new.key)
        except HistoryUnavailable as error:
            raise ApiError(404, error.code, str(error), path="$.at", found=str(new.at)) from error
        except (NotForkable, KeyReused, QuotaReached) as error:
            raise ApiError(409, error.code, str(error)) from error
        return Response(session_body(request, forked.session), status=200 if forked.duplicate else 201)


class OneRoomFork(RoomResource):
    """One fork."""

    @extend_schema(operation_id="deleteRoomFork", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, room_id: UUID, session_id: UUID) -> Response:
        """Delete a fork of yours or, as the teacher, any fork."""
        access = member_access(request, room_id)
        which = RoomFork.objects.filter(room=access.room, session_id=session_id)
        if (participant_id := access.membership.participant_id) is not None:
            which = which.filter(participant_id=participant_id)
        if not which.exists():
            raise not_found("fork")
        forks.delete_sessions([session_id])
        notify.changed(room_id)
        return Response(status=204)


def _in_room(request: Request, room: Room, raw: str | None) -> Session:
    """The session to fork: the shown one, or a named one that the participant sees in this room."""
    if raw is None:
        session = room.shown or room.session
        if session is None:
            raise not_found()
        return session
    try:
        session_id = UUID(raw)
    except ValueError:
        raise not_found() from None
    session = session_for(request, session_id, Verb.SEE)
    if session.pk not in (room.session_id, room.shown_id) and not RoomFork.objects.filter(room=room, session=session).exists():
        raise not_found()
    return session
