"""Errors of expressions: those of compiling, with their place in the source, and those of evaluating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from schedviz.cel.types import Type


class CelError(Exception):
    """Evaluating an expression failed. The text is cel-go's. `&&` and `||` ignore it if the other operand decides."""


class CostLimitError(Exception):
    """Evaluating an expression cost more than allowed; no operator absorbs it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class WorkLimitError(CostLimitError):
    """An expression goes through more than schedviz can in reasonable time. The API server's cost limit does not count it."""

    def __init__(self) -> None:
        Exception.__init__(self, "operation cancelled: the expression goes through too many elements or characters for schedviz")


class UnhashableError(CostLimitError):
    """A version is looked up in a list of constants, which cel-go keeps as a set of hashes. It ends the evaluation, as Go's panic does."""

    def __init__(self) -> None:
        Exception.__init__(self, "internal error: runtime error: hash of unhashable type cel.Semver")


class EscapeError(ValueError):
    """An escape sequence that stands for no character. The text is cel-go's."""


class InstantiationError(ValueError):
    """An operation on constants fails, so that there is no program of an expression that compiles. The text is cel-go's."""

    #: The type of the expression; None: unknown.
    output: Type | None = None


class Issue(msgspec.Struct, frozen=True):
    """A problem of the source. `line` and `column` count from 1 and from 0, in characters."""

    message: str
    line: int
    column: int


#: How many problems of a source are kept and shown. Upstream: cel-go common/errors.go maxErrorsToReport
MAX_ISSUES: Final = 100
#: Deviation: the text of further problems is omitted, because each shows its line, which can have 10 KB.
_MAX_TEXT: Final = 16_384
#: Below characters that are not ASCII.
_WIDE_DOT: Final = "\uff0e"
_WIDE_CARET: Final = "\uff3e"


class CompileError(ValueError):
    """An expression that does not compile. The text names each problem, its place, and shows its line, as cel-go does."""

    def __init__(self, source: str, issues: Sequence[Issue]) -> None:
        self.source = source
        self.issues = tuple(sorted(issues, key=lambda issue: (issue.line, issue.column)))
        super().__init__("\n".join(_all_shown(self.issues, source.split("\n"))))


def _all_shown(issues: Sequence[Issue], lines: Sequence[str]) -> Iterator[str]:
    """Upstream: cel-go common/errors.go ToDisplayString"""
    length = 0
    for index, issue in enumerate(issues):
        if index == MAX_ISSUES or length > _MAX_TEXT:
            yield f"{len(issues) - index} more errors were truncated"
            return
        text = _shown(issue, lines)
        length += len(text)
        yield text


def _shown(issue: Issue, lines: Sequence[str]) -> str:
    """Upstream: cel-go common/error.go ToDisplayString"""
    text = f"ERROR: <input>:{issue.line}:{issue.column + 1}: {issue.message}"
    if issue.line > len(lines):
        return text
    line = lines[issue.line - 1].replace("\t", " ")
    before, at = line[: issue.column], line[issue.column : issue.column + 1]
    dots = "".join("." if character.isascii() else _WIDE_DOT for character in before)
    return f"{text}\n | {line}\n | {dots}{'^' if at.isascii() else _WIDE_CARET}"
