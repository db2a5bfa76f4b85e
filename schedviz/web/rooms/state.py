"""The state of a room: read from the database once, then filtered for each member."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, cast

import msgspec

from schedviz.sessions.models import Session
from schedviz.web.learning.models import lesson_of
from schedviz.web.rooms import links, schemas
from schedviz.web.rooms.membership import RoomMembership
from schedviz.web.rooms.models import Answer, Participant, Question, Room, RoomFork

#: Characters of the answers in a tally that is sent, and in all tallies: free text of a whole class would otherwise be sent to each of them
#: at every change. Each answer counts as `_ANSWER_BYTES` more.
TALLY_CHARACTERS: Final = 4000
TALLIES_CHARACTERS: Final = 12_000
#: Bytes of the answers in the teacher's list of participants, for the same reason: each change sends it to all sockets of the teacher.
LIST_BYTES: Final = 256 * 1024
#: Of one answer in a list or tally, beside its text: a number and JSON's punctuation.
_ANSWER_BYTES: Final = 10


class RoomState:
    """The complete state of a room at one time. Queries the database only when it is created."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.participants = list(Participant.objects.filter(room=room, removed=False).order_by("pk"))
        self._questions = list(Question.objects.filter(room=room).order_by("number"))
        answers = Answer.objects.filter(question__room=room, participant__removed=False)
        #: By the question's number: participants and their answers.
        self._answers: dict[int, list[tuple[int, str]]] = {}
        for number, participant, value in answers.values_list("question__number", "participant_id", "value"):
            self._answers.setdefault(number, []).append((participant, value))
        #: By participant, oldest first.
        self._forks: dict[int | None, list[schemas.RoomFork]] = {}
        # Only what is shown: the settings and reports of sessions are large.
        rows = RoomFork.objects.filter(room=room).select_related("session").order_by("created_at", "pk")
        for fork in rows.only("participant", "created_at", "session__name", "session__fork_event"):
            self._forks.setdefault(fork.participant_id, []).append(_fork(fork.session, fork))
        self._shown = _shown(room)
        looked_at = room.shown or room.session
        self._lesson = lesson_of(looked_at) if looked_at else ""
        self._teacher = room.teacher.get_username()

    def body_for(self, membership: RoomMembership, base: str) -> schemas.RoomBody | None:
        """The part of the state that this member may see, with links below `base` (`https://host`); None for a former member."""
        room = self.room
        you = None
        if membership.participant_id is not None:
            you = self._you_by_id.get(membership.participant_id)
            if you is None:
                return None
        return schemas.RoomBody(
            id=str(room.pk),
            title=room.title,
            role="teacher" if membership.is_teacher else "participant",
            status=cast("schemas.RoomStatus", room.status),
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
            here=self._connected_count,
            questions=self._all_questions if membership.is_teacher else self._participant_questions,
            you=you,
            participants=self._participant_list if membership.is_teacher else None,
        )

    def allowed_moment(self, moment: Any) -> schemas.Moment | None:
        """The position, if its session is visible to everybody in the room; otherwise None."""
        if not moment or moment.get("session") not in self.sessions:
            return None
        return msgspec.convert(moment, schemas.Moment)

    @cached_property
    def sessions(self) -> frozenset[str]:
        """The ids of the sessions that everybody in the room may see."""
        return frozenset(str(session_id) for session_id in (self.room.session_id, self.room.shown_id) if session_id)

    @cached_property
    def _connected_count(self) -> int:
        now = time.time()
        return sum(participant.here_until > now for participant in self.participants)

    def compute(self) -> None:
        """Compute what the bodies of all clients share, so that the event loop need not."""
        _ = self.sessions, self._connected_count, self._you_by_id, self._participant_list, self._participant_questions

    def _by_participant(self, numbers: Iterable[int]) -> dict[int, dict[str, str]]:
        """By participant, the answers to these questions."""
        answers: dict[int, dict[str, str]] = {}
        for number in numbers:
            for participant, value in self._answers[number]:
                answers.setdefault(participant, {})[str(number)] = value
        return answers

    def _listed_questions(self) -> list[int]:
        """The questions whose answers are in the teacher's list: the newest ones, whose answers have LIST_BYTES together."""
        listed: list[int] = []
        remaining = LIST_BYTES
        for number in sorted(self._answers, reverse=True):
            remaining -= sum(_ANSWER_BYTES + len(value.encode()) for _, value in self._answers[number])
            if remaining < 0:
                break
            listed.append(number)
        return listed[::-1]

    @cached_property
    def _you_by_id(self) -> dict[int, schemas.You]:
        answers = self._by_participant(sorted(self._answers))
        return {
            participant.pk: schemas.You(
                id=participant.pk,
                nickname=participant.nickname,
                hand=participant.hand_at is not None,
                answers=answers.get(participant.pk, {}),
                forks=self._forks.get(participant.pk, []),
            )
            for participant in self.participants
        }

    @cached_property
    def _participant_list(self) -> list[schemas.RoomParticipant]:
        now = time.time()
        answers = self._by_participant(self._listed_questions())
        return [
            schemas.RoomParticipant(
                id=participant.pk,
                nickname=participant.nickname,
                here=participant.here_until > now,
                following=participant.following,
                hand=participant.hand_at is not None,
                hand_at=participant.hand_at,
                joined_at=participant.joined_at,
                answers=answers.get(participant.pk, {}),
                forks=self._forks.get(participant.pk, []),
            )
            for participant in self.participants
        ]

    @cached_property
    def _all_questions(self) -> list[schemas.RoomQuestion]:
        """The questions. Without options, the newest ones have tallies, as many as have TALLIES_CHARACTERS together."""
        questions: list[schemas.RoomQuestion] = []
        remaining = TALLIES_CHARACTERS
        for question in reversed(self._questions):
            counted = self._tally(question)
            if question.kind == Question.Kind.CHOICE:
                # The options have a limit of their own.
                shown = counted
            else:
                shown = _first(counted, min(TALLY_CHARACTERS, remaining))
                remaining -= sum(_ANSWER_BYTES + len(value) for value, _ in shown)
            questions.append(_question(question, shown, answered=sum(count for _, count in counted)))
        return questions[::-1]

    @cached_property
    def _participant_questions(self) -> list[schemas.RoomQuestion]:
        return [
            question if question.revealed else msgspec.structs.replace(question, right=None, tally=None) for question in self._all_questions
        ]

    def _tally(self, question: Question) -> list[tuple[str, int]]:
        if question.tally is not None:
            return [(value, count) for value, count in question.tally]
        return tally(value for _, value in self._answers.get(question.number, ()))


def tally(values: Any) -> list[tuple[str, int]]:
    """The number of occurrences of each value, most frequent first, then by name."""
    return sorted(Counter(values).items(), key=lambda counted: (-counted[1], counted[0]))


def _fork(session: Session, fork: RoomFork) -> schemas.RoomFork:
    return schemas.RoomFork(session=str(session.pk), name=session.name, at=session.fork_event, created_at=fork.created_at)


def _shown(room: Room) -> schemas.Shown | None:
    if room.shown_id is None:
        return None
    fork = RoomFork.objects.filter(session_id=room.shown_id, room=room).select_related("participant").first()
    nickname = fork.participant.nickname if fork is not None and fork.participant is not None else ""
    return schemas.Shown(session=str(room.shown_id), participant=nickname)


def _question(question: Question, shown: list[tuple[str, int]], *, answered: int) -> schemas.RoomQuestion:
    return schemas.RoomQuestion(
        n=question.number,
        stop=question.stop,
        text=question.text,
        kind=cast("schemas.QuestionKind", question.kind),
        options=question.options,
        open=question.is_open,
        revealed=question.revealed,
        asked_at=question.asked_at,
        answered=answered,
        right=question.right or None,
        tally=[schemas.Tallied(value, count) for value, count in shown],
    )


def _first(counted: list[tuple[str, int]], characters: int) -> list[tuple[str, int]]:
    """The most frequent answers, as many as have so many characters together."""
    ends = accumulate(_ANSWER_BYTES + len(value) for value, _ in counted)
    return [answer for answer, end in zip(counted, ends, strict=True) if end <= characters]


def load_computed(room_id: Any) -> RoomState | None:
    """As `load`, with everything that the bodies of all clients share."""
    room = load(room_id)
    if room is not None:
        room.compute()
    return room


def load(room_id: Any) -> RoomState | None:
    """A room as it is now; None if there is none. Queries the database."""
    large = [f"{session}__{column}" for session in ("session", "shown") for column in Session.LARGE_COLUMNS]
    room = Room.objects.select_related("teacher", "session", "shown").defer(*large).filter(pk=room_id).first()
    return None if room is None else RoomState(room)
