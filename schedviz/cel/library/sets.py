"""Lists as sets. Upstream: cel-go ext/sets.go"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.library import costs
from schedviz.cel.types import BOOL, A
from schedviz.cel.values import equal

_LISTS: Final = (types.list_of(A), types.list_of(A))


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "sets.contains", Overload(_LISTS, BOOL, _contains, cost=costs.product)
    yield (
        "sets.equivalent",
        Overload(_LISTS, BOOL, lambda first, second: _contains(first, second) and _contains(second, first), cost=costs.product),
    )
    yield "sets.intersects", Overload(_LISTS, BOOL, lambda first, second: any(_has(first, each) for each in second), cost=costs.product)


def _has(items: Sequence[Any], item: Any) -> bool:
    return any(equal(item, each) for each in items)


def _contains(items: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(_has(items, each) for each in others)
