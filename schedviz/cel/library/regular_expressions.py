"""Regular expressions in RE2's syntax. Upstream: apiserver/pkg/cel/library/regex.go, cel-go common/types/string.go Match"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.regular_expression import PatternError, RegularExpression
from schedviz.cel.types import INT, STRING

#: Instructions of a pattern times characters of a text.
_MAX_WORK: Final = 2_000_000


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function; `matches` is a standard function."""
    yield "find", Overload((STRING, STRING), STRING, _find, is_member=True, cost=costs.matched)
    for arguments in ((STRING, STRING), (STRING, STRING, INT)):
        yield "findAll", Overload(arguments, types.list_of(STRING), _find_all, is_member=True, cost=costs.matched)


def matches(text: str, pattern: str) -> bool:
    """Whether a part of the text matches."""
    return _compiled(pattern, text).find(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _compiled(pattern, text).find(text)
    return "" if found is None else text[found[0] : found[1]]


def _find_all(text: str, pattern: str, limit: int = -1) -> Sequence[str]:
    found = tuple(text[begin:end] for begin, end in _compiled(pattern, text).find_all(text))
    return found if limit < 0 else found[:limit]


def _compiled(pattern: str, text: str) -> RegularExpression:
    """The pattern. Raises `CelError`, also if the search would take seconds (a deviation: upstream's is a hundred times as fast)."""
    try:
        compiled = _cached(pattern)
    except PatternError as error:
        raise CelError(f"error parsing regexp: {error}") from None
    if compiled.size * len(text) > _MAX_WORK:
        raise CelError("the regular expression and the text are too long for schedviz")
    return compiled


@lru_cache(maxsize=256)
def _cached(pattern: str) -> RegularExpression:
    return RegularExpression(pattern)
