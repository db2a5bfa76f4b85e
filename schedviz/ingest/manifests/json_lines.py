"""Finds the lines of paths, the beginnings of documents and the nesting depth in a JSON text. For errors, because the decoder reports no
line numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import numpy as np

#: An unterminated string matches to the end of the text. Giving up there would make the search quadratic.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.?)*+(?:"|\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_PATH_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
#: Larger buffers need pages that the system must clear first: 4 MB take twice as long.
_PIECE = 1 << 20
_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in _BRACKETS)
#: How each byte changes the depth, as an int8.
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")


def line_at(text: bytes, offset: int) -> int:
    """The line number, from 1, of `offset`."""
    return text.count(b"\n", 0, max(offset, 0)) + 1


def split_path(path: str) -> list[str | int]:
    """`items[3].metadata.labels["a.b"]` as ["items", 3, "metadata", "labels", "a.b"]."""
    return [int(index) if index else (quoted or name) for quoted, index, name in _PATH_STEP.findall(path)]


def offset_of(text: bytes, path: str, start: int = 0) -> int | None:
    """The offset of the value at `path` in the document that begins at `start`, or of its nearest existing parent."""
    steps = split_path(path)
    open_path: list[str | int] = []  # the path of the open container; an index or a key ("": none yet) for each level
    depth_found, offset = -1, None
    expecting_key: list[bool] = []
    pending_key: str | None = None
    for match in _TOKEN.finditer(text, start):
        token = match.group()
        if token == b":":
            continue
        if token in (b"}", b"]"):
            expecting_key.pop()
            open_path.pop()
            if not open_path:
                break
            continue
        if token == b",":
            if isinstance(open_path[-1], int):
                open_path[-1] += 1
            else:
                expecting_key[-1] = True
            continue
        if open_path and expecting_key[-1]:
            pending_key, expecting_key[-1] = _text(token), False
            open_path[-1] = pending_key
            continue
        if open_path == steps[: len(open_path)] and len(open_path) > depth_found:
            depth_found, offset = len(open_path), match.start()
            if len(open_path) == len(steps):
                return offset
        if token == b"{":
            open_path.append("")
            expecting_key.append(True)
        elif token == b"[":
            open_path.append(0)
            expecting_key.append(False)
        elif not open_path:
            break
    return offset


def document_starts(text: bytes) -> Iterator[int]:
    """The offsets at which concatenated documents begin. Unbalanced brackets end the list early."""
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if depth == 0:
            yield match.start()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                return


def offset_of_excess_depth(text: bytes, limit: int) -> int:
    """The offset (+1) of a bracket nested deeper than `limit`; 0 if there is none.

    Brackets are first counted without regard to strings, because exact counting is slow and seldom needed.
    """
    if not _may_be_deeper(text, limit):
        return 0
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        depth += (token in (b"{", b"[")) - (token in (b"}", b"]"))
        if depth > limit:
            return match.start() + 1
    return 0


def _may_be_deeper(text: bytes, limit: int) -> bool:
    """Whether brackets, in strings or outside, are nested deeper than `limit`. The text is processed in pieces to limit memory."""
    depth = 0
    for start in range(0, len(text), _PIECE):
        steps = np.frombuffer(text[start : start + _PIECE].translate(_STEPS, _NOT_BRACKETS), dtype=np.int8)
        if len(steps):
            depths = np.cumsum(steps, dtype=np.int32)
            if depth + int(depths.max()) > limit:
                return True
            depth += int(depths[-1])
    return False


def _text(token: bytes) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token.decode("utf-8", "replace")
