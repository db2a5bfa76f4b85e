"""What is wrong with a lesson, and where."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """One thing that is wrong. `line` counts from 1; 0: it is about the whole file."""

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
    """A lesson that cannot be read for one reason."""
    return LessonError([Fault(file.name, line, message)])
