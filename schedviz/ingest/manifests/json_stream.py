"""Splits the output of `kubectl -o json` into objects while it is decompressed, so that the whole text is never in memory.

A JSON string contains no line end. In a list with consistent indentation, an item therefore begins where a line consists of that
indentation and a brace, which is fast to find. Text in any other layout is read as a whole by `JsonReader`. For 450 MB with 50,000 pods
this saves 0.5 GB of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.manifests.json_lines import offset_of_excess_depth

_HEAD: Final = re.compile(rb'\{\n( +)"apiVersion": "v1",\n\1"items": \[(?=\n( +)\{\n)')
#: The brackets around an item.
_AROUND_ITEMS: Final = 2
#: How much is buffered before it is split.
_BATCH_BYTES: Final = 1 << 20


class NotCutError(Exception):
    """The text is not in kubectl's layout or is invalid, and must be read as a whole."""


class _Tail(msgspec.Struct, gc=False):
    items: list[msgspec.Raw]
    kind: str = ""


def is_printed_by_kubectl(head: bytes) -> bool:
    """Whether a text that begins like this is worth trying."""
    return _HEAD.match(head) is not None


def cut_items(pieces: Iterator[bytes], *, nesting_depth: int) -> Iterator[list[msgspec.Raw]]:
    """The items of the list, in batches, not decoded. Raises `NotCutError`."""
    waiting = next(pieces, b"")
    head = _HEAD.match(waiting)
    if head is None:
        raise NotCutError
    outer, between = head[1], b",\n%b{\n" % head[2]
    parts = [waiting[head.end() :]]
    size = len(parts[0])
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= _BATCH_BYTES:
            items = _split(b"".join(parts), between, nesting_depth)
            rest = items.pop()
            if items:
                yield list(map(msgspec.Raw, items))
            parts = [rest]
            size = len(rest)
    text = b"".join(parts)
    end = text.rfind(b"\n" + outer + b"]")
    if end < 0:
        raise NotCutError
    yield list(map(msgspec.Raw, _split(text[:end], between, nesting_depth)))
    _check_tail(text[end:])


def _split(text: bytes, between: bytes, nesting_depth: int) -> list[bytes]:
    """The items in a text that begins with one; the last may be incomplete.

    If the layout is only similar to kubectl's and a split is wrong, the item lacks a bracket and cannot be decoded.
    """
    if offset_of_excess_depth(text, nesting_depth - _AROUND_ITEMS):
        raise NotCutError
    first, *others = text.split(between)
    return [first, *(b"{" + other for other in others)]


def _check_tail(text: bytes) -> None:
    """Check the rest of the list, from its closing bracket. The items have their own kinds."""
    try:
        tail = msgspec.json.decode(b'{"items": [' + text, type=_Tail)
    except msgspec.DecodeError:
        raise NotCutError from None
    if tail.items or tail.kind != "List":
        raise NotCutError
