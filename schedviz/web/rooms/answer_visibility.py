"""What a lesson keeps back from participants: the answer to a question that their teacher has not revealed."""

from __future__ import annotations

import msgspec
from django.db.models import Q

from schedviz.sessions.models import Session
from schedviz.web.learning.models import lesson_of
from schedviz.web.rooms.models import LIVE, Participant, Question, Room, RoomFork


class HiddenAnswers(msgspec.Struct, frozen=True):
    """The stops whose questions the rooms of a participant were asked, by what became of them."""

    revealed: frozenset[str]
    #: Asked and not revealed.
    waiting: frozenset[str]
    #: It is a fork of the participant's own: what nobody asked yet may be found out there.
    own: bool

    def tells(self, stop: str) -> bool:
        """Whether the answer at a stop is the participant's to know, once the session is there."""
        return stop in self.revealed or (self.own and stop not in self.waiting)


def kept_back(guest: str, session: Session) -> HiddenAnswers:
    """What is kept back of a session's lesson from a participant (the digest `guest`) of the rooms in which it is seen."""
    here = Participant.objects.filter(digest=guest, removed=False, room__status__in=LIVE)
    forks = RoomFork.objects.filter(session=session, participant__in=here)
    rooms = Room.objects.filter(Q(participants__in=here) & (Q(shown=session) | Q(session=session)) | Q(forks__in=forks))
    lesson = lesson_of(session)
    asked = [
        one
        for one in Question.objects.filter(room__in=rooms.values("pk")).exclude(stop="").select_related("session")
        if one.session is None or lesson_of(one.session) == lesson
    ]
    revealed = frozenset(one.stop for one in asked if one.revealed)
    return HiddenAnswers(revealed, frozenset(one.stop for one in asked) - revealed, own=forks.exists())
