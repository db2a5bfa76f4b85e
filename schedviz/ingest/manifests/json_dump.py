"""Reads JSON: a List, a PodList, a bare array, one object, or several of these concatenated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import BadObjects, LimitExceeded, Problem
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.json_lines import document_starts, line_at, offset_of, offset_of_excess_depth
from schedviz.ingest.manifests.json_salvage import salvaged
from schedviz.ingest.reader import Item, list_kind

#: The most items of a list for each object that may be kept: some items are left out.
_MAX_ITEMS_PER_OBJECT: Final = 3
_OFFSET = re.compile(r"\s*\(byte (\d+)\)")


class _Document(msgspec.Struct, gc=False):
    kind: Any = ""
    #: Absent: the document is no list. Null: an empty list, as Go encodes a nil slice.
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


#: Shorter texts are not checked before parsing.
_LARGE_BYTES: Final = 1 << 20
#: The smallest average size of values, with their commas, in real dumps.
_MIN_ITEM_LENGTH: Final = 12


class _Anything(msgspec.Struct, gc=False):
    """An object with any members."""


class _Counted(msgspec.Struct, gc=False):
    items: list[_Anything] | None = None


_document_decoder = msgspec.json.Decoder(_Document)
_array_decoder = msgspec.json.Decoder(list[msgspec.Raw])


class JsonReader:
    """Reads the output of `kubectl -o json`."""

    format = "JSON"

    def recognises(self, text: bytes) -> bool:
        """Whether the text begins as JSON does."""
        return text[:4096].lstrip()[:1] in (b"{", b"[")

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | Problem]:
        """The objects in the text, and the parts that cannot be read."""
        too_deep = offset_of_excess_depth(text, limits.nesting_depth)
        if too_deep:
            where = f"{name}, line {line_at(text, too_deep - 1)}"
            raise LimitExceeded(where, "lists and objects are nested too deep", "nesting_depth", limits.nesting_depth)
        if len(text) > _LARGE_BYTES:
            _validate_item_count(name, text, limits)
        try:
            yield from _items(text, document=1)
        except msgspec.ValidationError as error:
            raise BadObjects([Problem(name, f"this is not a list of Kubernetes objects ({error})", line=1)]) from None
        except msgspec.DecodeError as error:
            if "trailing characters" in str(error):
                yield from self._concatenated(name, text)
            else:
                yield from _parts(text, 1)
                yield _malformed(name, text, error, 0)

    def _concatenated(self, name: str, text: bytes) -> Iterator[Item | Problem]:
        starts = list(document_starts(text))
        for document, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), start=1):
            part = text[start:end]
            try:
                yield from _items(part, document=document)
            except msgspec.DecodeError as error:
                yield from _parts(part, document)
                yield _malformed(name, text, error, start, document)

    def documents(self, text: bytes) -> int:
        """The number of documents."""
        return sum(1 for _ in document_starts(text))

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`."""
        for number, start in enumerate(document_starts(text) if document > 1 else [0], start=1):
            if number == document:
                offset = offset_of(text, path, start)
                return 0 if offset is None else line_at(text, offset)
        return 0


def _items(text: bytes, *, document: int) -> Iterator[Item]:
    if text.lstrip()[:1] == b"[":
        for index, content in enumerate(_array_decoder.decode(text)):
            yield Item(document=document, path=f"[{index}]", content=content)
        return
    parsed = _document_decoder.decode(text)
    if parsed.items is msgspec.UNSET:
        yield Item(document=document, path="", content=msgspec.Raw(text))
        return
    kind, items = list_kind(parsed.kind), parsed.items or []
    total = len(items) if document == 1 else None
    for index, content in enumerate(items):
        yield Item(document=document, path=f"items[{index}]", content=content, kind=kind, total=total)


def _parts(text: bytes, document: int) -> Iterator[Item]:
    """The objects of a malformed document that can be read nevertheless."""
    for index, content in salvaged(text):
        yield Item(document=document, path=f"items[{index}]", content=content)


def _validate_item_count(name: str, text: bytes, limits: Limits) -> None:
    """Refuse more items than an import may have, before each of them becomes an object in memory."""
    commas = text.count(b",")
    if commas > _LARGE_BYTES and len(text) < _MIN_ITEM_LENGTH * commas:
        raise BadObjects([Problem(name, f"this is not a dump: it has {commas:,} values of a few bytes each", line=1)])
    try:
        if text.lstrip()[:1] == b"[":
            count = len(msgspec.json.decode(text, type=list[_Anything]))
        else:
            count = len(msgspec.json.decode(text, type=_Counted).items or [])
    except msgspec.ValidationError as error:
        raise BadObjects([Problem(name, f"this is not a list of Kubernetes objects ({error})", line=1)]) from None
    except msgspec.DecodeError:
        return  # reported with its line, or the first of several documents
    if count > _MAX_ITEMS_PER_OBJECT * limits.objects:
        what = f"there are {count:,} items in a list, more than {_MAX_ITEMS_PER_OBJECT} for each object that may be kept"
        raise LimitExceeded(name, what, "objects", limits.objects)


def _malformed(name: str, text: bytes, error: Exception, start: int, document: int = 0) -> Problem:
    """msgspec reports a byte offset; the message has a line number."""
    message = str(error)
    match = _OFFSET.search(message)
    if isinstance(error, msgspec.DecodeError) and "truncated" in message:
        return Problem(name, "the JSON ends too early; was the file cut short?", document=document, line=line_at(text, len(text)))
    line = line_at(text, start + int(match[1])) if match else line_at(text, start)
    reason = _OFFSET.sub("", message).removeprefix("JSON is malformed: ")
    return Problem(name, f"this is not JSON ({reason})", document=document, line=line)
