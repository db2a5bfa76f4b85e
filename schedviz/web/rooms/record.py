"""The record of a room as CSV: each participant's answers and their timing."""

from __future__ import annotations

import csv
import io
from datetime import datetime

from schedviz.experiments.csv_cells import plain_cell
from schedviz.web.rooms.errors import NotKept
from schedviz.web.rooms.lesson import QuestionWords, question_words
from schedviz.web.rooms.models import Answer, Participant, Question, Room

COLUMNS = (
    *("question", "asked_at", "stop", "text", "kind", "right", "participant", "joined_at"),
    *("answer", "is_right", "seconds", "changes"),
)
#: The byte order mark, by which spreadsheets recognize UTF-8.
_MARK = "\ufeff"


def record(room: Room, language: str = "en") -> str:
    """One line for each question and participant, in order; a lesson's questions and options in this language. Raises `NotKept`."""
    if not room.is_live and not room.kept:
        raise NotKept("The room ended without a record of names and answers.")
    out = io.StringIO()
    out.write(_MARK)
    # Texts are quoted: spreadsheets of many languages separate cells by semicolons.
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    participants = list(Participant.objects.filter(room=room, removed=False).order_by("pk"))
    answers = {(answer.question_id, answer.participant_id): answer for answer in Answer.objects.filter(question__room=room)}
    for question in Question.objects.filter(room=room).select_related("session").order_by("number"):
        question_text = (question_words(question.session, question.stop, language) if question.stop else None) or QuestionWords(
            question.text, {}
        )
        for participant in participants:
            writer.writerow(
                [_cell(value) for value in _line(question, question_text, participant, answers.get((question.pk, participant.pk)))]
            )
    return out.getvalue()


def _line(question: Question, question_text: QuestionWords, participant: Participant, answer: Answer | None) -> list[object]:
    is_right = "" if answer is None or not question.right else int(answer.value == question.right)
    return [
        *(question.number, _time(question.asked_at), question.stop, question_text.text, question.kind),
        question_text.options.get(question.right, question.right),
        *(participant.nickname, _time(participant.joined_at)),
        "" if answer is None else question_text.options.get(answer.value, answer.value),
        is_right,
        "" if answer is None else f"{(answer.answered_at - question.asked_at).total_seconds():.1f}",
        "" if answer is None else answer.changes,
    ]


def _time(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def _cell(value: object) -> object:
    return plain_cell(value) if isinstance(value, str) and not _is_number(value) else value


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
