"""The request bodies of the commands that have methods of their own (docs/rest.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Command: TypeAlias = dict[str, Any]


def step(count: int, unit: str) -> Command:
    return {"op": "step", "unit": unit, "count": count}


def run(most: int | None) -> Command:
    return {"op": "run", **({} if most is None else {"max": most})}


def advance(seconds: float | None) -> Command:
    return {"op": "advance", **({"to": "next"} if seconds is None else {"seconds": seconds})}


def create(*objects: Mapping[str, Any]) -> list[Command]:
    return [{"op": "create", "object": dict(obj)} for obj in objects]


def remove(kind: str, name: str, namespace: str) -> Command:
    return {"op": "delete", "kind": kind, "name": name, "namespace": namespace}
