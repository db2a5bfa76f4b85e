"""The course: the lessons that ship with schedviz, and the operator's own."""

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
#: Folders with lessons, or lesson folders, separated as in PATH. Every process that reads lessons uses it.
OWN_FOLDERS: Final = "SCHEDVIZ_LESSONS"


class UnknownLessonError(LookupError):
    """There is no lesson of that name."""


class Course(msgspec.Struct, frozen=True):
    """The lessons by part, in the recommended order."""

    parts: dict[Part, list[Lesson]]

    @property
    def lessons(self) -> list[Lesson]:
        """All lessons, in that order."""
        return [lesson for lessons in self.parts.values() for lesson in lessons]


def course() -> Course:
    """All lessons that ship, and those of the operator that can be read. Raises `LessonError` if one that ships cannot be read."""
    lessons = {lesson.name: lesson for lesson in (*_shipped(), *_readable())}
    ordered = sorted(lessons.values(), key=lambda lesson: (lesson.plan.order, lesson.name))
    parts: dict[Part, list[Lesson]] = {part: [lesson for lesson in ordered if lesson.plan.part == part] for part in get_args(Part)}
    return Course({part: of_it for part, of_it in parts.items() if of_it})


def find(name: str) -> Lesson:
    """The lesson of a name; the operator's take precedence. Raises `UnknownLessonError`, or `LessonError` if it cannot be read."""
    if (folder := own_folders().get(name)) is not None:
        return read_lesson(folder)
    for lesson in _shipped():
        if lesson.name == name:
            return lesson
    raise UnknownLessonError(f'There is no lesson "{name}".')


def version(name: str) -> str:
    """The current version of a lesson's files, even if they cannot be read as a lesson. Raises `UnknownLessonError`."""
    folder = own_folders().get(name)
    return find(name).version if folder is None else version_of(folder)


def own_folders() -> dict[str, Path]:
    """The operator's lessons by name. They are looked up on each call, because they may be in progress."""
    named = [Path(folder) for folder in os.environ.get(OWN_FOLDERS, "").split(os.pathsep) if folder]
    folders = (subfolder for folder in named for subfolder in ([folder] if (folder / PLAN).is_file() else sorted(folder.glob("*/"))))
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
            continue  # Opening the lesson reports the error.
