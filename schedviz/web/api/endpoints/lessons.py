"""`/api/v1/lessons/` and `sessions/{id}/lesson/`: the course, and the lesson of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.lessons import LANGUAGES, Lesson, LessonError, UnknownLessonError, course, find, rendering
from schedviz.lessons.catalogue import own_folders, version
from schedviz.lessons.stop_state import StopState
from schedviz.lessons.texts import StopText, Text
from schedviz.sessions.analysis import requests
from schedviz.sessions.models import Session
from schedviz.trace.releases import RELEASES
from schedviz.web.api import versions
from schedviz.web.api.access import actor_for, session_for
from schedviz.web.api.endpoints.explain import analyse
from schedviz.web.api.errors import ApiError
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource
from schedviz.web.api.schemas import lessons as bodies
from schedviz.web.auth.actors import Actor, Role, Verb
from schedviz.web.auth.permissions import actor_of, role_of
from schedviz.web.learning.models import LessonProgress, lesson_of, version_begun_with
from schedviz.web.rooms import membership
from schedviz.web.rooms.answer_visibility import hidden_answers


class Lessons(Resource):
    """The course."""

    @extend_schema(operation_id="listLessons", responses={200: response(bodies.CourseBody), 304: NOT_MODIFIED, **error_responses(401)})
    def get(self, request: Request) -> Response:
        """List the lessons in the recommended order, with your progress."""
        user = user_of(actor_for(request, Verb.LIST))
        sessions = _sessions_of_lessons(user)
        progress = {progress_row.lesson: progress_row for progress_row in LessonProgress.objects.filter(user_id=user)}
        parts = [
            bodies.CoursePart(
                part=part, lessons=[_line(lesson, sessions.get(lesson.name), progress.get(lesson.name)) for lesson in lessons]
            )
            for part, lessons in course().parts.items()
        ]
        return versions.versioned(request, bodies.CourseBody(parts=parts))


class OneLesson(Resource):
    """A lesson of the course."""

    @extend_schema(
        operation_id="getLessonVersion", responses={200: response(bodies.LessonVersion), 304: NOT_MODIFIED, **error_responses(401, 404)}
    )
    def get(self, request: Request, name: str) -> Response:
        """Read the version of a lesson, and whether it is valid: its author may be editing it."""
        actor_for(request, Verb.LIST)
        faults: list[str] = []
        try:
            lesson_version = version(name)
            find(name)
        except UnknownLessonError as error:
            raise ApiError(404, "not_found", str(error)) from error
        except LessonError as error:
            faults = [str(fault) for fault in error.faults]
        return versions.versioned(
            request, bodies.LessonVersion(name=name, version=lesson_version, own=name in own_folders(), faults=faults)
        )


class SessionLesson(Resource):
    """The lesson of a session."""

    @extend_schema(
        operation_id="getLesson", responses={200: response(bodies.LessonBody), 304: NOT_MODIFIED, **error_responses(404, 409, 503)}
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """Read the lesson of a session. The answer to a question is included once the session has reached its stop, and for participants of
        a room once the teacher has revealed it. Notes are included for clients that may change the session, except participants.
        """
        session = session_for(request, session_id, Verb.SEE)
        lesson = lesson_for(session)
        actor = actor_of(request)
        user = actor.user_id
        progress = LessonProgress.objects.filter(user_id=user, lesson=lesson.name).first() if user is not None else None
        return versions.versioned(request, _body(lesson, path_of(session, lesson), session, progress, _visible_to(actor, session)))


class _Visible(msgspec.Struct, frozen=True):
    """The parts of a lesson that a client may read."""

    notes: bool
    shows_answer: Callable[[str], bool]


def _visible_to(actor: Actor, session: Session) -> _Visible:
    """Everything for clients that may change the session outside of a room. A participant's rights in their own forks do not count."""
    if role_of(msgspec.structs.replace(actor, guest=""), session) in (Role.OWNER, Role.EDITOR):
        return _Visible(notes=True, shows_answer=lambda _: True)
    if membership.role_of(actor, session) is not None:
        return _Visible(notes=False, shows_answer=hidden_answers(actor.guest, session).shows)
    return _Visible(notes=False, shows_answer=lambda _: True)


def user_of(actor: Actor) -> int:
    """The user id of an actor that may list or create."""
    assert actor.user_id is not None
    return actor.user_id


def lesson_for(session: Session) -> Lesson:
    """The lesson of a session. Raises `ApiError`: 404 if it has none, 409 if the lesson cannot be read."""
    name = lesson_of(session)
    if not name:
        raise ApiError(404, "not_found", "This session was not created from a lesson.")
    try:
        return find(name)
    except UnknownLessonError as error:
        raise ApiError(404, "not_found", f"{error} It existed when the session was created.") from error
    except LessonError as error:
        raise unreadable(name, error) from error


def unreadable(name: str, error: LessonError) -> ApiError:
    """409: the lesson exists but cannot be read."""
    return ApiError(409, "lesson_unreadable", f"The lesson {name} cannot be read:\n{error}", hint=f"schedviz lesson check {name}")


def path_of(session: Session, lesson: Lesson) -> list[StopState]:
    """The played stops. They are always requested for event 0, so that all moments of the session share the cached result. Raises
    `ApiError`.
    """
    path_request = requests.LessonPathRequest(lesson.name, lesson.version, at=0)
    return msgspec.json.decode(analyse(session, path_request).content, type=list[StopState])


def _sessions_of_lessons(user_id: int) -> dict[str, Session]:
    """The newest session of each lesson that the user took."""
    sessions = Session.objects.filter(owner_id=user_id, source__has_key="lesson").order_by("created_at")
    return {str(session.source["lesson"]): session for session in sessions}


def _line(lesson: Lesson, started: Session | None, progress: LessonProgress | None) -> bodies.LessonLine:
    return bodies.LessonLine(
        name=lesson.name,
        release=lesson.plan.release,
        minutes=lesson.plan.minutes,
        stops=len(lesson.plan.stops),
        title=in_words(lesson, lambda text: rendering.html_line(text.title)),
        about=in_words(lesson, lambda text: rendering.html_line(text.about)),
        session=str(started.pk) if started else None,
        done=_reached_stops(lesson, started.last_seq) if started else 0,
        stop=progress.stop if progress else "",
        finished=bool(progress and progress.finished_at),
    )


def _reached_stops(lesson: Lesson, commands: int) -> int:
    """The number of stops that this many commands of the path reach."""
    done = 0
    for stop in lesson.plan.stops:
        commands -= len(stop.do) + len(stop.reveal)
        if commands < 0 or (commands == 0 and not stop.do and not stop.reveal):
            break
        done += 1
    return done


def _body(
    lesson: Lesson, played: Iterable[StopState], session: Session, progress: LessonProgress | None, visible: _Visible
) -> bodies.LessonBody:
    order = [lesson.name for lesson in course().lessons]
    following = order[order.index(lesson.name) + 1 :] if lesson.name in order else []
    fewest = min((len(text.take_home) for text in lesson.texts.values()), default=0)
    begun_with = version_begun_with(session)
    return bodies.LessonBody(
        name=lesson.name,
        release=lesson.plan.release,
        title=in_words(lesson, lambda text: rendering.html_line(text.title)),
        about=in_words(lesson, lambda text: rendering.html(text.about)),
        take_home=[in_words(lesson, lambda text, i=i: rendering.html_line(text.take_home[i])) for i in range(fewest)],  # type: ignore[misc]
        upstream=[bodies.LessonSymbol(symbol.file, symbol.symbol) for symbol in lesson.plan.upstream],
        differences=[
            bodies.LessonDifference(
                release=release,
                words=in_words(lesson, lambda text, release=release: rendering.html_line(text.differences.get(release, ""))),  # type: ignore[misc]
                stops=list(lesson.plan.differences[release]),
            )
            for release in RELEASES
            if release in lesson.plan.differences
        ],
        stops=[_stop(lesson, stop, visible, reached=session.event) for stop in played],
        next=following[0] if following else "",
        version=lesson.version,
        changed=begun_with not in ("", lesson.version),
        own=lesson.name in own_folders(),
        progress=progress_body(progress) if progress else None,
    )


def _stop(lesson: Lesson, played: StopState, visible: _Visible, *, reached: int) -> bodies.LessonStop:
    stop = played.stop

    def words(of_stop: Callable[[StopState, StopText], str]) -> bodies.Words:
        return in_words(lesson, lambda text: of_stop(played, text.stops.get(stop.id) or StopText(0)))

    question = found = None
    if stop.question is not None:
        question = bodies.LessonQuestion(
            ask=stop.question.ask,
            words=words(rendering.question_html),
            hint=words(rendering.hint_html),
            options=[
                bodies.LessonOption(option, words(lambda _, text, option=option: rendering.html_line(text.options.get(option, option))))  # type: ignore[misc]
                for option in stop.question.options
            ],
        )
        if reached >= played.revealed and visible.shows_answer(stop.id):
            found = bodies.LessonAnswer(value=played.answer, words=words(rendering.answer_html))
    return bodies.LessonStop(
        id=stop.id,
        arrived=played.arrived,
        revealed=played.revealed,
        do=[msgspec.to_builtins(command) for command in stop.do],
        reveal=[msgspec.to_builtins(command) for command in stop.reveal],
        highlight=list(stop.highlight),
        text=words(rendering.text_html),
        notes=words(lambda _, text: rendering.html(text.notes) if visible.notes else ""),
        question=question,
        answer=found,
        hints=bool(stop.hints),
    )


def progress_body(progress: LessonProgress) -> bodies.LessonProgress:
    """A user's progress in its API form."""
    return bodies.LessonProgress(
        stop=progress.stop,
        session=str(progress.session_id) if progress.session_id else None,
        answers=progress.answers,
        finished=progress.finished_at is not None,
    )


def in_words(lesson: Lesson, text_of: Callable[[Text], str]) -> bodies.Words:
    """A text in each language. A missing translation is replaced by the other language."""
    translations = [lesson.texts[language] for language in LANGUAGES if language in lesson.texts]
    return bodies.Words(*(text_of(lesson.texts.get(language) or translations[0]) if translations else "" for language in LANGUAGES))
