"""Regular expressions in RE2's syntax. Upstream: apiserver/pkg/cel/library/regex.go, cel-go common/types/string.go Match"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.regular_expression import MAX_INSTRUCTIONS, PatternError, RegularExpression
from schedviz.cel.types import INT, STRING


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function; `matches` is a standard function."""
    yield "find", Overload((STRING, STRING), STRING, _find, is_member=True, cost=costs.matched, work=match_work)
    for arguments in ((STRING, STRING), (STRING, STRING, INT)):
        overload = Overload(arguments, types.list_of(STRING), _find_all, is_member=True, cost=costs.matched, work=_find_all_work)
        yield "findAll", overload


def matches(text: str, pattern: str) -> bool:
    """Whether a part of the text matches."""
    return _compiled(pattern).find(text) is not None


def is_pattern(text: str) -> bool:
    """Whether the text is a regular expression."""
    return not isinstance(_cached(text), PatternError)


def checked_pattern(text: str) -> None:
    """Raises `CelError` if the text is no regular expression."""
    _compiled(text)


def _find(text: str, pattern: str) -> str:
    span = _compiled(pattern).find(text)
    return "" if span is None else text[span[0] : span[1]]


def _find_all(text: str, pattern: str, limit: int = -1) -> Sequence[str]:
    results = tuple(text[begin:end] for begin, end in _compiled(pattern).find_all(text))
    return results if limit < 0 else results[:limit]


def match_work(arguments: Sequence[Any]) -> int:
    """Of compiling a pattern, the second argument, and of one search in a text: its instructions for each character."""
    return _size(arguments[1]) * (len(arguments[0]) + 1)


def _find_all_work(arguments: Sequence[Any]) -> int:
    """A search can go through the rest of the text to find nothing longer than the empty text, from each character on."""
    return match_work(arguments) * (len(arguments[0]) + 1)


def _size(pattern: str) -> int:
    compiled = _cached(pattern)
    return MAX_INSTRUCTIONS if isinstance(compiled, PatternError) else max(compiled.size, len(pattern))


def _compiled(pattern: str) -> RegularExpression:
    """Raises `CelError`."""
    compiled = _cached(pattern)
    if isinstance(compiled, PatternError):
        raise CelError(f"error parsing regexp: {compiled}")
    return compiled


@lru_cache(maxsize=256)
def _cached(pattern: str) -> RegularExpression | PatternError:
    try:
        return RegularExpression(pattern)
    except PatternError as error:
        return error
