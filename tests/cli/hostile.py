"""A cluster whose author chose every name, so that printing it would retitle a terminal, empty it, fake a line and turn letters around."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

#: OSC 0 with BEL, CSI in both forms, CR, LF, DEL, a bidi override, a zero-width letter, a tag letter, a line separator.
HOSTILE = "x\x1b]0;owned\x07\x1b[2J\x9b31m\r\nFAKED line\t\x08\x7f\u202egnp\u2066\u200b\U000e0041\u2028"
_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


def is_clean(printed: str) -> bool:
    """Nothing but line breaks and printable letters, and no line that a name began."""
    assert unsafe(printed) == [], printed
    return not any(line.startswith("FAKED") for line in printed.splitlines())


def unsafe(printed: str) -> list[str]:
    """What is neither printable nor a line break."""
    return [letter for letter in printed if letter != "\n" and unicodedata.category(letter) in _CATEGORIES]


def named(what: str) -> str:
    """A name of its own, with all that."""
    return f"{what}{HOSTILE}"


def node(name: str, cpu: str = "2") -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "4Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": named(name), "labels": {HOSTILE: HOSTILE}, "annotations": {HOSTILE: HOSTILE}},
        "spec": {"taints": [{"key": HOSTILE, "value": HOSTILE, "effect": "PreferNoSchedule"}]},
        "status": {"capacity": amounts, "allocatable": amounts, "images": [{"names": [HOSTILE], "sizeBytes": 1}]},
    }


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": HOSTILE, "message": HOSTILE}
    containers = [{"name": HOSTILE, "image": HOSTILE, "resources": {"requests": {"cpu": cpu}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": named(name), "namespace": HOSTILE, "labels": {HOSTILE: HOSTILE}, "annotations": {HOSTILE: HOSTILE}},
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Pending", "conditions": [condition]},
    }


def objects() -> list[dict[str, Any]]:
    """Two nodes, a pod that runs, one that fits, and three that do not, each for a reason with a name in it."""
    tainted = node("tainted")
    tainted["spec"]["taints"][0]["effect"] = "NoSchedule"
    return [
        node("open"),
        tainted,
        pod("runs", nodeName=named("open")),
        pod("fits"),
        pod("large", cpu="64"),
        pod("picky", nodeSelector={HOSTILE: named("other")}),
        pod("gated", schedulingGates=[{"name": HOSTILE}]),
        pod("elsewhere", schedulerName=HOSTILE),
    ]


def dump() -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()})


def trace(*, cpu: str = "2") -> str:
    made = objects()
    made[0] = node("open", cpu)
    steps = [{"op": "create", "object": each} for each in made]
    return json.dumps({"format": "schedviz-trace/1", "name": HOSTILE, "description": HOSTILE, "steps": [*steps, {"op": "run"}]})
