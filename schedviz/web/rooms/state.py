"""A room as those in it see it: read from the database once, told to each as far as it is theirs to know."""

from __future__ import annotations

import time
from collections import Counter
from functools import cached_property
from typing import Any, cast

import msgspec

from schedviz.sessions.models import Session
from schedviz.web.learning.made_for import lesson_of
from schedviz.web.rooms import bodies, links
from schedviz.web.rooms.models import Answer, Participant, Question, Room, RoomFork
from schedviz.web.rooms.seats import Seat


class RoomState:
    """Everything of one room at one time. Asks the database when it is made, and never after."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.participants = list(Participant.objects.filter(room=room, removed=False).order_by("pk"))
        self._questions = list(Question.objects.filter(room=room).order_by("number"))
        answers = Answer.objects.filter(question__room=room, participant__removed=False)
        self._answers = list(answers.values_list("question__number", "participant_id", "value"))
        #: By participant, oldest first.
        self._forks: dict[int | None, list[bodies.RoomFork]] = {}
        for fork in RoomFork.objects.filter(room=room).select_related("session").order_by("created_at", "pk"):
            self._forks.setdefault(fork.participant_id, []).append(_fork(fork.session, fork))
        self._shown = _shown(room)
        looked_at = room.shown or room.session
        self._lesson = lesson_of(looked_at) if looked_at else ""
        self._teacher = room.teacher.get_username()

    def told_to(self, seat: Seat, base: str) -> bodies.RoomBody | None:
        """What this place may know, with links below `base` (`https://host`); None: the participant is not in the room any more."""
        room = self.room
        you = None
        if seat.participant_id is not None:
            you = self._yous.get(seat.participant_id)
            if you is None:
                return None
        return bodies.RoomBody(
            id=str(room.pk),
            title=room.title,
            role="teacher" if seat.is_teacher else "participant",
            status=cast("bodies.RoomStatus", room.status),
            session=str(room.session_id) if room.session_id else None,
            shown=self._shown,
            lesson=self._lesson,
            teacher=self._teacher,
            created_at=room.created_at,
            ended_at=room.ended_at,
            kept=room.kept,
            code=room.code,
            link=links.link(base, room.code),
            moment=self.allowed_moment(room.moment),
            count=len(self.participants),
            here=self._here,
            questions=self._all_questions if seat.is_teacher else self._told_questions,
            you=you,
            participants=self._list if seat.is_teacher else None,
        )

    def allowed_moment(self, moment: Any) -> bodies.Moment | None:
        """The moment, if it is of a session that everybody in the room may see; else None."""
        if not moment or moment.get("session") not in self.sessions:
            return None
        return msgspec.convert(moment, bodies.Moment)

    @cached_property
    def sessions(self) -> frozenset[str]:
        """What everybody in the room may see."""
        return frozenset(str(one) for one in (self.room.session_id, self.room.shown_id) if one)

    @cached_property
    def _here(self) -> int:
        now = time.time()
        return sum(one.here_until > now for one in self.participants)

    @cached_property
    def _answers_of(self) -> dict[int, dict[str, str]]:
        found: dict[int, dict[str, str]] = {}
        for number, participant, value in self._answers:
            found.setdefault(participant, {})[str(number)] = value
        return found

    @cached_property
    def _yous(self) -> dict[int, bodies.You]:
        return {
            one.pk: bodies.You(
                id=one.pk,
                nickname=one.nickname,
                hand=one.hand_at is not None,
                answers=self._answers_of.get(one.pk, {}),
                forks=self._forks.get(one.pk, []),
            )
            for one in self.participants
        }

    @cached_property
    def _list(self) -> list[bodies.RoomParticipant]:
        now = time.time()
        return [
            bodies.RoomParticipant(
                id=one.pk,
                nickname=one.nickname,
                here=one.here_until > now,
                following=one.following,
                hand=one.hand_at is not None,
                hand_at=one.hand_at,
                joined_at=one.joined_at,
                answers=self._answers_of.get(one.pk, {}),
                forks=self._forks.get(one.pk, []),
            )
            for one in self.participants
        ]

    @cached_property
    def _all_questions(self) -> list[bodies.RoomQuestion]:
        return [_question(one, self._tally(one)) for one in self._questions]

    @cached_property
    def _told_questions(self) -> list[bodies.RoomQuestion]:
        return [one if one.revealed else msgspec.structs.replace(one, right=None, tally=None) for one in self._all_questions]

    def _tally(self, question: Question) -> list[tuple[str, int]]:
        if question.tally is not None:
            return [(value, count) for value, count in question.tally]
        return tally(value for number, _, value in self._answers if number == question.number)


def tally(values: Any) -> list[tuple[str, int]]:
    """How often each is there, most first, then by name."""
    return sorted(Counter(values).items(), key=lambda counted: (-counted[1], counted[0]))


def _fork(session: Session, fork: RoomFork) -> bodies.RoomFork:
    return bodies.RoomFork(session=str(session.pk), name=session.name, at=session.fork_event, created_at=fork.created_at)


def _shown(room: Room) -> bodies.Shown | None:
    if room.shown_id is None:
        return None
    fork = RoomFork.objects.filter(session_id=room.shown_id, room=room).select_related("participant").first()
    nickname = fork.participant.nickname if fork is not None and fork.participant is not None else ""
    return bodies.Shown(session=str(room.shown_id), participant=nickname)


def _question(question: Question, counted: list[tuple[str, int]]) -> bodies.RoomQuestion:
    return bodies.RoomQuestion(
        n=question.number,
        stop=question.stop,
        text=question.text,
        kind=cast("bodies.QuestionKind", question.kind),
        options=question.options,
        open=question.is_open,
        revealed=question.revealed,
        asked_at=question.asked_at,
        answered=sum(count for _, count in counted),
        right=question.right or None,
        tally=[bodies.Tallied(value, count) for value, count in counted],
    )


def load(room_id: Any) -> RoomState | None:
    """A room as it is now; None where there is none. Asks the database."""
    room = Room.objects.select_related("teacher", "session", "shown").filter(pk=room_id).first()
    return None if room is None else RoomState(room)
