"""Lessons and what was answered in them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schedviz.web.api.schemas.body import Body

#: What somebody answered: a name, a number, names.
Guess = Annotated[str, Meta(max_length=200)] | int | float | Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100)]


class Words(Body, frozen=True):
    """A text in every language, as HTML that is safe to show."""

    en: str
    zh_CN: str = msgspec.field(name="zh-CN")  # noqa: N815 -- the language's tag.


class LessonLine(Body, frozen=True):
    """A lesson in the course."""

    name: str
    minutes: int
    stops: int
    title: Words
    about: Words
    #: The newest session that you took it in, and how many of its stops are behind you there.
    session: str | None
    done: int
    #: The stop that you were at last, wherever it was; "": none is known. And whether you ever came to the end.
    stop: str
    finished: bool


class CoursePart(Body, frozen=True):
    """A part of the course, its lessons in their order."""

    part: str
    lessons: list[LessonLine]


class CourseBody(Body, frozen=True):
    """All lessons."""

    parts: list[CoursePart]


class LessonOption(Body, frozen=True):
    """One of the answers to choose from."""

    id: str
    words: Words


class LessonQuestion(Body, frozen=True):
    """What is asked before `reveal` is done."""

    ask: Literal["choice", "number", "node", "nodes", "pod"]
    words: Words
    hint: Words
    options: list[LessonOption]


class LessonAnswer(Body, frozen=True):
    """What the engine says."""

    value: Any
    words: Words


class LessonStop(Body, frozen=True):
    """A stop. A session on the path is at the event `arrived` when one has arrived, and at `revealed` when the answer is known."""

    id: str
    arrived: int
    revealed: int
    do: list[dict[str, Any]]
    reveal: list[dict[str, Any]]
    highlight: list[str]
    text: Words
    notes: Words
    question: LessonQuestion | None
    #: None until the session is there.
    answer: LessonAnswer | None
    #: There are hints that depend on how things are.
    hints: bool


class LessonSymbol(Body, frozen=True):
    """Where upstream does it, below pkg/scheduler of v1.27.1."""

    file: str
    symbol: str


class LessonProgress(Body, frozen=True, forbid_unknown_fields=True):
    """How far you are in a lesson: at which stop, in which session, what you answered there, and whether you came to the end."""

    stop: Annotated[str, Meta(max_length=60)]
    session: str | None = None
    answers: Annotated[dict[Annotated[str, Meta(max_length=60)], Guess], Meta(max_length=30)] = msgspec.field(default_factory=dict)
    finished: bool = False


class LessonVersion(Body, frozen=True):
    """What tells whether a lesson is the same still. `own`: it is being written, or is none of those that ship."""

    name: str
    version: str
    own: bool
    #: Why it cannot be read, with file and line; empty: it can be.
    faults: list[str]


class LessonHint(Body, frozen=True):
    """One hint that holds."""

    id: str
    words: Words


class LessonHints(Body, frozen=True):
    """What is said of a stop because of how things are now."""

    event: int
    hints: list[LessonHint]


class LessonBody(Body, frozen=True):
    """The lesson that a session was made for."""

    name: str
    title: Words
    about: Words
    take_home: list[Words]
    upstream: list[LessonSymbol]
    stops: list[LessonStop]
    #: The next lesson of the course; "": this is the last.
    next: str
    #: Of the lesson's files; and whether they are others than when the session was made.
    version: str
    changed: bool
    #: It is none of those that ship, and may be changed at any time.
    own: bool
    #: How far you are, where that is known.
    progress: LessonProgress | None
