"""Errors of imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.kube.errors import KubeError


class IngestError(KubeError):
    """The import is not possible. The message is for the person who supplied the files."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        #: The message as lines, because names in it may contain line breaks.
        self.lines = lines


class ImportCancelled(IngestError):
    """The user cancelled the import."""

    def __init__(self) -> None:
        super().__init__("The import was cancelled.")


class LimitExceeded(IngestError):
    """A limit was exceeded. `setting` is its name in `Limits`."""

    def __init__(self, where: str, what: str, setting: str, allowed: int) -> None:
        self.setting = setting
        super().__init__(f"{where}: {what}; the limit {setting} is {allowed:,}.")


class UnreadableFile(IngestError):
    """A file is damaged or is not in the format that it seems to have."""


class UnknownFormat(UnreadableFile):
    """A file in an unknown format."""


#: Characters of a path and of a message: both quote the file, whose keys can have megabytes.
_MAX_LENGTHS: Final = {"path": 300, "message": 1000}


class Problem(msgspec.Struct, frozen=True):
    """One error in a file; `document` and `line` count from 1, 0 if unknown. Long paths and messages are shortened in the middle."""

    file: str
    message: str
    document: int = 0
    line: int = 0
    path: str = ""

    def __post_init__(self) -> None:
        for member, longest in _MAX_LENGTHS.items():
            text = getattr(self, member)
            if len(text) > longest:
                half = longest // 2
                msgspec.structs.force_setattr(self, member, f"{text[:half]}…{text[-half:]}")

    def __str__(self) -> str:
        where = [self.file]
        if self.document:
            where.append(f"document {self.document}")
        if self.line:
            where.append(f"line {self.line}")
        return f"{', '.join(where)}: {f'{self.path}: ' if self.path else ''}{self.message}"


class BadObjects(IngestError):
    """Invalid objects. `problems` are the first errors."""

    def __init__(self, problems: Sequence[Problem], *, more: bool = False) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in problems]
        if more:
            lines.append("… and more.")
        super().__init__(*lines)


class NoObjects(BadObjects):
    """A text whose data are no objects of Kubernetes."""
