"""The pages of rooms: shells in which the front end draws data from REST and the WebSockets."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from schedviz.web.auth.permissions import actor_of
from schedviz.web.learning.models import lesson_of
from schedviz.web.pages.shell import page, page_view, to_login
from schedviz.web.rooms.links import read_code
from schedviz.web.rooms.membership import RoomMembership, membership_in
from schedviz.web.rooms.models import LIVE, Room


@page_view
def join_page(request: HttpRequest, code: str = "") -> HttpResponse:
    """`/r/`, `/r/<code>/`: the page for joining. Members are redirected to the room; others do not learn whether it exists."""
    room = Room.objects.filter(code=read_code(code), status__in=LIVE).first() if code else None
    if room is not None and membership_in(actor_of(request), room) is not None:
        return redirect("room-page", room_id=room.pk)
    return page(request, "rooms/join.html", code=read_code(code))


@page_view
def rooms_page(request: HttpRequest) -> HttpResponse:
    """`/rooms/`: a teacher's rooms."""
    if not actor_of(request).has_account:
        return to_login(request)
    return page(request, "rooms/list.html")


@page_view
def room_page(request: HttpRequest, room_id: UUID) -> HttpResponse:
    """`/rooms/<id>/`: one room, for its members; others get the page for joining."""
    return _room(request, room_id)


@page_view
def presenter_page(request: HttpRequest, room_id: UUID) -> HttpResponse:
    """`/rooms/<id>/presenter/`: notes, the next stop and the tally, for the teacher."""
    return _room(request, room_id, view="presenter")


@page_view
def projector_page(request: HttpRequest, room_id: UUID) -> HttpResponse:
    """`/rooms/<id>/projector/`: the projected view, for the teacher."""
    return _room(request, room_id, view="projector")


def _room(request: HttpRequest, room_id: UUID, *, view: str = "") -> HttpResponse:
    room = Room.objects.select_related("session", "shown").filter(pk=room_id).first()
    membership: RoomMembership | None = None if room is None else membership_in(actor_of(request), room)
    if room is None or membership is None:
        return redirect("join-page")
    if view and not membership.is_teacher:
        return redirect("room-page", room_id=room_id)
    session = room.shown or room.session
    return page(
        request,
        "rooms/room.html",
        room_id=str(room_id),
        title=room.title,
        role="teacher" if membership.is_teacher else "participant",
        session_id=str(session.pk) if session else "",
        session_name=session.name if session else "",
        lesson=lesson_of(session) if session else "",
        view=view,
    )
