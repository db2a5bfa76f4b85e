"""The lessons that come with schedviz, as a course."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import get_args

import msgspec

from schedviz.lessons.lesson import Lesson, Part
from schedviz.lessons.reading import PLAN, read_lesson

CONTENT = Path(__file__).parent / "content"


class UnknownLessonError(LookupError):
    """There is no lesson of that name."""


class Course(msgspec.Struct, frozen=True):
    """Lessons by their parts, in the order in which they are best taken."""

    parts: dict[Part, list[Lesson]]

    @property
    def lessons(self) -> list[Lesson]:
        """All of them, in that order."""
        return [lesson for lessons in self.parts.values() for lesson in lessons]


@cache
def course() -> Course:
    """All lessons, read once. Raises `LessonError` where one cannot be read."""
    lessons = sorted((read_lesson(file.parent) for file in CONTENT.glob(f"*/{PLAN}")), key=lambda lesson: (lesson.plan.order, lesson.name))
    parts: dict[Part, list[Lesson]] = {part: [one for one in lessons if one.plan.part == part] for part in get_args(Part)}
    return Course({part: of_it for part, of_it in parts.items() if of_it})


def find(name: str) -> Lesson:
    """The lesson of a name. Raises `UnknownLessonError`."""
    for lesson in course().lessons:
        if lesson.name == name:
            return lesson
    raise UnknownLessonError(f'There is no lesson "{name}".')
