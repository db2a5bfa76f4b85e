"""Opening and locking rooms, renewing their codes, and showing sessions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from django.shortcuts import get_object_or_404

from schedviz.sessions.models import Session
from schedviz.web.rooms import notify
from schedviz.web.rooms.errors import RoomEnded, TooManyRooms
from schedviz.web.rooms.links import new_code
from schedviz.web.rooms.models import LIVE, Room

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

#: The maximum number of rooms of one session that have not ended.
MAX_OPEN_ROOMS = 20
#: Two equal codes are very unlikely (1 in 10¹¹).
_MAX_TRIES = 5


def open_room(teacher: AbstractBaseUser, session: Session, *, title: str = "") -> Room:
    """A new room. The caller has checked that the teacher may share the session. Raises `TooManyRooms`, or `Http404` if the session was
    deleted meanwhile.
    """
    for tries_left in range(_MAX_TRIES, 0, -1):
        try:
            with transaction.atomic():
                _require_few_rooms(teacher, session)
                room = Room.objects.create(teacher_id=teacher.pk, session=session, title=title.strip() or session.name, code=new_code())
            break
        except IntegrityError:
            if tries_left == 1:
                raise
    # The times of the database.
    room.refresh_from_db()
    return room


def _require_few_rooms(teacher: AbstractBaseUser, session: Session) -> None:
    allowed: int = settings.ROOMS_PER_USER
    if allowed and Room.objects.filter(teacher_id=teacher.pk).count() >= allowed:
        raise TooManyRooms(f"You have {allowed} rooms, open or ended, which SCHEDVIZ_ROOMS_PER_USER allows. Delete one to open another.")
    # Requests that open rooms of one session at the same time wait for each other.
    get_object_or_404(Session.objects.select_for_update(no_key=True).only("pk"), pk=session.pk)
    if Room.objects.filter(session=session, status__in=LIVE).count() >= MAX_OPEN_ROOMS:
        raise TooManyRooms(f"This session has {MAX_OPEN_ROOMS} open rooms, which is the limit. End one to open another.")


def change(room: Room, **members: object) -> None:
    """Update members of a room that has not ended, and notify its participants. Raises `RoomEnded`."""
    if not Room.objects.filter(pk=room.pk).exclude(status=Room.Status.ENDED).update(**members):
        raise RoomEnded("The room has ended.")
    notify.changed(room.pk)


def lock(room: Room, *, locked: bool) -> None:
    """Lock a room against new participants, or unlock it. Raises `RoomEnded`."""
    change(room, status=Room.Status.LOCKED if locked else Room.Status.OPEN)


def renew_code(room: Room) -> None:
    """Replace the code; the old one becomes void. Raises `RoomEnded`."""
    for tries_left in range(_MAX_TRIES, 0, -1):
        try:
            with transaction.atomic():
                change(room, code=new_code())
        except IntegrityError:
            if tries_left == 1:
                raise
        else:
            return


def show(room: Room, session: Session | None) -> None:
    """Show another session in the room; None shows the room's own. Raises `RoomEnded`."""
    change(room, shown_id=None if session is None or session.pk == room.session_id else session.pk)
