"""Lists as sets. Upstream: cel-go ext/sets.go"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.library import costs, work
from schedviz.cel.types import BOOL, A
from schedviz.cel.values import equal

_LISTS: Final = (types.list_of(A), types.list_of(A))


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for name, compute, times in (("contains", _contains, 1), ("equivalent", _are_equivalent, 2), ("intersects", _intersect, 1)):
        yield f"sets.{name}", Overload(_LISTS, BOOL, compute, cost=costs.product(times), work=work.each_with_each)


def _has(items: Sequence[Any], item: Any) -> bool:
    return any(equal(item, element) for element in items)


def _contains(items: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(_has(items, other) for other in others)


def _are_equivalent(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return _contains(first, second) and _contains(second, first)


def _intersect(first: Sequence[Any], second: Sequence[Any]) -> bool:
    return any(_has(first, element) for element in second)
