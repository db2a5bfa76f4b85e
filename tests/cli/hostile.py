"""A cluster with hostile names: printed unescaped, they would set the terminal's title, clear the screen, fake a line and reverse text."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

#: OSC 0 with BEL, CSI in both forms, CR, LF, DEL, a bidi override, a zero-width letter, a tag letter, a line separator.
HOSTILE = "x\x1b]0;owned\x07\x1b[2J\x9b31m\r\nFAKED line\t\x08\x7f\u202egnp\u2066\u200b\U000e0041\u2028"
#: Accepted by an import in names, namespaces and labels: bidirectional and invisible characters, but no control characters.
NAME = "x\u202egnp\u2066\u200b\U000e0041"
_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")


def is_clean(printed: str) -> bool:
    """Whether there are only line breaks and printable characters, and no line that begins inside a name."""
    assert unsafe(printed) == [], printed
    return not any(line.startswith("FAKED") for line in printed.splitlines())


def unsafe(printed: str) -> list[str]:
    """Whether the text contains characters that are neither printable nor line breaks."""
    return [letter for letter in printed if letter != "\n" and unicodedata.category(letter) in _CATEGORIES]


def named(what: str, name: str = NAME) -> str:
    """A distinct name with these characters."""
    return f"{what}{name}"


def node(name: str, cpu: str = "2", *, hostile: str = NAME) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "4Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": named(name, hostile), "labels": {hostile: hostile}, "annotations": {HOSTILE: HOSTILE}},
        "spec": {"taints": [{"key": HOSTILE, "value": HOSTILE, "effect": "PreferNoSchedule"}]},
        "status": {"capacity": amounts, "allocatable": amounts, "images": [{"names": [HOSTILE], "sizeBytes": 1}]},
    }


def pod(name: str, cpu: str = "1", *, hostile: str = NAME, **spec: Any) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": HOSTILE, "message": HOSTILE}
    containers = [{"name": HOSTILE, "image": HOSTILE, "resources": {"requests": {"cpu": cpu}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": named(name, hostile), "namespace": hostile, "labels": {hostile: hostile}, "annotations": {HOSTILE: HOSTILE}},
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Pending", "conditions": [condition]},
    }


def objects(hostile: str = NAME, cpu: str = "2") -> list[dict[str, Any]]:
    """Two nodes, a pod that runs, one that fits, and four that do not, each for a reason with a name in it."""
    tainted = node("tainted", hostile=hostile)
    tainted["spec"]["taints"][0]["effect"] = "NoSchedule"
    return [
        node("open", cpu, hostile=hostile),
        tainted,
        pod("runs", hostile=hostile, nodeName=named("open", hostile)),
        pod("fits", hostile=hostile),
        pod("large", cpu="64", hostile=hostile),
        pod("picky", hostile=hostile, nodeSelector={HOSTILE: named("other", HOSTILE)}),
        pod("gated", hostile=hostile, schedulingGates=[{"name": HOSTILE}]),
        pod("elsewhere", hostile=hostile, schedulerName=HOSTILE),
    ]


def dump(hostile: str = NAME) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(hostile)})


def trace(*, cpu: str = "2") -> str:
    """A trace file, whose names are not checked."""
    steps = [{"op": "create", "object": obj} for obj in objects(HOSTILE, cpu)]
    return json.dumps({"format": "schedviz-trace/1", "name": HOSTILE, "description": HOSTILE, "steps": [*steps, {"op": "run"}]})
