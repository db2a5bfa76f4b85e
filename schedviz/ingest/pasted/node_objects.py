"""`node_objects`: the Node objects among a copied text, for what they offer and which pods they keep off."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Final

import msgspec

from schedviz.ingest.errors import IngestError
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.embedded_objects import EmbeddedObjectsReader

#: In a longer text, objects in YAML are not looked for: parsing them takes seconds.
_MAX_LENGTH: Final = 100_000
#: What begins an object in JSON, and how many of them are tried.
_BRACE: Final = re.compile(r"^[ \t]*+\{", re.MULTILINE)
_MAX_ATTEMPTS: Final = 50
#: People copy few nodes.
_MAX_NODES: Final = 20
#: Effects of taints that keep new pods off a node.
_KEEPING_OFF: Final = frozenset({"NoSchedule", "NoExecute"})


class _Metadata(msgspec.Struct):
    name: str


class _Taint(msgspec.Struct):
    key: str
    effect: str
    value: str | None = None


class _Spec(msgspec.Struct):
    unschedulable: bool = False
    taints: list[_Taint] | None = None


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    message: str | None = None


class _Status(msgspec.Struct):
    allocatable: dict[str, str] = {}
    conditions: list[_Condition] | None = None


class NodeObject(msgspec.Struct):
    """A Node, as far as it says which pods it takes."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)

    @property
    def taints(self) -> dict[str, str]:
        """Its taints that keep pods off it, as kubectl prints them without their effect and with it."""
        taints = [taint for taint in self.spec.taints or () if taint.effect in _KEEPING_OFF]
        pairs = ["=".join(filter(None, (taint.key, taint.value))) for taint in taints]
        return {pair: f"{pair}:{taint.effect}" for pair, taint in zip(pairs, taints, strict=True)}

    @property
    def unready(self) -> str:
        """The message of its condition Ready; "": it is ready, or its status lacks that."""
        conditions = self.status.conditions or ()
        return next((each.message or "" for each in conditions if each.type == "Ready" and each.status in ("False", "Unknown")), "")


def node_objects(text: str) -> list[NodeObject]:
    """The first few Node objects, in YAML or JSON. What cannot be read is left out."""
    if len(text) > _MAX_LENGTH or "Node" not in text or "kind" not in text:
        return []
    found: dict[str, NodeObject] = {}
    for content in itertools.chain(_json(text), _yaml(text)):
        if len(found) < _MAX_NODES and (node := _node(content)) is not None:
            found.setdefault(node.metadata.name, node)
    return list(found.values())


def _node(content: object) -> NodeObject | None:
    if not isinstance(content, dict) or content.get("kind") != "Node":
        return None
    try:
        return msgspec.convert(content, NodeObject, strict=False)
    except msgspec.ValidationError:
        return None


def _json(text: str) -> Iterator[object]:
    """The objects in JSON that begin a line, and the items of lists."""
    end = 0
    for begin in itertools.islice(_BRACE.finditer(text), _MAX_ATTEMPTS):
        if begin.end() <= end:
            continue
        try:
            content, end = json.JSONDecoder().raw_decode(text, begin.end() - 1)
        except (ValueError, RecursionError):
            continue
        items = content.get("items")
        yield from items if isinstance(items, list) else [content]


def _yaml(text: str) -> Iterator[object]:
    try:
        for item in EmbeddedObjectsReader().read("text", text.encode("utf-8", "replace"), Limits()):
            yield getattr(item, "content", None)
    except (IngestError, RecursionError):
        return
