"""The lessons that come with schedviz, and those of whoever runs it, as a course."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, get_args

import msgspec

from schedviz.lessons.errors import LessonError
from schedviz.lessons.lesson import Lesson, Part
from schedviz.lessons.reading import PLAN, read_lesson, version_of

CONTENT = Path(__file__).parent / "content"
#: Folders with lessons of one's own, or that are one, separated as PATH is. Every process that knows lessons reads it.
OWN_FOLDERS: Final = "SCHEDVIZ_LESSONS"


class UnknownLessonError(LookupError):
    """There is no lesson of that name."""


class Course(msgspec.Struct, frozen=True):
    """Lessons by their parts, in the order in which they are best taken."""

    parts: dict[Part, list[Lesson]]

    @property
    def lessons(self) -> list[Lesson]:
        """All of them, in that order."""
        return [lesson for lessons in self.parts.values() for lesson in lessons]


def course() -> Course:
    """All lessons; of one's own those that can be read. Raises `LessonError` where one that ships cannot be read."""
    lessons = {lesson.name: lesson for lesson in (*_shipped(), *_readable())}
    ordered = sorted(lessons.values(), key=lambda lesson: (lesson.plan.order, lesson.name))
    parts: dict[Part, list[Lesson]] = {part: [one for one in ordered if one.plan.part == part] for part in get_args(Part)}
    return Course({part: of_it for part, of_it in parts.items() if of_it})


def find(name: str) -> Lesson:
    """The lesson of a name, one's own before one that ships. Raises `UnknownLessonError`, and `LessonError` where it cannot be read."""
    if (folder := own_folders().get(name)) is not None:
        return read_lesson(folder)
    for lesson in _shipped():
        if lesson.name == name:
            return lesson
    raise UnknownLessonError(f'There is no lesson "{name}".')


def version(name: str) -> str:
    """The version of a lesson's files as they are now, also of one that cannot be read. Raises `UnknownLessonError`."""
    folder = own_folders().get(name)
    return find(name).version if folder is None else version_of(folder)


def own_folders() -> dict[str, Path]:
    """The lessons of one's own, by their names. They are looked for each time: they are being written."""
    named = [Path(folder) for folder in os.environ.get(OWN_FOLDERS, "").split(os.pathsep) if folder]
    folders = (one for folder in named for one in ([folder] if (folder / PLAN).is_file() else sorted(folder.glob("*/"))))
    return {folder.name: folder for folder in folders if (folder / PLAN).is_file()}


@cache
def _shipped() -> list[Lesson]:
    """Read once."""
    return [read_lesson(file.parent) for file in CONTENT.glob(f"*/{PLAN}")]


def _readable() -> Iterator[Lesson]:
    for folder in own_folders().values():
        try:
            yield read_lesson(folder)
        except LessonError:
            continue  # Whoever opens it is told what is wrong.
