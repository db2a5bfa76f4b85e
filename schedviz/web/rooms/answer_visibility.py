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
    memberships = Participant.objects.filter(digest=guest, removed=False, room__status__in=LIVE)
    forks = RoomFork.objects.filter(session=session, participant__in=memberships)
    rooms = Room.objects.filter(Q(participants__in=memberships) & (Q(shown=session) | Q(session=session)) | Q(forks__in=forks))
    lesson = lesson_of(session)
    asked = Question.objects.filter(room__in=rooms.values("pk")).exclude(stop="").select_related("session")
    questions = [
        question
        for question in asked.defer(*(f"session__{column}" for column in Session.LARGE_COLUMNS))
        if question.session is None or lesson_of(question.session) == lesson
    ]
    revealed = frozenset(question.stop for question in questions if question.revealed)
    return HiddenAnswers(revealed, frozenset(question.stop for question in questions) - revealed, own=forks.exists())
