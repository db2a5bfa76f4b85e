"""Access checks of room resources: the room in the address, and the client's membership in it."""

from __future__ import annotations

from uuid import UUID

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.api.errors import ApiError, not_found
from schedviz.web.api.resource import Resource
from schedviz.web.auth.permissions import actor_of
from schedviz.web.rooms import state
from schedviz.web.rooms.errors import RoomRefused, TooManyWrongCodes
from schedviz.web.rooms.links import base_of
from schedviz.web.rooms.membership import RoomMembership, membership_in
from schedviz.web.rooms.models import Participant, Room
from schedviz.web.rooms.schemas import RoomBody


class RoomResource(Resource):
    """A resource of rooms, which turns `RoomRefused` into an API error."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(_as_api_error(exc) if isinstance(exc, RoomRefused) else exc)


class RoomAccess(msgspec.Struct, frozen=True):
    """A room, and the client's membership in it."""

    room: Room
    membership: RoomMembership

    @property
    def participant(self) -> Participant:
        """The participant. Raises `ApiError` 403 for the teacher, and 404 if the participant has just left."""
        if self.membership.participant_id is None:
            raise ApiError(403, "forbidden", "Only participants may do this; you are the teacher of this room.")
        participant = Participant.objects.select_related("room", "room__teacher").filter(pk=self.membership.participant_id).first()
        if participant is None:
            raise not_found("room")
        return participant


def member_access(request: Request, room_id: UUID) -> RoomAccess:
    """The room, for its members. Raises `ApiError` 404 for others, and 403 for a read-only token that changes something."""
    actor = actor_of(request)
    room = Room.objects.filter(pk=room_id).first()
    membership = None if room is None else membership_in(actor, room)
    if room is None or membership is None:
        raise not_found("room")
    if membership.read_only and request.method not in ("GET", "HEAD"):
        raise ApiError(403, "forbidden", "This token has the scope read, which does not allow changes.")
    return RoomAccess(room, membership)


def taught_room(request: Request, room_id: UUID) -> Room:
    """The room, for its teacher. Raises `ApiError` 404, or 403 for participants."""
    access = member_access(request, room_id)
    if not access.membership.is_teacher:
        raise ApiError(403, "forbidden", "Only the teacher of the room may do this.")
    return access.room


def room_body(request: Request, room_id: UUID, membership: RoomMembership) -> RoomBody:
    """The room as this member may see it. Raises `ApiError` 404 if it was deleted in the meantime."""
    room = state.load(room_id)
    body = None if room is None else room.body_for(membership, base_of(request))
    if body is None:
        raise not_found("room")
    return body


def _as_api_error(refused: RoomRefused) -> ApiError:
    headers = {"Retry-After": str(refused.seconds)} if isinstance(refused, TooManyWrongCodes) else None
    path = str(refused).split(":", 1)[0] if str(refused).startswith("$") else ""
    return ApiError(refused.status, refused.code, str(refused), headers=headers, path=path)
