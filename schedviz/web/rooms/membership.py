"""What somebody is to a room, and what a participant is to a session: the part of `may` that rooms have."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
from django.db.models import Q, QuerySet

from schedviz.sessions.models import Membership, Session
from schedviz.web.rooms.models import LIVE, Participant, Room, RoomFork

if TYPE_CHECKING:
    from schedviz.web.permissions import Actor


class RoomMembership(msgspec.Struct, frozen=True):
    """A place in a room."""

    room_id: UUID
    #: None: the teacher's.
    participant_id: int | None

    @property
    def is_teacher(self) -> bool:
        return self.participant_id is None


def role_of_guest(guest: str, session: Session) -> str | None:
    """What a participant is to a session: an editor of own forks, a viewer of the room's session and of what is shown, else nothing."""
    here = Participant.objects.filter(digest=guest, removed=False, room__status__in=LIVE)
    if RoomFork.objects.filter(session=session, participant__in=here).exists():
        return Membership.Role.EDITOR
    in_room = Q(room__shown=session) | Q(room__session=session)
    return Membership.Role.VIEWER if here.filter(in_room).exists() else None


def seat_in(actor: Actor, room: Room) -> RoomMembership | None:
    """The actor's place; None: they are not in the room. Of a room that ended only the teacher's is left."""
    if actor.user_id is not None and room.teacher_id == actor.user_id:
        return RoomMembership(room.pk, None)
    if not actor.guest or not room.is_live:
        return None
    found = Participant.objects.filter(room=room, digest=actor.guest, removed=False).values_list("pk", flat=True).first()
    return None if found is None else RoomMembership(room.pk, found)


def forks_in_rooms() -> QuerySet[RoomFork, UUID]:
    """The sessions that participants of rooms which have not ended forked."""
    return RoomFork.objects.filter(room__status__in=LIVE).values_list("session_id", flat=True)
