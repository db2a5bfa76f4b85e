"""`/api/v1/lessons/` and `sessions/{id}/lesson/`: the course, and the lesson that a session was made for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedviz.lessons import LANGUAGES, Lesson, UnknownLessonError, course, find, rendering
from schedviz.lessons.played import Played
from schedviz.lessons.texts import StopText, Text
from schedviz.sessions import questions
from schedviz.sessions.models import Session
from schedviz.web.api import bodies
from schedviz.web.api.access import actor_for, session_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.explain import ask
from schedviz.web.api.schema import answer, refused
from schedviz.web.permissions import Verb


class Lessons(APIView):
    """The course."""

    @extend_schema(operation_id="listLessons", responses={200: answer(bodies.CourseBody), **refused(401)})
    def get(self, request: Request) -> Response:
        """List the lessons, in the order in which they are best taken, with how far you are in each."""
        actor = actor_for(request, Verb.LIST)
        taken = _taken(actor.user_id)
        parts = [
            bodies.CoursePart(part=part, lessons=[_line(lesson, taken.get(lesson.name)) for lesson in lessons])
            for part, lessons in course().parts.items()
        ]
        return Response(bodies.CourseBody(parts=parts))


class SessionLesson(APIView):
    """The lesson of a session."""

    @extend_schema(operation_id="getLesson", responses={200: answer(bodies.LessonBody), **refused(404, 409, 503)})
    def get(self, request: Request, session_id: UUID) -> Response:
        """Look at the lesson that a session was made for. The answer to a question is told once the session has got that far."""
        session = session_for(request, session_id, Verb.SEE)
        name = lesson_of(session)
        if not name:
            raise ApiError(404, "not_found", "This session was not made for a lesson.")
        try:
            lesson = find(name)
        except UnknownLessonError as error:
            raise ApiError(404, "not_found", f"{error} It was there when the session was made.") from error
        # Asked of the beginning, so that it is the same question wherever the session is.
        played = msgspec.json.decode(ask(session, questions.Path(name, at=0)).content, type=list[Played])
        return Response(_body(lesson, played, reached=session.event))


def lesson_of(session: Session) -> str:
    """The lesson that a session, or what it was forked from, was made for; "" where there is none."""
    found: Session | None = session
    while found is not None:
        if lesson := found.source.get("lesson"):
            return str(lesson)
        found = found.forked_from
    return ""


def _taken(user_id: int | None) -> dict[str, Session]:
    """The newest session of each lesson that somebody took."""
    sessions = Session.objects.filter(owner_id=user_id, source__has_key="lesson").order_by("created_at")
    return {str(session.source["lesson"]): session for session in sessions}


def _line(lesson: Lesson, taken: Session | None) -> bodies.LessonLine:
    return bodies.LessonLine(
        name=lesson.name,
        minutes=lesson.plan.minutes,
        stops=len(lesson.plan.stops),
        title=_words(lesson, lambda text: rendering.html_line(text.title)),
        about=_words(lesson, lambda text: rendering.html_line(text.about)),
        session=str(taken.pk) if taken else None,
        done=_done(lesson, taken.last_seq) if taken else 0,
    )


def _done(lesson: Lesson, commands: int) -> int:
    """How many stops so many commands on the path lead past."""
    done = 0
    for stop in lesson.plan.stops:
        commands -= len(stop.do) + len(stop.reveal)
        if commands < 0 or (commands == 0 and not stop.do and not stop.reveal):
            break
        done += 1
    return done


def _body(lesson: Lesson, played: Iterable[Played], *, reached: int) -> bodies.LessonBody:
    order = [one.name for one in course().lessons]
    following = order[order.index(lesson.name) + 1 :]
    facts = {language: rendering.take_home_html(text) for language, text in lesson.texts.items()}
    return bodies.LessonBody(
        name=lesson.name,
        title=_words(lesson, lambda text: rendering.html_line(text.title)),
        about=_words(lesson, lambda text: rendering.html(text.about)),
        take_home=[bodies.Words(*(facts[language][i] for language in LANGUAGES)) for i in range(len(facts["en"]))],
        upstream=[bodies.LessonSymbol(one.file, one.symbol) for one in lesson.plan.upstream],
        stops=[_stop(lesson, one, reached=reached) for one in played],
        next=following[0] if following else "",
    )


def _stop(lesson: Lesson, played: Played, *, reached: int) -> bodies.LessonStop:
    stop = played.stop

    def words(of_stop: Callable[[Played, StopText], str]) -> bodies.Words:
        return _words(lesson, lambda text: of_stop(played, text.stops[stop.id]))

    question = told = None
    if stop.question is not None:
        question = bodies.LessonQuestion(
            ask=stop.question.ask,
            words=words(rendering.question_html),
            hint=words(rendering.hint_html),
            options=[
                bodies.LessonOption(option, words(lambda _, text, option=option: rendering.html_line(text.options[option])))  # type: ignore[misc]
                for option in stop.question.options
            ],
        )
        if reached >= played.revealed:
            told = bodies.LessonAnswer(value=played.answer, words=words(rendering.answer_html))
    return bodies.LessonStop(
        id=stop.id,
        arrived=played.arrived,
        revealed=played.revealed,
        do=[msgspec.to_builtins(command) for command in stop.do],
        reveal=[msgspec.to_builtins(command) for command in stop.reveal],
        highlight=list(stop.highlight),
        text=words(rendering.text_html),
        notes=words(lambda _, text: rendering.html(text.notes)),
        question=question,
        answer=told,
    )


def _words(lesson: Lesson, told: Callable[[Text], str]) -> bodies.Words:
    return bodies.Words(*(told(lesson.texts[language]) for language in LANGUAGES))
