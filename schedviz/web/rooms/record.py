"""The record of a room as CSV: each participant's answers and their timing."""

from __future__ import annotations

import csv
import io
from datetime import datetime

from schedviz.experiments.results.csv_cells import plain_cell
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
    # The cells that many lines have are made once: a full room has 30,000 lines.
    participants = {
        participant.pk: _cells(participant.nickname, _time(participant.joined_at))
        for participant in Participant.objects.filter(room=room, removed=False).order_by("pk")
    }
    answers = {(answer.question_id, answer.participant_id): answer for answer in Answer.objects.filter(question__room=room)}
    for question in Question.objects.filter(room=room).select_related("session").order_by("number"):
        words = (question_words(question.session, question.stop, language) if question.stop else None) or QuestionWords(question.text, {})
        right = words.options.get(question.right, question.right)
        asked = _cells(question.number, _time(question.asked_at), question.stop, words.text, question.kind, right)
        for participant_id, participant in participants.items():
            answer = answers.get((question.pk, participant_id))
            writer.writerow([*asked, *participant, *_answer_cells(question, words, answer)])
    return out.getvalue()


def _answer_cells(question: Question, words: QuestionWords, answer: Answer | None) -> list[object]:
    if answer is None:
        return ["", "", "", ""]
    return _cells(
        words.options.get(answer.value, answer.value),
        int(answer.value == question.right) if question.right else "",
        f"{(answer.answered_at - question.asked_at).total_seconds():.1f}",
        answer.changes,
    )


def _time(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def _cells(*values: object) -> list[object]:
    return [plain_cell(value) if isinstance(value, str) and not _is_number(value) else value for value in values]


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
