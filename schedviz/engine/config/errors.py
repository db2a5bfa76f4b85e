"""What is wrong with a configuration: `Problem`, made in the words of the API server's field errors, and the error that carries them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where. Upstream: apimachinery util/validation/field Error"""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class ConfigurationError(ValueError):
    """A configuration that cannot be used. `path` and `message` are those of the first problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        self.path = self.problems[0].path
        self.message = self.problems[0].message
        super().__init__("; ".join(map(str, self.problems)))


def invalid(path: str, value: object, detail: str) -> Problem:
    return Problem(path, f"Invalid value: {_shown(value)}: {detail}")


def not_supported(path: str, value: str, supported: Iterable[str]) -> Problem:
    return Problem(path, f"Unsupported value: {_shown(value)}: supported values: {', '.join(map(_shown, supported))}")


def required(path: str, detail: str = "") -> Problem:
    return Problem(path, f"Required value: {detail}" if detail else "Required value")


def duplicate(path: str, value: object) -> Problem:
    return Problem(path, f"Duplicate value: {_shown(value)}")


def forbidden(path: str, detail: str) -> Problem:
    return Problem(path, f"Forbidden: {detail}")


def _shown(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
