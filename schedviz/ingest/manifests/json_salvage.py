"""Finds the readable objects in JSON that is cut short or malformed. For errors only, because it is slow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

#: An unterminated string matches to the end of the text.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)|[{}\[\]:,]', re.DOTALL)
_CLOSING: Final = {b"}": b"{", b"]": b"["}


class _Anything(msgspec.Struct, gc=False):
    """An object with any members."""


_decoder: Final = msgspec.json.Decoder(_Anything)


def salvaged(text: bytes) -> Iterator[tuple[int, msgspec.Raw]]:
    """The items of a list, or of a bare array, that are whole and valid, each with its index."""
    depth, index, begin = 0, 0, -1
    #: The depth at which items begin; 0: unknown yet.
    level = 1 if text.lstrip()[:1] == b"[" else 0
    is_key_of_items = False
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in (b"{", b"["):
            if level and depth == level and token == b"{":
                begin = match.start()
            depth += 1
            if not level and depth == 2 and token == b"[" and is_key_of_items:
                level = 2
        elif token in _CLOSING:
            depth -= 1
            if level and depth == level and begin >= 0:
                if (content := _valid(text[begin : match.end()])) is not None:
                    yield index, content
                index, begin = index + 1, -1
            elif depth < level:
                return
        if depth == 1 and not level:
            is_key_of_items = token == b'"items"' or (is_key_of_items and token == b":")


def _valid(piece: bytes) -> msgspec.Raw | None:
    try:
        _decoder.decode(piece)
    except (msgspec.DecodeError, RecursionError):
        return None
    return msgspec.Raw(piece)
