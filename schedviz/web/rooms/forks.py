"""Sessions that participants fork to try: the teacher's by account, the participant's as long as the room lives."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings

from schedviz.sessions import quotas
from schedviz.sessions.forks.requests import Forked, fork, known_fork
from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create
from schedviz.web.rooms import notify
from schedviz.web.rooms.models import Participant, RoomFork


def fork_for(participant: Participant, session: Session, *, at: int | None, key: str) -> Forked:
    """A fork of a session, for a participant who may see it. Where they have as many as they may, the oldest makes room.

    Raises `QuotaReached`, `NotForkable`, `HistoryUnavailable` or `KeyReused`.
    """
    room = participant.room
    teacher = room.teacher
    own_key = f"{participant.pk}:{key}" if key else ""
    if known_fork(session, teacher, at=at, key=own_key) is None:
        quotas.expect_room_for_session(teacher.pk, nodes=session.nodes, pods=session.pods)
    # The teacher's right to have extenders called is nobody else's.
    name = f"{participant.nickname}: {session.name}"
    forked = fork(session, teacher, at=at, name=name, key=own_key, calls_extenders=False)
    RoomFork.objects.get_or_create(session=forked.session, defaults={"room": room, "participant": participant})
    _make_way(participant)
    notify.changed(room.pk)
    return forked


def of_participant(participant: Participant) -> list[UUID]:
    """The sessions of a participant's forks, oldest first."""
    return list(RoomFork.objects.filter(participant=participant).order_by("created_at", "pk").values_list("session_id", flat=True))


def delete_sessions(sessions: Iterable[UUID]) -> None:
    """Delete forks. Whoever stops in between leaves the rest to the sweeper."""
    for session_id in sessions:
        create.delete_session(session_id)


def _make_way(participant: Participant) -> None:
    most: int = settings.ROOM_FORKS
    own = [one for one in of_participant(participant) if one != participant.room.shown_id]
    delete_sessions(own[: max(0, len(own) - most)])
