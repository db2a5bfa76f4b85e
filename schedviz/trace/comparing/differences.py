"""Differences between two JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from schedviz.trace.comparing.result import Difference

#: Stands for a missing member.
ABSENT: Final = None
#: Members that identify an item of a list, like `mergeKey`s in upstream's types.
_NAMES: Final = ("name", "plugin", "schedulerName")


def differences(a: Any, b: Any, *, maximum: int = 50) -> list[Difference]:
    """The innermost members that differ, in order, up to a maximum.

    Paths look like `winner.scores[NodeResourcesFit].raw`: an item of a list is named by its name, or by its index if it has none.
    """
    result: list[Difference] = []
    for difference in _walk(a, b, ""):
        result.append(difference)
        if len(result) == maximum:
            break
    return result


def _walk(a: Any, b: Any, path: str) -> Iterator[Difference]:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in _all_of(a, b):
            yield from _walk(a.get(name, ABSENT), b.get(name, ABSENT), f"{path}.{name}" if path else str(name))
    elif isinstance(a, list) and isinstance(b, list):
        yield from _walk_lists(a, b, path)
    elif a != b:
        yield Difference(path, a, b)


def _walk_lists(a: list[Any], b: list[Any], path: str) -> Iterator[Difference]:
    in_a, in_b = _named(a), _named(b)
    if in_a is not None and in_b is not None and _in_one_order(in_a, in_b):
        for name in _all_of(in_a, in_b):
            yield from _walk(in_a.get(name, ABSENT), in_b.get(name, ABSENT), f"{path}[{name}]")
    elif len(a) == len(b):
        for index, (item_a, item_b) in enumerate(zip(a, b, strict=True)):
            yield from _walk(item_a, item_b, f"{path}[{index}]")
    else:
        yield Difference(path, a, b)


def _named(items: list[Any]) -> dict[str, Any] | None:
    """The items by name; None if an item has no name, or two have the same."""
    for member in _NAMES:
        named = {item[member]: item for item in items if isinstance(item, dict) and isinstance(item.get(member), str)}
        if len(named) == len(items):
            return named
    return None


def _in_one_order(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether the common items have the same order: the order of plugins matters."""
    return [name for name in a if name in b] == [name for name in b if name in a]


def _all_of(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    return [*a, *(name for name in b if name not in a)]
