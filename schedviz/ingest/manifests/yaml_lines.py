"""Splits YAML into documents and List items by indentation, and finds the line of a path.

Only block style, which Kubernetes tools write, is split; other text is returned whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from schedviz.ingest.manifests.json_lines import split_path

_ITEMS = re.compile(r"items:\s*(#.*)?$")
_KIND = re.compile(r"""kind:\s*["']?(\w*List)["']?\s*(#.*)?$""")
_DASH = re.compile(r"( *)-(?:\s|$)")


class Lines(msgspec.Struct, frozen=True):
    """A part of a text: its lines without line ends, and the number of the first, from 1."""

    line: int
    lines: list[str]

    @property
    def text(self) -> str:
        """The part as text."""
        return "\n".join(self.lines)

    @property
    def is_blank(self) -> bool:
        """Whether it contains only comments and whitespace."""
        return all(not (bare := line.strip()) or bare.startswith("#") for line in self.lines)


def documents(text: str) -> Iterator[Lines]:
    """The documents of a stream without empty ones."""
    lines: list[str] = []
    first = 1
    for number, line in enumerate(text.split("\n"), start=1):
        marker = line[:3] in ("---", "...") and line[3:4] in ("", " ", "\t", "\r")
        if not marker and not line.startswith("%"):
            lines.append(line)
            continue
        piece = Lines(first, lines)
        if not piece.is_blank:
            yield piece
        rest = line[3:] if marker else ""
        lines, first = ([rest], number) if rest.strip() else ([], number + 1)
    piece = Lines(first, lines)
    if not piece.is_blank:
        yield piece


def list_items(document: Lines, *, has_end: bool = True) -> tuple[str, list[Lines]] | None:
    """The kind of a List and its items, each indented as in the document; None if the document is not a block-style List.

    kubectl prints the kind after the items: without `has_end` a List needs none.
    """
    kind, start = "", -1
    end = len(document.lines)
    for index, line in enumerate(document.lines):
        if not line or line[0] in " -#\t\r":
            continue
        if match := _KIND.match(line):
            kind = match[1]
        if start >= 0 and end == len(document.lines):
            end = index
        if _ITEMS.match(line):
            start = index + 1
    if start < 0 or (has_end and not kind):
        return None
    return kind, list(_cut(document, start, end))


def _cut(document: Lines, start: int, end: int) -> Iterator[Lines]:
    indent: str | None = None
    begin = start
    for index in range(start, end):
        match = _DASH.match(document.lines[index])
        if match and (indent is None or match[1] == indent):
            if indent is not None:
                yield _item(document, begin, index, indent)
            indent, begin = match[1], index
    if indent is not None:
        yield _item(document, begin, end, indent)


def _item(document: Lines, begin: int, end: int, indent: str) -> Lines:
    """One item, with its dash replaced by a space."""
    first = document.lines[begin]
    after = first[len(indent) + 1 :]
    return Lines(document.line + begin, [f"{indent} {after}", *document.lines[begin + 1 : end]])


def line_of(piece: Lines, path: str) -> int:
    """The line number of `path`, or of its nearest parent that can be found."""
    begin, end, indent = 0, len(piece.lines), -1
    line = piece.line
    for step in split_path(path):
        found_at = _find_index(piece.lines, begin, end, indent, step) if isinstance(step, int) else _find_key(piece.lines, begin, end, step)
        if found_at is None:
            break
        begin, end, indent = found_at
        line = piece.line + begin
    return line


def _find_key(lines: list[str], begin: int, end: int, key: str) -> tuple[int, int, int] | None:
    """Beginning, end and indentation of the block under `key`: the shallowest line with that key."""
    shape = re.compile(rf"""^([ -]*)["']?{re.escape(key)}["']?\s*:(?:\s|$)""")
    matches = [(len(match[1]), index) for index in range(begin, end) if (match := shape.match(lines[index]))]
    if not matches:
        return None
    indent, index = min(matches)
    stop = index + 1
    while stop < end and not _ends_block(lines[stop], indent):
        stop += 1
    return index, stop, indent


def _find_index(lines: list[str], begin: int, end: int, indent: int, index: int) -> tuple[int, int, int] | None:
    """Where the item with this index begins in the block's list (at its dash), and where it ends."""
    dashes = [(len(match[1]), index) for index in range(begin + 1, end) if (match := _DASH.match(lines[index]))]
    dashes = [dash for dash in dashes if dash[0] >= indent]
    if not dashes:
        return None
    depth = min(dashes)[0]
    starts = [index for dash, index in dashes if dash == depth]
    if index >= len(starts):
        return None
    return starts[index], starts[index + 1] if index + 1 < len(starts) else end, depth


def _ends_block(line: str, indent: int) -> bool:
    """Whether a line is indented like a key or less (a list may have the same indentation)."""
    bare = line.lstrip(" ")
    if not bare.strip() or bare.startswith("#"):
        return False
    depth = len(line) - len(bare)
    return depth < indent or (depth == indent and not bare.startswith("-"))
