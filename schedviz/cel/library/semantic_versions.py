"""Semantic versions. Upstream: apiserver/pkg/cel/library/semverlib.go, github.com/blang/semver v4"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import total_ordering
from typing import Final

import msgspec

from schedviz.cel import declarations, types, values
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.types import BOOL, INT, STRING
from schedviz.cel.values import MAX_UINT

SEMVER: Final = types.opaque("kubernetes.Semver")
#: The digits of the largest number.
_DIGITS: Final = len(str(MAX_UINT))
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]+", re.ASCII)


class SemverError(ValueError):
    """A text that is no semantic version. The text is upstream's."""


@total_ordering
class Semver(msgspec.Struct, frozen=True):
    """A version. Build metadata counts neither for equality nor for order."""

    major: int
    minor: int
    patch: int
    #: Numbers and texts.
    pre: tuple[int | str, ...] = ()

    def compare(self, other: Semver) -> int:
        """-1, 0 or 1."""
        return (self > other) - (self < other)

    def __lt__(self, other: Semver) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]:
        """A version without a prerelease comes after its prereleases; numbers come before texts."""
        identifiers = tuple((isinstance(part, str), *((0, part) if isinstance(part, str) else (part, ""))) for part in self.pre)
        return self.major, self.minor, self.patch, not self.pre, identifiers


declarations.add_class(SEMVER.name, Semver)
values.add_value_class(Semver, SEMVER.name, lambda first, second: first == second, is_strict=True)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for arguments in ((STRING,), (STRING, BOOL)):
        yield "semver", Overload(arguments, SEMVER, _semver, cost=costs.traversal())
        yield "isSemver", Overload(arguments, BOOL, _is_semver, cost=costs.traversal())
    two = (SEMVER, SEMVER)
    yield "isGreaterThan", Overload(two, BOOL, lambda first, second: first > second, is_member=True)
    yield "isLessThan", Overload(two, BOOL, lambda first, second: first < second, is_member=True)
    yield "compareTo", Overload(two, INT, Semver.compare, is_member=True)
    yield "major", Overload((SEMVER,), INT, lambda version: version.major, is_member=True)
    yield "minor", Overload((SEMVER,), INT, lambda version: version.minor, is_member=True)
    yield "patch", Overload((SEMVER,), INT, lambda version: version.patch, is_member=True)


def parse(text: str) -> Semver:
    """The version. Raises `SemverError`. Upstream: semver.Parse"""
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    patch, build, pre = parts[2], "", ""
    if "+" in patch:
        patch, build = patch.split("+", 1)
        _check_build(build.split("."))
    if "-" in patch:
        patch, pre = patch.split("-", 1)
    numbers = [_number(part, name) for part, name in zip((*parts[:2], patch), ("major", "minor", "patch"), strict=True)]
    identifiers = tuple(map(_identifier, pre.split("."))) if "-" in parts[2].split("+", 1)[0] else ()
    return Semver(numbers[0], numbers[1], numbers[2], identifiers)


def _number(part: str, name: str) -> int:
    if not (part.isascii() and part.isdigit()) and part:
        raise SemverError(f'Invalid character(s) found in {name} number "{part}"')
    if len(part) > 1 and part[0] == "0":
        raise SemverError(f'{name.capitalize()} number must not contain leading zeroes "{part}"')
    if not part:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(part) > _DIGITS or int(part) > MAX_UINT:
        raise SemverError(f'strconv.ParseUint: parsing "{part}": value out of range')
    return int(part)


def _identifier(part: str) -> int | str:
    if not part:
        raise SemverError("Prerelease is empty")
    if part.isascii() and part.isdigit():
        if len(part) > 1 and part[0] == "0":
            raise SemverError(f'Numeric PreRelease version must not contain leading zeroes "{part}"')
        if len(part) > _DIGITS or int(part) > MAX_UINT:
            raise SemverError(f'strconv.ParseUint: parsing "{part}": value out of range')
        return int(part)
    if _IDENTIFIER.fullmatch(part) is None:
        raise SemverError(f'Invalid character(s) found in prerelease "{part}"')
    return part


def _check_build(parts: list[str]) -> None:
    for part in parts:
        if not part:
            raise SemverError("Build meta data is empty")
        if _IDENTIFIER.fullmatch(part) is None:
            raise SemverError(f'Invalid character(s) found in build meta data "{part}"')


def normalized(text: str) -> str:
    """The text without a leading v and leading zeros, and with the parts that are missing. Raises `SemverError`.

    Upstream: normalizeAndParse
    """
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            short = part.lstrip("0")
            parts[index] = short if short and short[0] in "0123456789" else f"0{short}"
    if len(parts) < 3:
        if any(mark in parts[-1] for mark in "+-"):
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - a function of the language
    try:
        return parse(normalized(text) if normalize else text)
    except SemverError as error:
        raise CelError(str(error)) from None


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - a function of the language
    try:
        parse(normalized(text) if normalize else text)
    except SemverError:
        return False
    return True
