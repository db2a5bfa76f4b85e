"""Splits the output of `kubectl -o yaml` into objects while it is decompressed, so that the whole text is never in memory.

The items of the list begin with a dash in the first column, where nothing else begins. Text in any other layout is read as a whole by
`YamlReader`, which takes six bytes of memory per byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from schedviz.ingest.errors import IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.json_stream import NotCutError
from schedviz.ingest.manifests.yaml_dump import parse_lines
from schedviz.ingest.manifests.yaml_lines import Lines

_HEAD: Final = b"apiVersion: v1\nitems:\n- "
_BETWEEN: Final = b"\n- "
_TAIL: Final = re.compile(rb'\nkind: List\nmetadata:\n  resourceVersion: ""\n*')
_AT_THE_MARGIN: Final = re.compile(rb"\n[^ \n]")
#: How much is buffered before it is split.
_BATCH_BYTES: Final = 1 << 20


def is_printed_by_kubectl(head: bytes) -> bool:
    """Whether a text with this beginning is worth trying."""
    return head.startswith(_HEAD)


def cut_items(name: str, pieces: Iterator[bytes], limits: Limits) -> Iterator[list[Any]]:
    """The items of the list as parsed YAML, in batches. Raises `NotCutError`."""
    text = next(pieces, b"").removeprefix(_HEAD)
    for piece in pieces:
        text += piece
        if len(text) >= _BATCH_BYTES:
            *items, text = text.split(_BETWEEN)
            yield [_parsed(name, item, limits) for item in items]
    *items, last = text.split(_BETWEEN)
    tail = last.find(b"\nkind: List\n")
    if tail < 0 or not _TAIL.fullmatch(last, tail):
        raise NotCutError
    yield [_parsed(name, item, limits) for item in (*items, last[:tail])]


def _parsed(name: str, item: bytes, limits: Limits) -> Any:
    if _AT_THE_MARGIN.search(item) or b"\r" in item:
        raise NotCutError
    try:
        content = parse_lines(name, 1, Lines(1, f"  {item.decode()}".split("\n")), limits)
    except (IngestError, UnicodeDecodeError):
        raise NotCutError from None
    if not isinstance(content, dict):
        raise NotCutError
    return content
