"""JSON as `kubectl -o json` prints it, cut into objects while it arrives, so that the whole text is never in memory.

A JSON string has no line end in it. So where a list is printed with one indentation, an item begins where a line is that
indentation and a brace: that is found with the speed of memory. Whatever is not quite so is read as a whole instead, by `JsonReader`.
450 MB of 50,000 pods take 0.5 GB less of memory like this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.json_lines import is_deeper_than

_HEAD: Final = re.compile(rb'\{\n( +)"apiVersion": "v1",\n\1"items": \[(?=\n( +)\{\n)')
#: The brackets around an item.
_AROUND_ITEMS: Final = 2
#: So much is waited for before it is cut.
_ENOUGH: Final = 1 << 20


class NotCutError(Exception):
    """The text is not as kubectl prints it, or something in it is wrong: it has to be read as a whole."""


class _Tail(msgspec.Struct, gc=False):
    items: list[msgspec.Raw]
    kind: str = ""


def is_printed_by_kubectl(head: bytes) -> bool:
    """Whether a text that begins like this is worth trying."""
    return _HEAD.match(head) is not None


def cut_items(pieces: Iterator[bytes], *, nesting_depth: int) -> Iterator[list[msgspec.Raw]]:
    """The items of the list, some at a time; what is in them is not looked at. Raises `NotCutError`."""
    waiting = next(pieces, b"")
    head = _HEAD.match(waiting)
    if head is None:
        raise NotCutError
    outer, between = head[1], b",\n%b{\n" % head[2]
    parts = [waiting[head.end() :]]
    held = len(parts[0])
    for piece in pieces:
        parts.append(piece)
        held += len(piece)
        if held >= _ENOUGH:
            items = _split(b"".join(parts), between, nesting_depth)
            rest = items.pop()
            if items:
                yield list(map(msgspec.Raw, items))
            parts = [rest]
            held = len(rest)
    text = b"".join(parts)
    end = text.rfind(b"\n" + outer + b"]")
    if end < 0:
        raise NotCutError
    yield list(map(msgspec.Raw, _split(text[:end], between, nesting_depth)))
    _check_tail(text[end:])


def _split(text: bytes, between: bytes, nesting_depth: int) -> list[bytes]:
    """The items in a text that begins with one; the last may not be whole.

    What is cut in the wrong place, in a text that is only nearly as kubectl prints it, has a bracket too few and cannot be decoded.
    """
    if is_deeper_than(text, nesting_depth - _AROUND_ITEMS):
        raise NotCutError
    first, *others = text.split(between)
    return [first, *(b"{" + other for other in others)]


def _check_tail(text: bytes) -> None:
    """The rest of the list, from the bracket that closes its items; its items say themselves of which kind they are."""
    try:
        tail = msgspec.json.decode(b'{"items": [' + text, type=_Tail)
    except msgspec.DecodeError:
        raise NotCutError from None
    if tail.items or tail.kind != "List":
        raise NotCutError
