"""`items_in`: the objects of a copied text that is JSON or YAML as a whole."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import IngestError
from schedviz.ingest.events import FAILED_SCHEDULING, OTHER_REASONS
from schedviz.ingest.kubectl.tables_and_descriptions import without_terminal, without_warnings
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests import yaml_lines
from schedviz.ingest.manifests.yaml_dump import parse_lines
from schedviz.ingest.pasted.pod_objects import QUOTA_RESERVED

#: Objects in YAML.
_YAML: Final = re.compile(r"^(?:kind: |- apiVersion: |apiVersion: )", re.MULTILINE)


class _List(msgspec.Struct):
    items: list[msgspec.Raw]


def items_in(text: str) -> list[Any]:
    """The objects of a text, if it is JSON or YAML: of YAML only those that may have a message."""
    return _json_items(text) or _yaml_items(text)


def _json_items(text: str) -> list[Any]:
    text = _output(text)
    try:
        return msgspec.json.decode(text, type=_List).items
    except (msgspec.MsgspecError, RecursionError):
        return [msgspec.Raw(text.encode("utf-8", "replace"))] if text.lstrip().startswith("{") else []


def _yaml_items(text: str) -> list[Any]:
    if _YAML.search(text) is None:
        return []
    items: list[Any] = []
    try:
        for document in yaml_lines.documents(_output(text)):
            cut = yaml_lines.list_items(document)
            pieces = (document,) if cut is None else cut[1]
            items += [parse_lines("text", 1, piece, Limits()) for piece in pieces if _may_have_message(piece)]
    except (IngestError, RecursionError):
        return []
    return [item for item in items if isinstance(item, dict)]


def _may_have_message(piece: yaml_lines.Lines) -> bool:
    words = (FAILED_SCHEDULING, "available", "Scheduled", "Pending", "nodeName", QUOTA_RESERVED, *OTHER_REASONS)
    return any(word in line for line in piece.lines for word in words)


def _output(text: str) -> str:
    """The output of a command, without its prompt and the warnings before it."""
    return without_warnings(without_terminal(text.encode("utf-8", "replace"))).decode()
