"""Opening a room, locking it, giving it another code, showing something in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from schedviz.sessions.models import Session
from schedviz.web.rooms import notify
from schedviz.web.rooms.errors import RoomEnded
from schedviz.web.rooms.links import new_code
from schedviz.web.rooms.models import Room

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

#: Two codes are the same once in 10¹¹ times.
_TRIES = 5


def open_room(teacher: AbstractBaseUser, session: Session, *, title: str = "") -> Room:
    """A new room. The caller has seen that the teacher may share the session."""
    for left in range(_TRIES, 0, -1):
        try:
            with transaction.atomic():
                room = Room.objects.create(teacher_id=teacher.pk, session=session, title=title.strip() or session.name, code=new_code())
            break
        except IntegrityError:
            if left == 1:
                raise
    # Its times are the database's.
    room.refresh_from_db()
    return room


def change(room: Room, **members: object) -> None:
    """Store some members of a room that has not ended, and tell everybody. Raises `RoomEnded`."""
    if not Room.objects.filter(pk=room.pk).exclude(status=Room.Status.ENDED).update(**members):
        raise RoomEnded("The room has ended.")
    notify.changed(room.pk)


def lock(room: Room, *, locked: bool) -> None:
    """Let nobody new in, or let them in again. Raises `RoomEnded`."""
    change(room, status=Room.Status.LOCKED if locked else Room.Status.OPEN)


def renew_code(room: Room) -> None:
    """Another code; the old one is void. Raises `RoomEnded`."""
    for left in range(_TRIES, 0, -1):
        try:
            with transaction.atomic():
                change(room, code=new_code())
        except IntegrityError:
            if left == 1:
                raise
        else:
            return


def show(room: Room, session: Session | None) -> None:
    """Show a session in place of the room's; None: the room's own. Raises `RoomEnded`."""
    change(room, shown_id=None if session is None or session.pk == room.session_id else session.pk)
