"""The teacher's questions, and the participants' answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, Max, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from schedviz.sessions.models import Session
from schedviz.web.rooms import notify
from schedviz.web.rooms.errors import AnswerUnusable, QuestionClosed, RoomEnded, TooManyAnswers, TooManyQuestions
from schedviz.web.rooms.models import LIVE, Answer, Participant, Question, Room

#: Few, because every change of a room sends all its questions to everybody in it.
MAX_QUESTIONS: Final = 100
#: Total length of the texts and options of all questions of a room.
MAX_CHARACTERS: Final = 20_000
#: Total length of all answers of a room, because every change of a room reads them. Longer answers than these are counted.
MAX_ANSWER_CHARACTERS: Final = 1_000_000
MAX_SHORT_ANSWER_CHARACTERS: Final = 30


def ask(room: Room, *, kind: str, text: str = "", options: Sequence[str] = (), session: Session | None = None, stop: str = "") -> Question:
    """Ask a question, and close the previous one. Raises `RoomEnded` or `TooManyQuestions`."""
    with transaction.atomic():
        # Locks the room, so that two windows of the teacher get different numbers.
        if not Room.objects.filter(pk=room.pk, status__in=LIVE).update(revision=F("revision") + 1):
            raise RoomEnded("The room has ended.")
        questions = Question.objects.filter(room=room)
        _require_questions_below_limits(questions, text, options)
        number = (questions.aggregate(last=Max("number"))["last"] or 0) + 1
        questions.update(is_open=False)
        question = Question.objects.create(
            room=room, number=number, session=session, stop=stop, text=text, kind=kind, options=list(options), asked_at=timezone.now()
        )
    notify.changed(room.pk)
    return question


def _require_questions_below_limits(questions: QuerySet[Question], text: str, options: Sequence[str]) -> None:
    earlier = list(questions.values_list("text", "options"))
    characters = sum(len(text) + sum(map(len, options)) for text, options in [*earlier, (text, options)])
    remedy = "Open another room for more."
    if len(earlier) >= MAX_QUESTIONS:
        raise TooManyQuestions(f"This room has {MAX_QUESTIONS} questions, which is the limit. {remedy}")
    if characters > MAX_CHARACTERS:
        message = f"The questions of this room would have {characters:,} characters; {MAX_CHARACTERS:,} is the limit."
        raise TooManyQuestions(f"{message} {remedy}")


def change(question: Question, *, is_open: bool | None, revealed: bool | None, right: str | None) -> None:
    """Close or open a question, reveal its tally, set the right answer. A revealed question takes no more answers, and opening one closes
    the others. Raises `RoomEnded` if a question of a room that has ended is to be opened.
    """
    members: dict[str, object] = {}
    if is_open is not None:
        members["is_open"] = is_open
    if revealed is not None:
        members["revealed"] = revealed
    if right is not None:
        members["right"] = canonical(question, right)
    if revealed or (question.revealed and revealed is None):
        members["is_open"] = False
    if not members:
        return
    with transaction.atomic():
        if members.get("is_open"):
            # Locks the room, as in `ask`.
            if not Room.objects.filter(pk=question.room_id, status__in=LIVE).update(revision=F("revision") + 1):
                raise RoomEnded("The room has ended.")
            Question.objects.filter(room_id=question.room_id).exclude(pk=question.pk).update(is_open=False)
        Question.objects.filter(pk=question.pk).update(**members)
    notify.changed(question.room_id)


def store_answer(participant: Participant, number: int, raw: str) -> None:
    """Store a participant's answer; the last one counts. Raises `QuestionClosed`, `AnswerUnusable` or `TooManyAnswers`."""
    question = Question.objects.filter(room_id=participant.room_id, number=number).first()
    if question is None:
        raise AnswerUnusable(f"$.question: there is no question {number}.")
    value = canonical(question, raw)
    now = timezone.now()
    try:
        with transaction.atomic():
            # Locks the question, so that no answer arrives after it is closed.
            if not Question.objects.filter(pk=question.pk, is_open=True).update(is_open=True):
                raise QuestionClosed(f"Question {number} is closed and accepts no more answers.")
            earlier = Answer.objects.filter(question=question, participant=participant)
            if earlier.filter(value=value).exists():
                return
            if len(value) > MAX_SHORT_ANSWER_CHARACTERS:
                _require_answers_below_limit(question.room_id, value)
            if not earlier.update(value=value, answered_at=now, changes=F("changes") + 1):
                Answer.objects.create(question=question, participant=participant, value=value, answered_at=now)
    except IntegrityError:
        # The same answer came twice at the same time, or the participant has just left.
        return
    notify.changed(participant.room_id)


def _require_answers_below_limit(room_id: UUID, value: str) -> None:
    answers = Answer.objects.filter(question__room=room_id)
    characters = answers.aggregate(all=Sum(Length("value")))["all"] or 0
    if characters + len(value) > MAX_ANSWER_CHARACTERS:
        raise TooManyAnswers(
            f"The answers of this room have {characters:,} characters; {MAX_ANSWER_CHARACTERS:,} is the limit. "
            f"Answer with {MAX_SHORT_ANSWER_CHARACTERS} characters or fewer."
        )


def canonical(question: Question, raw: str) -> str:
    """The answer in normal form, so that equal answers are counted together. Raises `AnswerUnusable`."""
    value = " ".join(raw.split())
    if not value or "\0" in value:
        raise AnswerUnusable("$.value: an answer is expected.")
    match question.kind:
        case Question.Kind.CHOICE if value not in question.options:
            raise AnswerUnusable(f"$.value: {value!r} is not one of the options: {', '.join(question.options)}.")
        case Question.Kind.NUMBER:
            return _number(value)
        case Question.Kind.NODES:
            return ",".join(sorted({name.strip() for name in value.split(",") if name.strip()}))
    return value


def _number(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e15:
        raise AnswerUnusable(f"$.value: {value!r} is not a number.")
    return str(int(number)) if number == int(number) else repr(number)
