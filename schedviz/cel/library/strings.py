"""Functions of strings. Upstream: cel-go ext/strings.go, version 2; `format` is in `formatting`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs, work
from schedviz.cel.types import INT, STRING
from schedviz.cel.values import shown_key

#: What Go's `unicode.IsSpace` calls space.
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_STRINGS: Final = types.list_of(STRING)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for name, compute in (("lowerAscii", _lower), ("upperAscii", _upper), ("trim", _trim)):
        yield name, Overload((STRING,), STRING, compute, is_member=True, cost=costs.traversal())
    yield "charAt", Overload((STRING, INT), STRING, _char_at, is_member=True)
    for name, search in (("indexOf", _index_of), ("lastIndexOf", _last_index_of)):
        yield name, Overload((STRING, STRING), INT, search, is_member=True, cost=costs.traversal())
        yield name, Overload((STRING, STRING, INT), INT, search, is_member=True, cost=costs.traversal())
    for arguments in ((STRING, INT), (STRING, INT, INT)):
        yield "substring", Overload(arguments, STRING, _substring, is_member=True, cost=costs.traversal())
    for texts in ((STRING, STRING, STRING), (STRING, STRING, STRING, INT)):
        yield "replace", Overload(texts, STRING, _replace, is_member=True, cost=costs.replaced, work=work.replaced)
    for arguments in ((STRING, STRING), (STRING, STRING, INT)):
        yield "split", Overload(arguments, _STRINGS, _split, is_member=True, cost=costs.traversal(2), work=work.split)
    yield "join", Overload((_STRINGS,), STRING, _join, is_member=True, cost=costs.of_result, work=work.joined)
    yield "join", Overload((_STRINGS, STRING), STRING, _join, is_member=True, cost=costs.of_result, work=work.joined)
    yield "strings.quote", Overload((STRING,), STRING, _quote, cost=costs.traversal())


def _lower(text: str) -> str:
    return "".join(character.lower() if "A" <= character <= "Z" else character for character in text)


def _upper(text: str) -> str:
    return "".join(character.upper() if "a" <= character <= "z" else character for character in text)


def _trim(text: str) -> str:
    return text.strip(_SPACE)


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, last: int | None = None) -> int:
    if last is None:
        return text.rfind(part)
    if not part:
        return last
    if last < 0:
        raise CelError(f"index out of range: {last}")
    return text.rfind(part, 0, last + len(part)) if last < len(text) else -1


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, stop):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    return text[start:stop]


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> Sequence[str]:
    if limit == 0:
        return ()
    if not separator:
        pieces = list(text)
        return tuple(pieces if limit < 0 or limit >= len(pieces) else [*pieces[: limit - 1], "".join(pieces[limit - 1 :])])
    return tuple(text.split(separator, limit - 1 if limit > 0 else -1))


def _join(parts: Sequence[object], separator: str | None = None) -> str:
    if parts and not isinstance(parts[0], str):
        # The first element decides whether it is a list of strings.
        raise CelError(f"no such overload: join({'list' if separator is None else 'list, string'})")
    texts: list[str] = []
    for part in parts:
        if not isinstance(part, str):
            raise CelError(f"join: invalid input: {shown_key(part)}")
        texts.append(part)
    return (separator or "").join(texts)


_QUOTED: Final = str.maketrans(
    {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"'}
)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'
