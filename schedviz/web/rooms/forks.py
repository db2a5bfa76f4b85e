"""Forks of participants: sessions that belong to the teacher's account, and that the participant may use while the room is open."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from schedviz.sessions import quotas
from schedviz.sessions.forks.requests import Forked, fork, known_fork, size_at
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import deletion
from schedviz.web.rooms import notify
from schedviz.web.rooms.errors import LeftRoom
from schedviz.web.rooms.models import LIVE, Participant, RoomFork


def fork_for(participant: Participant, session: Session, *, at: int | None, key: str) -> Forked:
    """Fork a session for a participant who may see it. If they have the maximum number of forks, the oldest is deleted.

    Raises `QuotaReached`, `NotForkable`, `HistoryUnavailable`, `KeyReused`, or `LeftRoom` if they have just left.
    """
    try:
        return _fork_for(participant, session, at=at, key=key)
    except quotas.QuotaReached as error:
        if error.quota is None:
            raise
        # The participant has no sessions that could be deleted.
        raise quotas.QuotaReached(
            f"Forks in this room count as sessions of the teacher, and a quota of the teacher is used up: {error.quota.setting} allows "
            f"{error.quota.limit:,} {error.quota.kind}. Ask the teacher to delete sessions or forks."
        ) from error


def _fork_for(participant: Participant, session: Session, *, at: int | None, key: str) -> Forked:
    room = participant.room
    teacher = room.teacher
    own_key = f"{participant.pk}:{key}" if key else ""
    if known_fork(session, teacher, at=at, key=own_key) is None:
        quotas.require_session_quota(teacher.pk, **size_at(session, at))
    # The teacher's permission to call extenders does not extend to participants.
    name = f"{participant.nickname}: {session.name}"

    def enter(made: Session) -> None:
        if not lock(Participant.objects.filter(pk=participant.pk, removed=False, room__status__in=LIVE)):
            raise LeftRoom("You are not in this room any more.")
        RoomFork.objects.create(session=made, room=room, participant=participant)

    forked = fork(session, teacher, at=at, name=name, key=own_key, calls_extenders=False, on_create=enter)
    _delete_surplus(participant)
    notify.changed(room.pk)
    return forked


def lock(participants: QuerySet[Participant]) -> int:
    """Lock participants within a transaction; returns how many there are. Their forks are created, and their rows are deleted, with this
    lock, so that no fork is left behind.
    """
    return len(participants.select_for_update(of=("self",)).values_list("pk", flat=True))


def of_participant(participant: Participant) -> list[UUID]:
    """The sessions of a participant's forks, oldest first."""
    return list(RoomFork.objects.filter(participant=participant).order_by("created_at", "pk").values_list("session_id", flat=True))


def delete_sessions(sessions: Iterable[UUID]) -> None:
    """Delete forks. After an interruption the sweeper deletes the rest."""
    for session_id in sessions:
        deletion.delete_session(session_id)


def _delete_surplus(participant: Participant) -> None:
    """Delete the participant's oldest forks beyond ROOM_FORKS, except one that is shown to the class."""
    maximum: int = settings.ROOM_FORKS
    own = [fork_id for fork_id in of_participant(participant) if fork_id != participant.room.shown_id]
    delete_sessions(own[: max(0, len(own) - maximum)])
