"""Errors in lessons, with their positions."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """One error. `line` counts from 1; 0: the whole file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class LessonError(ValueError):
    """A lesson cannot be read."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


def fault(file: Path, line: int, message: str) -> LessonError:
    """An exception with a single error."""
    return LessonError([Fault(file.name, line, message)])
