"""Hides the answers of lesson questions from participants until the teacher has revealed them."""

from __future__ import annotations

import msgspec
from django.db.models import Q

from schedviz.sessions.models import Session
from schedviz.web.learning.models import lesson_of
from schedviz.web.rooms.models import LIVE, Participant, Question, Room, RoomFork


class HiddenAnswers(msgspec.Struct, frozen=True):
    """The stops whose questions were asked in a participant's rooms, by state."""

    revealed: frozenset[str]
    #: Asked but not revealed.
    waiting: frozenset[str]
    #: The session is a fork of the participant, where questions that were not asked may be answered freely.
    own: bool

    def shows(self, stop: str) -> bool:
        """Whether the participant may see the answer at a stop, once the session is there."""
        return stop in self.revealed or (self.own and stop not in self.waiting)


def hidden_answers(guest: str, session: Session) -> HiddenAnswers:
    """The answers of a session's lesson that are hidden from a participant (the digest `guest`)."""
    here = Participant.objects.filter(digest=guest, removed=False, room__status__in=LIVE)
    forks = RoomFork.objects.filter(session=session, participant__in=here)
    rooms = Room.objects.filter(Q(participants__in=here) & (Q(shown=session) | Q(session=session)) | Q(forks__in=forks))
    lesson = lesson_of(session)
    questions = [
        one
        for one in Question.objects.filter(room__in=rooms.values("pk")).exclude(stop="").select_related("session")
        if one.session is None or lesson_of(one.session) == lesson
    ]
    revealed = frozenset(one.stop for one in questions if one.revealed)
    return HiddenAnswers(revealed, frozenset(one.stop for one in questions) - revealed, own=forks.exists())
