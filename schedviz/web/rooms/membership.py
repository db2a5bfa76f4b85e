"""Membership in rooms, and the permissions that rooms register with `schedviz.web.auth.actors`."""

from __future__ import annotations

from uuid import UUID

import msgspec
from django.db.models import Q, QuerySet

from schedviz.sessions.models import Session
from schedviz.web.auth.actors import Actor, Role
from schedviz.web.rooms.models import LIVE, Participant, Room, RoomFork


class RoomMembership(msgspec.Struct, frozen=True):
    """The membership of an actor in a room."""

    room_id: UUID
    #: None for the teacher.
    participant_id: int | None
    #: Whether the client may only read, because its token has the scope `read`.
    read_only: bool = False
    #: The room's teacher, for limits.
    teacher_id: int | None = None

    @property
    def is_teacher(self) -> bool:
        return self.participant_id is None


def role_of(actor: Actor, session: Session) -> Role | None:
    """A participant's role in a session: editor of their own forks, viewer of the sessions that the room shows, otherwise none."""
    if not actor.guest:
        return None
    memberships = Participant.objects.filter(digest=actor.guest, removed=False, room__status__in=LIVE)
    if RoomFork.objects.filter(session=session, participant__in=memberships).exists():
        return Role.EDITOR
    in_room = Q(room__shown=session) | Q(room__session=session)
    return Role.VIEWER if memberships.filter(in_room).exists() else None


def unlisted_sessions() -> QuerySet[RoomFork, UUID]:
    """The forks of participants in rooms that have not ended: the room lists them."""
    return RoomFork.objects.filter(room__status__in=LIVE).values_list("session_id", flat=True)


def membership_in(actor: Actor, room: Room) -> RoomMembership | None:
    """The actor's membership; None if they are not in the room. Only the teacher remains a member of a room that has ended."""
    if actor.user_id is not None and room.teacher_id == actor.user_id:
        return RoomMembership(room.pk, None, actor.read_only, room.teacher_id)
    if not actor.guest or not room.is_live:
        return None
    participant_id = Participant.objects.filter(room=room, digest=actor.guest, removed=False).values_list("pk", flat=True).first()
    return None if participant_id is None else RoomMembership(room.pk, participant_id, teacher_id=room.teacher_id)
