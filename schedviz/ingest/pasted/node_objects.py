"""`node_objects`: the Node objects among a copied text, for what they offer and which pods they keep off."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schedviz.ingest.pasted.copied_text import CopiedText

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


def node_objects(text: CopiedText) -> list[NodeObject]:
    """The first few Node objects, in YAML or JSON. What cannot be read is left out."""
    found: dict[str, NodeObject] = {}
    for content in text.objects_of("Node"):
        if len(found) < _MAX_NODES and (node := _node(content)) is not None:
            found.setdefault(node.metadata.name, node)
    return list(found.values())


def _node(content: dict[str, Any]) -> NodeObject | None:
    try:
        return msgspec.convert(content, NodeObject, strict=False)
    except msgspec.ValidationError:
        return None
