"""`rooms/join/`, `rooms/{room}/leave/`, `rooms/{room}/hand/`, `rooms/{room}/participants/`: joining, leaving, raising a hand, removing
participants.
"""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.web.addresses import client_address
from schedviz.web.api.access import body_as
from schedviz.web.api.errors import not_found
from schedviz.web.api.openapi import error_responses, ref, response
from schedviz.web.api.rate_limit import Scope
from schedviz.web.rooms import guests, joining, presence, schemas
from schedviz.web.rooms.api.access import RoomResource, member_access, room_body, taught_room
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.models import Participant, Room


class JoinRoom(RoomResource):
    """Joining a room."""

    rates: ClassVar[dict[str, Scope]] = {"POST": "joins"}

    @extend_schema(
        operation_id="joinRoom",
        request={"application/json": ref(schemas.Joining)},
        responses={
            201: response(schemas.RoomBody, "Joined; the response sets the cookie of the participant."),
            200: response(schemas.RoomBody, "You had joined this room before."),
            **error_responses(400, 403, 404, 409),
        },
    )
    def post(self, request: Request) -> Response:
        """Join a room with its code and a nickname. No account is needed."""
        request_body = body_as(schemas.Joining, request)
        secret = guests.secret_in(request.COOKIES.get(settings.ROOM_GUEST_COOKIE, "")) or guests.new_secret()
        joined = joining.join(request_body.code, request_body.nickname, secret=secret, address=client_address(request))
        room_id = joined.participant.room_id
        http_response = Response(
            room_body(request, room_id, RoomMembership(room_id, joined.participant.pk)), status=200 if joined.is_back else 201
        )
        guests.set_cookie(http_response, secret, secure=request.is_secure())
        return http_response


class LeaveRoom(RoomResource):
    """Leaving a room."""

    @extend_schema(operation_id="leaveRoom", request=None, responses={204: None, **error_responses(403, 404)})
    def post(self, request: Request, room_id: UUID) -> Response:
        """Leave a room. Deletes your answers and forks there."""
        joining.leave(member_access(request, room_id).participant)
        return Response(status=204)


class OneParticipant(RoomResource):
    """A participant."""

    @extend_schema(
        operation_id="changeParticipant",
        request={"application/json": ref(schemas.ParticipantChange)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404)},
    )
    def patch(self, request: Request, room_id: UUID, participant_id: int) -> Response:
        """Lower a participant's hand."""
        participant = _participant(taught_room(request, room_id), participant_id)
        presence.raise_hand(participant, raised=body_as(schemas.ParticipantChange, request).hand)
        return Response(room_body(request, room_id, RoomMembership(room_id, None)))

    @extend_schema(operation_id="removeParticipant", responses={204: None, **error_responses(403, 404)})
    def delete(self, request: Request, room_id: UUID, participant_id: int) -> Response:
        """Remove a participant, who cannot come back with the same browser's cookie."""
        joining.remove(_participant(taught_room(request, room_id), participant_id))
        return Response(status=204)


class HandInRoom(RoomResource):
    """A participant's hand."""

    @extend_schema(
        operation_id="raiseHand",
        request={"application/json": ref(schemas.Hand)},
        responses={200: response(schemas.RoomBody), **error_responses(400, 403, 404)},
    )
    def post(self, request: Request, room_id: UUID) -> Response:
        """Raise your hand, or lower it."""
        access = member_access(request, room_id)
        presence.raise_hand(access.participant, raised=body_as(schemas.Hand, request).raised)
        return Response(room_body(request, room_id, access.membership))


def _participant(room: Room, participant_id: int) -> Participant:
    participant = Participant.objects.filter(room=room, pk=participant_id, removed=False).first()
    if participant is None:
        raise not_found("participant")
    return participant
