"""Exports of a room: its QR code as an image, its record as CSV."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request

from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import error_responses
from schedviz.web.pages.words import language_of
from schedviz.web.rooms import links
from schedviz.web.rooms.api.access import RoomResource, member_access, taught_room
from schedviz.web.rooms.record import record


class RoomQr(RoomResource):
    """The short link as an image."""

    @extend_schema(
        operation_id="getRoomQr",
        responses={
            (200, "image/svg+xml"): OpenApiResponse(OpenApiTypes.STR, "A QR code, black on white with a margin."),
            **error_responses(404, 409),
        },
    )
    def get(self, request: Request, room_id: UUID) -> HttpResponse:
        """Download the room's short link as a QR code."""
        room = member_access(request, room_id).room
        if not room.code:
            raise ApiError(409, "room_ended", "The room has ended, so it has no code.")
        picture = links.qr_svg(links.link(links.base_of(request), room.code))
        return HttpResponse(picture, content_type="image/svg+xml", headers={"Cache-Control": "no-store"})


class RoomRecord(RoomResource):
    """Answers and timing."""

    @extend_schema(
        operation_id="getRoomRecord",
        responses={
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "One line for each question and participant: docs/rooms.md."),
            **error_responses(403, 404, 409),
        },
    )
    def get(self, request: Request, room_id: UUID) -> HttpResponse:
        """Download the record of a room as CSV: each participant's answers and their timing."""
        room = taught_room(request, room_id)
        name = f'attachment; filename="room-{room.created_at:%Y-%m-%d}.csv"'
        return HttpResponse(
            record(room, language_of(request)), content_type="text/csv; charset=utf-8", headers={"Content-Disposition": name}
        )
