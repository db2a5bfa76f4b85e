"""Errors of a configuration: `Problem`, with the text of the API server's field errors, and the exception that has all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

#: How many problems a message lists.
_MAX_LISTED_PROBLEMS = 100


class Problem(msgspec.Struct, frozen=True):
    """One error and its path. Upstream: apimachinery util/validation/field Error"""

    path: str
    message: str
    #: The whole sentence, if it does not start with the path as a field error does.
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence or (f"{self.path}: {self.message}" if self.path else self.message)


class ConfigurationError(ValueError):
    """An invalid configuration. `path` and `message` are those of the first problem.

    The text is kube-scheduler's, where kube-scheduler rejects the configuration too. It is cut after 100 problems.

    Upstream: apimachinery util/errors aggregate
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        self.path = self.problems[0].path
        self.message = self.problems[0].message
        messages = list(dict.fromkeys(map(str, self.problems)))
        if len(messages) > _MAX_LISTED_PROBLEMS:
            messages = [*messages[:_MAX_LISTED_PROBLEMS], f"and {len(messages) - _MAX_LISTED_PROBLEMS:,} more"]
        super().__init__(messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]")


class FieldErrors(msgspec.Struct, frozen=True):
    """Creates field errors. How a value is shown depends on the release. Upstream: apimachinery util/validation/field/errors.go"""

    show: Callable[[Any], str]

    def invalid(self, path: str, value: object, detail: str) -> Problem:
        return Problem(path, f"Invalid value: {self.show(value)}: {detail}")

    def not_supported(self, path: str, value: str, supported: Iterable[str]) -> Problem:
        return Problem(path, f"Unsupported value: {self.show(value)}: supported values: {', '.join(map(self.show, supported))}")

    def duplicate(self, path: str, value: object) -> Problem:
        return Problem(path, f"Duplicate value: {self.show(value)}")


def required(path: str, detail: str = "") -> Problem:
    return Problem(path, f"Required value: {detail}" if detail else "Required value")


def forbidden(path: str, detail: str) -> Problem:
    return Problem(path, f"Forbidden: {detail}")


class GoDuration(str):
    """A duration: v1.27.1 shows it without quotes, because it has a String method."""

    __slots__ = ()


class GoPath(str):
    """A path as a value: v1.27.1 shows it without quotes; v1.36 encodes it as JSON, and a path has no public members."""

    __slots__ = ()


class _GoSource(str):
    """Go source, which `%#v` shows as it is."""

    __slots__ = ()


def json_value(value: Any) -> str:
    """A value in JSON, as v1.36 shows it."""
    if isinstance(value, GoPath):
        return "{}"
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))
    return text if isinstance(value, str) else _escaped(text)


def _plain(value: Any) -> Any:
    """The value as Go encodes it: members of internal types have their Go names, and an empty list is null."""
    if isinstance(value, msgspec.Struct):
        members = ((field.encode_name, getattr(value, field.name)) for field in msgspec.structs.fields(value))
        return {f"{name[:1].upper()}{name[1:]}": None if member == () else _plain(member) for name, member in members}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _escaped(text: str) -> str:
    """Go's encoder escapes what HTML would interpret. Upstream: encoding/json"""
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def go_value(value: Any) -> str:
    """A value in the format of Go's `%v` (numbers), `%q` (strings) or `%#v` (structs)."""
    if isinstance(value, GoDuration | GoPath | _GoSource):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, msgspec.Struct):
        members = (f"{field[:1].upper()}{field[1:]}:{go_value(member)}" for field, member in _members(value))
        return f"{_go_type(value)}{{{', '.join(members)}}}"
    if isinstance(value, tuple) and value:
        return f"[]{_go_type(value[0])}{{{', '.join(map(go_value, value))}}}"
    return json.dumps(value, ensure_ascii=False)


def _go_type(value: object) -> str:
    return f"config.{type(value).__name__}" if isinstance(value, msgspec.Struct) else type(value).__name__


def _members(value: msgspec.Struct) -> Iterable[tuple[str, Any]]:
    for field in msgspec.structs.fields(value):
        member = getattr(value, field.name)
        if member == () and field.name in ("enabled", "disabled"):
            member = _GoSource("[]config.Plugin(nil)")
        yield field.encode_name, member
