"""Guided lessons: what is said, asked and done at each stop, played on the engine so that every claim is a check.

A lesson is a folder of `content/`: `lesson.yaml` (cluster, settings, stops with commands, questions and checks) and a text in every
language (`en.md`, `zh-CN.md`). What is true at a stop is read off the engine and never written down: docs/lessons.md.

`playing` and `checking` have an engine; nothing else here does, so that a web process may read lessons.
"""

from schedviz.lessons.catalogue import Course, UnknownLessonError, course, find
from schedviz.lessons.errors import Fault, LessonError
from schedviz.lessons.lesson import LANGUAGES, Lesson, Part, Stop
from schedviz.lessons.reading import read_lesson
from schedviz.lessons.stop_state import Played

__all__ = [
    "LANGUAGES",
    "Course",
    "Fault",
    "Lesson",
    "LessonError",
    "Part",
    "Played",
    "Stop",
    "UnknownLessonError",
    "course",
    "find",
    "read_lesson",
]
