"""Functions of lists. Upstream: apiserver/pkg/cel/library/lists.go; cel-go ext/lists.go, version 3"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs, work
from schedviz.cel.library.times import DURATION, TIMESTAMP, Duration, Timestamp
from schedviz.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, A
from schedviz.cel.values import Uint, equal, in_int, in_uint, is_number, type_name

_COMPARABLE: Final = (INT, UINT, DOUBLE, BOOL, STRING, BYTES, DURATION, TIMESTAMP)
#: The classes of their values.
_ORDERED: Final = (bool, int, float, str, bytes, Duration, Timestamp)
_ANY_LIST: Final = types.list_of(A)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    for type_ in _COMPARABLE:
        items = types.list_of(type_)
        yield "isSorted", Overload((items,), BOOL, _is_sorted, is_member=True, cost=costs.elements(0))
        yield "min", Overload((items,), type_, _first_of("min"), is_member=True, cost=costs.elements(0))
        yield "max", Overload((items,), type_, _first_of("max"), is_member=True, cost=costs.elements(0))
    for number in (INT, UINT, DOUBLE):
        yield "sum", Overload((types.list_of(number),), number, _sum, is_member=True, cost=costs.elements(0))
    yield "sum", Overload((types.list_of(DURATION),), DURATION, _sum_of_durations, is_member=True, cost=costs.elements(0))
    yield "indexOf", Overload((_ANY_LIST, A), INT, _index_of, is_member=True, cost=costs.elements(0), work=work.found)
    yield "lastIndexOf", Overload((_ANY_LIST, A), INT, _last_index_of, is_member=True, cost=costs.elements(0), work=work.found)
    yield "slice", Overload((_ANY_LIST, INT, INT), _ANY_LIST, _slice, is_member=True, cost=costs.result_elements)
    one_level = Overload(
        (types.list_of(_ANY_LIST),),
        _ANY_LIST,
        lambda items: _flat(items, 1),
        is_member=True,
        cost=costs.result_elements,
        work=work.everything,
    )
    yield "flatten", one_level
    yield (
        "flatten",
        Overload((types.list_of(DYN), INT), types.list_of(DYN), _flatten, is_member=True, cost=costs.result_elements, work=work.everything),
    )
    yield "distinct", Overload((_ANY_LIST,), _ANY_LIST, _distinct, is_member=True, cost=costs.square, work=work.each_with_each)
    yield "reverse", Overload((_ANY_LIST,), _ANY_LIST, lambda items: tuple(reversed(items)), is_member=True, cost=costs.result_elements)
    for type_ in _COMPARABLE:
        yield "sort", Overload((types.list_of(type_),), types.list_of(type_), _sorted, is_member=True, cost=costs.result_elements)
        yield (
            "@sortByAssociatedKeys",
            Overload((_ANY_LIST, types.list_of(type_)), _ANY_LIST, _sorted_by, is_member=True, cost=costs.elements(0)),
        )
    yield "lists.range", Overload((INT,), types.list_of(INT), _range, cost=costs.result_elements)


def _sum_of_durations(items: Sequence[Any]) -> Duration:
    if not all(isinstance(item, Duration) for item in items):
        raise CelError("no such overload")
    return Duration(in_int(sum(item.nanoseconds for item in items)))


def _comparable(items: Sequence[Any]) -> Sequence[Any]:
    """The items. Raises `CelError` if they cannot be compared with each other."""
    if all(map(is_number, items)) or (len({type(item) for item in items}) <= 1 and all(isinstance(item, _ORDERED) for item in items)):
        return items
    raise CelError("no such overload")


def _is_sorted(items: Sequence[Any]) -> bool:
    return all(not before > after for before, after in zip(_comparable(items), items[1:], strict=False))


def _first_of(name: str) -> Callable[[Sequence[Any]], Any]:
    pick: Callable[[Sequence[Any]], Any] = min if name == "min" else max

    def compute(items: Sequence[Any]) -> Any:
        if not items:
            raise CelError(f"{name} called on empty list")
        return pick(_comparable(items))

    return compute


def _sum(items: Sequence[Any]) -> Any:
    """The sum in the type of the items, which may be known only now. Raises `CelError`."""
    if not all(map(is_number, items)) or len({type(item) for item in items}) > 1:
        raise CelError("no such overload")
    total = sum(items)
    if items and isinstance(items[0], Uint):
        return in_uint(total)
    return in_int(total) if isinstance(total, int) else total


def _index_of(items: Sequence[Any], item: Any) -> int:
    return next((index for index, element in enumerate(items) if equal(element, item)), -1)


def _last_index_of(items: Sequence[Any], item: Any) -> int:
    return next((index for index in reversed(range(len(items))) if equal(items[index], item)), -1)


def _slice(items: Sequence[Any], start: int, end: int) -> Sequence[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return tuple(items[start:end])


def _flatten(items: Sequence[Any], depth: int) -> Sequence[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    return _flat(items, depth)


def _flat(items: Sequence[Any], depth: int) -> Sequence[Any]:
    result: list[Any] = []
    for item in items:
        if isinstance(item, tuple | list) and depth > 0:
            result.extend(_flat(item, depth - 1))
        else:
            result.append(item)
    return tuple(result)


def _distinct(items: Sequence[Any]) -> Sequence[Any]:
    result: list[Any] = []
    for item in items:
        if not any(equal(item, other) for other in result):
            result.append(item)
    return tuple(result)


def _sorted(items: Sequence[Any]) -> Sequence[Any]:
    if any(type(item) is not type(items[0]) for item in items):
        raise CelError("list elements must have the same type")
    return tuple(sorted(_comparable(items)))


def _sorted_by(items: Sequence[Any], by: Sequence[Any]) -> Sequence[Any]:
    """The items in the order of their keys. Upstream: sortListByAssociatedKeys"""
    if len(items) != len(by):
        raise CelError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(items)} and {len(by)} elements respectively"
        )
    if any(type(key) is not type(by[0]) for key in by):
        raise CelError("list elements must have the same type")
    return tuple(item for _, item in sorted(zip(_comparable(by), items, strict=True), key=lambda pair: pair[0]))


def _range(count: int) -> Sequence[int]:
    if count > 1_000_000:
        raise CelError(f"cannot create a list of {count} elements of {type_name(count)}")
    return tuple(range(count))
