"""The questions and right answers of the lesson of a room's session."""

from __future__ import annotations

import html
import re
from typing import NamedTuple

import msgspec

from schedviz.lessons import LessonError, UnknownLessonError, find
from schedviz.lessons.catalogue import version
from schedviz.lessons.lesson import Lesson, Question
from schedviz.lessons.rendering import html as rendered
from schedviz.lessons.stop_state import StopState
from schedviz.sessions.analysis import requests
from schedviz.sessions.errors import SessionError
from schedviz.sessions.models import Session
from schedviz.web.learning.models import lesson_of

_WAIT_SECONDS = 5.0


_TAG = re.compile(r"<[^>]+>")
#: A fact that is only known when the lesson is played.
_FACT = re.compile(r"\{[a-z0-9-]+\}")


class QuestionWords(NamedTuple):
    """The words of a question in one language, without markup."""

    text: str
    #: By the ID of the option.
    options: dict[str, str]


def question_of(session: Session | None, stop: str) -> Question | None:
    """The question of a stop of the session's lesson; None if there is none."""
    lesson = _lesson_of(session)
    return None if lesson is None else next((stop_plan.question for stop_plan in lesson.plan.stops if stop_plan.id == stop), None)


def question_words(session: Session | None, stop: str, language: str) -> QuestionWords | None:
    """The words of the question of a stop; None if there is none."""
    lesson = _lesson_of(session)
    if lesson is None or stop not in lesson.texts[language].stops:
        return None
    texts = lesson.texts[language].stops[stop]
    return QuestionWords(_plain(texts.question), {option: _plain(text) for option, text in texts.options.items()})


def _lesson_of(session: Session | None) -> Lesson | None:
    name = lesson_of(session) if session is not None else ""
    if not name:
        return None
    try:
        return find(name)
    except (LessonError, UnknownLessonError):
        return None


def _plain(markdown: str) -> str:
    text = html.unescape(_TAG.sub("", rendered(_FACT.sub("…", markdown))))
    return " ".join(text.split())


def right_answer(session: Session | None, stop: str) -> str | None:
    """The right answer of a stop of the session's lesson, from a worker that plays it; None if it is not available now."""
    name = lesson_of(session) if session is not None else ""
    if session is None or not name:
        return None
    try:
        content = requests.request_result(session, requests.LessonPathRequest(name, version(name), at=0), timeout_seconds=_WAIT_SECONDS)
    except (SessionError, LessonError, UnknownLessonError):
        return None
    played = msgspec.json.decode(content, type=list[StopState])
    answer = next(
        (played_stop.answer for played_stop in played if played_stop.stop.id == stop and played_stop.stop.question is not None), None
    )
    if isinstance(answer, list):
        return ",".join(sorted(str(option) for option in answer))
    return None if answer is None else str(answer)
