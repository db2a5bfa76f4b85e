"""Guided lessons: texts, questions and commands at each stop, played on the engine, which checks every claim.

A lesson is a folder of `content/`: `lesson.yaml` (cluster, settings, stops with commands, questions and checks) and one text per language
(`en.md`, `zh-CN.md`). The facts at a stop are read from the engine and never written down: docs/lessons.md.

Only `player` and `checking` load an engine, so a web process may read lessons.
"""

from schedviz.lessons.catalogue import Course, UnknownLessonError, course, find
from schedviz.lessons.errors import Fault, LessonError
from schedviz.lessons.lesson import LANGUAGES, Lesson, Part, Stop
from schedviz.lessons.reading import read_lesson
from schedviz.lessons.stop_state import StopState

__all__ = [
    "LANGUAGES",
    "Course",
    "Fault",
    "Lesson",
    "LessonError",
    "Part",
    "Stop",
    "StopState",
    "UnknownLessonError",
    "course",
    "find",
    "read_lesson",
]
