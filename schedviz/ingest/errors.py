"""Why an import was refused."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedviz.kube.errors import KubeError


class IngestError(KubeError):
    """An import that cannot be made. The text is for the person who gave the files."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        #: The message as lines: a name in it may have a line break of its own.
        self.lines = lines


class ImportCancelled(IngestError):  # noqa: N818  (it is no fault)
    """The person who began the import stopped it."""

    def __init__(self) -> None:
        super().__init__("The import was cancelled.")


class LimitExceeded(IngestError):  # noqa: N818  (reads as what happened)
    """A limit was hit. `setting` is its name in `Limits`."""

    def __init__(self, where: str, what: str, setting: str, allowed: int) -> None:
        self.setting = setting
        super().__init__(f"{where}: {what}; the limit {setting} is {allowed:,}.")


class UnreadableFile(IngestError):  # noqa: N818
    """A file that is not what it seems, or nothing that can be read."""


class UnknownFormat(UnreadableFile):
    """A file that looks like nothing that is read."""


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong in a file; `document` and `line` count from 1, 0 where unknown."""

    file: str
    message: str
    document: int = 0
    line: int = 0
    path: str = ""

    def __str__(self) -> str:
        where = [self.file]
        if self.document:
            where.append(f"document {self.document}")
        if self.line:
            where.append(f"line {self.line}")
        return f"{', '.join(where)}: {f'{self.path}: ' if self.path else ''}{self.message}"


class BadObjects(IngestError):  # noqa: N818
    """Objects that cannot be read. `problems` are the first of them."""

    def __init__(self, problems: Sequence[Problem], *, more: bool = False) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in problems]
        if more:
            lines.append("… and more; the import stopped here.")
        super().__init__(*lines)
