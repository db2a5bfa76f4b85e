"""Errors of expressions: those of compiling, with their place in the source, and those of evaluating."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class CelError(Exception):
    """Evaluating an expression failed. The text is cel-go's. `&&` and `||` ignore it if the other operand decides."""


class CostLimitError(Exception):
    """Evaluating an expression cost more than allowed; no operator absorbs it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Issue(msgspec.Struct, frozen=True):
    """A problem of the source. `line` and `column` count from 1 and from 0, in characters."""

    message: str
    line: int
    column: int


class CompileError(ValueError):
    """An expression that does not compile. The text names each problem, its place, and shows its line, as cel-go does."""

    def __init__(self, source: str, issues: Sequence[Issue]) -> None:
        self.source = source
        self.issues = tuple(sorted(issues, key=lambda issue: (issue.line, issue.column)))
        lines = source.split("\n")
        super().__init__("\n".join(_shown(issue, lines) for issue in self.issues))


def _shown(issue: Issue, lines: Sequence[str]) -> str:
    """Upstream: cel-go common/error.go ToDisplayString"""
    text = f"ERROR: <input>:{issue.line}:{issue.column + 1}: {issue.message}"
    if issue.line > len(lines):
        return text
    line = lines[issue.line - 1].replace("\t", " ")
    return f"{text}\n | {line}\n | {'.' * issue.column}^"
