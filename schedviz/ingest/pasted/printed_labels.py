"""`printed_selectors` and `printed_labels`: node selectors and labels of nodes that commands in a text print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from schedviz.ingest.kubectl.tables import tables

#: What `-o jsonpath=` prints of a field, as JSON on the lines after the command.
_SELECTOR: Final = re.compile(r"\bget[ \t][^\n]{0,300}\.nodeSelector\}[^\n]{0,60}\n\s*+(?P<object>\{[^{}]{2,20000}\})")
_LABELS: Final = re.compile(r"\bget[ \t]++(?:no|nodes?)\b[^\n]{0,300}\.metadata\.labels\}[^\n]{0,60}\n\s*+(?P<object>\{[^{}]{2,20000}\})")


def printed_selectors(text: str) -> Iterator[dict[str, str]]:
    """The node selectors that commands print."""
    yield from _objects(_SELECTOR, text)


def printed_labels(text: str) -> Iterator[dict[str, str]]:
    """The labels of each node that commands print: as JSON, or in the column LABELS of a table."""
    yield from _objects(_LABELS, text)
    for table in tables(text):
        for row in table.rows if table.is_of_nodes and table.columns[-1] == "LABELS" else ():
            pairs = (pair.partition("=") for pair in row.get("LABELS", "").split(",") if "=" in pair)
            if labels := {key: value for key, _, value in pairs}:
                yield labels


def _objects(printed: re.Pattern[str], text: str) -> Iterator[dict[str, str]]:
    for found in printed.finditer(text):
        try:
            read = json.loads(found["object"])
        except ValueError:
            continue
        if all(isinstance(value, str) for value in read.values()):
            yield read
