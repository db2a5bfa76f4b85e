"""Reads YAML documents and Lists. A List is split into its items before parsing, because parsing takes 80 times the memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import ryaml

from schedviz.ingest.errors import BadObjects, LimitExceeded, Problem
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests import yaml_lines
from schedviz.ingest.manifests.json_lines import offset_of_excess_depth
from schedviz.ingest.manifests.yaml_lines import Lines
from schedviz.ingest.reader import Item, list_kind
from schedviz.kube.kinds import BY_NAME
from schedviz.kube.validation_errors import describe

_LINE = re.compile(r" at line (\d+) column \d+")
#: The parser's own limit (128) is above every sensible depth limit.
_TOO_DEEP = "recursion limit exceeded"
_ALIAS_BOMB = "repetition limit exceeded"
_UNKNOWN_ANCHOR = "unknown anchor"
_ANCHOR = re.compile(r"(?:^|[\s,\[{])&\w", re.MULTILINE)
_ALIAS = re.compile(r"(?:^|[\s,\[{])\*\w", re.MULTILINE)
#: Kinds that are not simulated, and that are read otherwise or refused with a message of their own.
_LOOKED_INTO = frozenset({"Config", "Event", "KubeSchedulerConfiguration", "List", "Status"})
_CUT = "the list ends without its kind, which kubectl prints last; was the file cut short?"
_NESTED = "lists and maps are nested too deep"
#: More opening brackets than valid text has, in strings or outside. The parser's time grows with their square.
_FLOW_DEPTH = 1000
_EXPANDED_BYTES = 64 << 20
#: Texts with more lines are refused if their lines are shorter than `_MIN_LINE_LENGTH` on average, as in no real dump.
_MAX_SHORT_LINES = 1 << 20
_MIN_LINE_LENGTH = 12
_KIND = re.compile(r"""( *)kind:\s*["']?(\w+)["']?\s*(?:#.*)?$""")


class AnchorElsewhere(BadObjects):
    """An alias whose anchor is not in the same item, but may be in another one."""


class YamlReader:
    """Reads the output of `kubectl -o yaml`, and manifests."""

    format = "YAML"

    def recognises(self, text: bytes) -> bool:
        """Whether a line such as `key:` or `- …` is near the beginning."""
        return re.search(rb"""^(?:- |---|["']?[\w./-]+["']?\s*:(?:\s|$))""", text[: 64 << 10], re.MULTILINE) is not None

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | Problem]:
        """The objects in the text, and the parts that cannot be read."""
        lines = text.count(b"\n")
        if lines > _MAX_SHORT_LINES and len(text) < _MIN_LINE_LENGTH * lines:
            raise BadObjects([Problem(name, f"this is not a dump: it has {lines:,} lines of a few bytes each", line=1)])
        for number, document in enumerate(yaml_lines.documents(text.decode()), start=1):
            try:
                yield from self._document(name, number, document, limits)
            except BadObjects as error:
                yield from error.problems

    def _document(self, name: str, number: int, document: Lines, limits: Limits) -> Iterator[Item | Problem]:
        cut = yaml_lines.list_items(document)
        if cut is None:
            yield from _whole_document(name, number, document, limits)
            return
        kind = list_kind(cut[0])
        items: list[Any] | None = None
        for index, piece in enumerate(cut[1]):
            try:
                content = parse_lines(name, number, piece, limits, f"items[{index}]") if items is None else items[index]
            except AnchorElsewhere:
                # An anchor is valid in the whole document.
                items = _uncut_items(name, number, document, limits, len(cut[1]))
                content = items[index]
            except BadObjects as error:
                yield from error.problems
                continue
            if not isinstance(content, dict):
                yield Problem(name, _no_object(content), document=number, line=piece.line, path=f"items[{index}]")
                continue
            total = len(cut[1]) if number == 1 else None
            yield Item(document=number, path=f"items[{index}]", content=content, kind=kind, total=total)

    def documents(self, text: bytes) -> int:
        """The number of documents."""
        return sum(1 for _ in yaml_lines.documents(text.decode()))

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`."""
        for number, piece in enumerate(yaml_lines.documents(text.decode()), start=1):
            if number == document:
                return yaml_lines.line_of(piece, path)
        return 0


def _whole_document(name: str, number: int, document: Lines, limits: Limits) -> Iterator[Item | Problem]:
    """The items of a document that was not split. Of a List that was cut short, those that are whole, and the problem."""
    try:
        content = parse_lines(name, number, document, limits)
    except AnchorElsewhere:
        raise
    except BadObjects as error:
        yield from _cut_list(name, number, document, limits)
        yield from error.problems
        return
    if not _lost_its_end(content):
        yield from _items_of(number, content)
        return
    yield from _cut_list(name, number, document, limits)
    yield Problem(name, _CUT, document=number, line=document.line + len(document.lines) - 1)


def _cut_list(name: str, number: int, document: Lines, limits: Limits) -> Iterator[Item]:
    """The items of a List without its end, except the last, which may be incomplete, and those that cannot be parsed."""
    cut = yaml_lines.list_items(document, has_end=False)
    for index, piece in enumerate(cut[1][:-1] if cut is not None else ()):
        try:
            content = parse_lines(name, number, piece, limits, f"items[{index}]")
        except BadObjects:
            continue
        if isinstance(content, dict):
            yield Item(document=number, path=f"items[{index}]", content=content)


def _uncut_items(name: str, number: int, document: Lines, limits: Limits, count: int) -> list[Any]:
    """The items of a List whose items refer to one another. Raises `IngestError`."""
    if len(document.text) > limits.yaml_document_bytes:
        label = f"a document of {len(document.text):,} bytes whose items use anchors of one another; write it out without them"
        raise LimitExceeded(f"{name}, document {number}", label, "yaml_document_bytes", limits.yaml_document_bytes)
    content = parse_lines(name, number, document, limits)
    items = content.get("items") if isinstance(content, dict) else None
    if not isinstance(items, list) or len(items) != count:
        raise BadObjects([Problem(name, "items use anchors of one another; write it out without them", number, document.line)])
    return items


def _lost_its_end(content: Any) -> bool:
    """Whether the text is the beginning of a list in kubectl's order: apiVersion, items, and the kind last."""
    return isinstance(content, dict) and content.keys() == {"apiVersion", "items"} and isinstance(content["items"], list)


def _items_of(number: int, content: Any) -> Iterator[Item]:
    """The items of a document that was not split: one object, a flow-style List, or a bare list."""
    if isinstance(content, dict) and isinstance(content.get("items", ""), list | None):
        # Go encodes an empty list as null.
        for index, item in enumerate(content["items"] or []):
            yield Item(document=number, path=f"items[{index}]", content=item, kind=list_kind(content.get("kind")))
    elif isinstance(content, list):
        for index, item in enumerate(content):
            yield Item(document=number, path=f"[{index}]", content=item)
    else:
        yield Item(document=number, path="", content=content)


def parse_lines(name: str, number: int, piece: Lines, limits: Limits, path: str = "") -> Any:
    """The value of a document or a list item. Unread kinds are not parsed further. Raises `IngestError`."""
    kind = _kind_at_a_glance(piece)
    if kind and list_kind(kind) not in BY_NAME and kind not in _LOOKED_INTO:
        return {"kind": kind, "metadata": {}}  # not needed, and Secrets and ConfigMaps are best not parsed at all
    text = piece.text
    where = f"{name}, document {number}, line {piece.line}"
    if len(text) > limits.yaml_document_bytes:
        label = f"a document of {len(text):,} bytes that cannot be cut into items; convert it to JSON"
        raise LimitExceeded(where, label, "yaml_document_bytes", limits.yaml_document_bytes)
    if _may_explode(text):
        raise BadObjects([Problem(name, "it has too many aliases; write it out without them", number, piece.line, path)])
    if offset_of_excess_depth(text.encode(), _FLOW_DEPTH):
        raise LimitExceeded(where, _NESTED, "nesting_depth", limits.nesting_depth)
    try:
        content = ryaml.loads(text)
    except ValueError as error:
        message = str(error)
        if _TOO_DEEP in message:
            raise LimitExceeded(where, _NESTED, "nesting_depth", limits.nesting_depth) from None
        if _ALIAS_BOMB in message:
            message = "aliases repeat too much of the document; write it out without them"
        refused = AnchorElsewhere if _UNKNOWN_ANCHOR in message else BadObjects
        raise refused([Problem(name, *_explained(message, piece, number), path)]) from None
    if _depth_exceeds(content, limits.nesting_depth):
        raise LimitExceeded(where, _NESTED, "nesting_depth", limits.nesting_depth)
    return content


def _kind_at_a_glance(piece: Lines) -> str:
    """The kind of a block-style object, without parsing it; "" if it cannot be determined."""
    indent = -1
    for line in piece.lines:
        bare = line.lstrip(" ")
        if not bare.strip() or bare.startswith("#"):
            continue
        if indent < 0:
            indent = len(line) - len(bare)
        match = _KIND.match(line.rstrip("\r"))
        if match and len(match[1]) == indent:
            return match[2]
    return ""


def _may_explode(text: str) -> bool:
    """Whether aliases could expand the document too much: n aliases can expand it 3^(n/3)-fold."""
    if not _ANCHOR.search(text):
        return False
    aliases = len(_ALIAS.findall(text))
    return aliases > 0 and (aliases > 60 or len(text) * 3 ** (aliases / 3) > _EXPANDED_BYTES)


def _explained(message: str, piece: Lines, number: int) -> tuple[str, int, int]:
    lines = [int(line) for line in _LINE.findall(message)]
    reason = _LINE.sub("", message).removeprefix("TypeError: ")
    return f"this is not YAML ({reason})", number, piece.line + (lines[0] - 1 if lines else 0)


def _no_object(content: object) -> str:
    return f"expected a Kubernetes object, found {describe(content)}"


def _depth_exceeds(content: Any, limit: int) -> bool:
    """Whether containers are nested more than `limit` deep. Shared parts (aliases) are visited once."""
    level = [content]
    seen: set[int] = set()
    for _ in range(limit + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, (dict, list)) and id(value) not in seen:
                seen.add(id(value))
                below += [item for item in (value.values() if isinstance(value, dict) else value) if isinstance(item, (dict, list))]
        if not below:
            return False
        level = below
    return True
