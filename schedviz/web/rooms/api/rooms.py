"""`/api/v1/rooms/`: opens, lists, reads, changes and ends rooms."""

from __future__ import annotations

from typing import ClassVar, cast
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Count, Q
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create
from schedviz.sessions.transfer.validation import validate_settings
from schedviz.web.accounts import invites
from schedviz.web.api.access import actor_for, body_as, session_for
from schedviz.web.api.endpoints.new_session import lesson_source, validating
from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.openapi import error_responses, ref, response
from schedviz.web.api.quota_errors import require_session_quota, within_quotas
from schedviz.web.api.rate_limit import Scope
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import user_of
from schedviz.web.rooms import closing, opening, schemas
from schedviz.web.rooms.api.access import RoomResource, member_access, room_body, taught_room
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.models import Room
from schedviz.web.server.waiting_requests import requester

#: The maximum number of listed rooms.
MAX_LISTED_ROOMS = 200


class Rooms(RoomResource):
    """The rooms of a teacher."""

    # With a lesson, opening a room creates a session.
    rates: ClassVar[dict[str, Scope]] = {"POST": "sessions"}

    @extend_schema(operation_id="listRooms", responses={200: response(schemas.RoomList), **error_responses(401)})
    def get(self, request: Request) -> Response:
        """List the rooms that you teach, newest first (at most 200)."""
        actor = actor_for(request, Verb.LIST)
        counted = Count("participants", filter=Q(participants__removed=False))
        rooms = Room.objects.filter(teacher_id=actor.user_id).annotate(counted=counted).order_by("-created_at", "-pk")[:MAX_LISTED_ROOMS]
        return Response(schemas.RoomList(results=[_line(room, room.counted) for room in rooms]))

    @extend_schema(
        operation_id="openRoom",
        request={"application/json": ref(schemas.NewRoom)},
        responses={201: response(schemas.RoomBody), **error_responses(400, 401, 403, 404, 409, 503)},
    )
    def post(self, request: Request) -> Response:
        """Open a room for a session of yours, or for a lesson, for which a session is created."""
        actor_for(request, Verb.CREATE)
        teacher = user_of(request)
        if not invites.may_invite(teacher.pk):
            raise ApiError(403, "forbidden", "Visitors of the public demo cannot open rooms.", hint="Sign in with an account.")
        new = body_as(schemas.NewRoom, request)
        if bool(new.session) == bool(new.lesson):
            raise ApiError(
                400, "invalid", "$: Expected one of session and lesson.", path="$", expected='{"session": id} or {"lesson": name}'
            )
        session = session_named(request, new.session, "$.session") if new.session else _session_of(request, teacher, new.lesson)
        room = opening.open_room(teacher, session, title=new.title)
        return Response(room_body(request, room.pk, RoomMembership(room.pk, None)), status=201)


class OneRoom(RoomResource):
    """One room."""

    @extend_schema(operation_id="getRoom", responses={200: response(schemas.RoomBody), **error_responses(404)})
    def get(self, request: Request, room_id: UUID) -> Response:
        """Read a room that you are in. The teacher sees the participants and the tallies, a participant what was revealed."""
        access = member_access(request, room_id)
        return Response(room_body(request, room_id, access.membership))

    @extend_schema(
        operation_id="changeRoom",
        request={"application/json": ref(schemas.RoomChange)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404, 409)},
    )
    def patch(self, request: Request, room_id: UUID) -> Response:
        """Lock a room against new participants, unlock it, or change its title."""
        room = taught_room(request, room_id)
        change = body_as(schemas.RoomChange, request)
        if change.title is not None:
            if not change.title.strip():
                raise ApiError(400, "invalid", "$.title: the title must not be empty.", path="$.title")
            opening.change(room, title=change.title.strip())
        if change.locked is not None:
            opening.lock(room, locked=change.locked)
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))

    @extend_schema(operation_id="deleteRoom", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, room_id: UUID) -> Response:
        """Delete a room with its data. It is ended first."""
        closing.delete(taught_room(request, room_id))
        return Response(status=204)


class RoomCode(RoomResource):
    """The code of a room."""

    @extend_schema(
        operation_id="renewRoomCode", request=None, responses={200: response(schemas.RoomBody), **error_responses(403, 404, 409)}
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Replace the code of a room. The old code becomes void immediately."""
        opening.renew_code(taught_room(request, room_id))
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))


class ShowInRoom(RoomResource):
    """The session that a room shows."""

    @extend_schema(
        operation_id="showInRoom",
        request={"application/json": ref(schemas.Showing)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404, 409)},
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Show a participant's fork, or another session of yours; null shows the room's session again."""
        room = taught_room(request, room_id)
        session_id = body_as(schemas.Showing, request).session
        opening.show(room, None if session_id is None else session_named(request, session_id, "$.session"))
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))


class EndRoom(RoomResource):
    """The end of a room."""

    @extend_schema(
        operation_id="endRoom",
        request={"application/json": ref(schemas.Ending)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404)},
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """End a room. Deletes names, answers and forks unless `keep` is set."""
        room = taught_room(request, room_id)
        closing.end(room, keep=body_as(schemas.Ending, request).keep)
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))


def session_named(request: Request, value: str, path: str) -> Session:
    """A session that the client may share. Raises `ApiError` 404 or 403."""
    try:
        session_id = UUID(value)
    except ValueError:
        raise not_found() from None
    try:
        return session_for(request, session_id, Verb.MANAGE)
    except ApiError as error:
        error.detail.setdefault("path", path)
        raise


def _session_of(request: Request, teacher: AbstractBaseUser, lesson: str) -> Session:
    """A new session for a lesson."""
    require_session_quota(actor_for(request, Verb.CREATE))
    name, source, engine_settings = lesson_source(lesson, "")
    with validating("$.lesson"):
        simulation = validate_settings(engine_settings, sender=requester.get())
    with within_quotas():
        return create.create_session(teacher, name, source, simulation=simulation)


def _line(room: Room, count: int) -> schemas.RoomLine:
    return schemas.RoomLine(
        id=str(room.pk),
        title=room.title,
        status=cast("schemas.RoomStatus", room.status),
        session=str(room.session_id) if room.session_id else None,
        code=room.code,
        count=count,
        created_at=room.created_at,
        ended_at=room.ended_at,
        kept=room.kept,
    )
