"""Lessons, their questions and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.web.api.schemas.body import Body

#: An answer: a name, a number, or names.
Guess = Annotated[str, Meta(max_length=200)] | int | float | Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100)]


class Words(Body, frozen=True):
    """A text in each language, as sanitized HTML."""

    en: str
    zh_CN: str = msgspec.field(name="zh-CN")  # noqa: N815 -- the language's tag.


class LessonLine(Body, frozen=True):
    """A lesson in the course."""

    name: str
    #: The release of kube-scheduler that it teaches.
    release: str
    minutes: int
    stops: int
    title: Words
    about: Words
    #: The newest session in which you took it, and the number of completed stops there.
    session: str | None
    done: int
    #: The last stop that you reached in any session, "" if unknown; and whether you ever finished the lesson.
    stop: str
    finished: bool


class CoursePart(Body, frozen=True):
    """A part of the course with its lessons, in order."""

    part: str
    lessons: list[LessonLine]


class CourseBody(Body, frozen=True):
    """All lessons."""

    parts: list[CoursePart]


class LessonOption(Body, frozen=True):
    """An answer option."""

    id: str
    words: Words


class LessonQuestion(Body, frozen=True):
    """The question that is asked before `reveal` is applied."""

    ask: Literal["choice", "number", "node", "nodes", "pod"]
    words: Words
    hint: Words
    options: list[LessonOption]


class LessonAnswer(Body, frozen=True):
    """The answer from the engine."""

    value: Any
    words: Words


class LessonStop(Body, frozen=True):
    """A stop. On the path of the lesson, the session arrives at event `arrived`; at event `revealed` the answer is known."""

    id: str
    arrived: int
    revealed: int
    do: list[dict[str, Any]]
    reveal: list[dict[str, Any]]
    highlight: list[str]
    text: Words
    notes: Words
    question: LessonQuestion | None
    #: None until the session has reached it.
    answer: LessonAnswer | None
    #: Whether the stop has hints that depend on the state.
    hints: bool


class LessonSymbol(Body, frozen=True):
    """The corresponding place in upstream, below pkg/scheduler of the lesson's release."""

    file: str
    symbol: str


class LessonProgress(Body, frozen=True, forbid_unknown_fields=True):
    """Your progress in a lesson: the stop, the session, your answers there, and whether you finished it."""

    stop: Annotated[str, Meta(max_length=60)]
    session: str | None = None
    answers: Annotated[dict[Annotated[str, Meta(max_length=60)], Guess], Meta(max_length=30)] = msgspec.field(default_factory=dict)
    finished: bool = False


class LessonVersion(Body, frozen=True):
    """The version of a lesson. `own`: it is being written, or does not ship with schedviz."""

    name: str
    version: str
    own: bool
    #: Why it is invalid, with file and line; empty if it is valid.
    faults: list[str]


class LessonHint(Body, frozen=True):
    """A hint that applies."""

    id: str
    words: Words


class LessonHints(Body, frozen=True):
    """The hints of a stop that apply to the current state."""

    event: int
    hints: list[LessonHint]


class LessonDifference(Body, frozen=True):
    """What is different in another release, and the stops with another answer or claim there."""

    release: str
    words: Words
    stops: list[str]


class LessonBody(Body, frozen=True):
    """The lesson of a session."""

    name: str
    #: The release of kube-scheduler that it teaches.
    release: str
    title: Words
    about: Words
    take_home: list[Words]
    upstream: list[LessonSymbol]
    #: By release, the oldest first.
    differences: list[LessonDifference]
    stops: list[LessonStop]
    #: The next lesson of the course; "" for the last one.
    next: str
    #: The version of the lesson's files, and whether they have changed since the session was created.
    version: str
    changed: bool
    #: It does not ship with schedviz, so it may change at any time.
    own: bool
    #: Your progress, if it is known.
    progress: LessonProgress | None
