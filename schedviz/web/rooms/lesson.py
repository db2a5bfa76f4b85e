"""The questions and right answers of the lesson of a room's session."""

from __future__ import annotations

import msgspec

from schedviz.lessons import LessonError, UnknownLessonError, find
from schedviz.lessons.catalogue import version
from schedviz.lessons.lesson import Question
from schedviz.lessons.stop_state import StopState
from schedviz.sessions.analysis import requests
from schedviz.sessions.errors import SessionError
from schedviz.sessions.models import Session
from schedviz.web.learning.models import lesson_of

_WAIT_SECONDS = 5.0


def question_of(session: Session | None, stop: str) -> Question | None:
    """The question of a stop of the session's lesson; None if there is none."""
    name = lesson_of(session) if session is not None else ""
    if not name:
        return None
    try:
        plan = find(name).plan
    except (LessonError, UnknownLessonError):
        return None
    return next((one.question for one in plan.stops if one.id == stop), None)


def right_answer(session: Session | None, stop: str) -> str | None:
    """The right answer of a stop of the session's lesson, from a worker that plays it; None if it is not available now."""
    name = lesson_of(session) if session is not None else ""
    if session is None or not name:
        return None
    try:
        content = requests.ask(session, requests.Path(name, version(name), at=0), timeout_seconds=_WAIT_SECONDS)
    except (SessionError, LessonError, UnknownLessonError):
        return None
    played = msgspec.json.decode(content, type=list[StopState])
    found = next((one.answer for one in played if one.stop.id == stop and one.stop.question is not None), None)
    if isinstance(found, list):
        return ",".join(sorted(str(one) for one in found))
    return None if found is None else str(found)
