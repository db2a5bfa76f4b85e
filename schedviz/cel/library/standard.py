"""Operators, conversions and the other functions of the CEL specification; those of durations and timestamps are in `times`.

Upstream: cel-go common/stdlib/standard.go
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from schedviz.cel import types
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs, regular_expressions, work
from schedviz.cel.types import BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT, A, B, Type
from schedviz.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    TypeValue,
    Uint,
    divided,
    equal,
    equal_or_error,
    in_int,
    in_uint,
    keys,
    map_key,
    shown_number,
    type_name,
)

_NUMBERS = (INT, UINT, DOUBLE)
_UINT_DIGITS = 20


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "_==_", Overload((A, A), BOOL, equal_or_error, cost=costs.shorter, work=work.compared)
    yield "_!=_", Overload((A, A), BOOL, lambda first, second: not equal(first, second), cost=costs.shorter, work=work.compared)
    yield "!_", Overload((BOOL,), BOOL, operator.not_)
    for name in ("_&&_", "_||_"):
        yield name, Overload((BOOL, BOOL), BOOL, _computed_elsewhere)
    yield "_?_:_", Overload((BOOL, A, A), A, _computed_elsewhere)
    yield "@not_strictly_false", Overload((BOOL,), BOOL, _computed_elsewhere)
    yield from _indexing()
    yield from _comparisons()
    yield from _arithmetic()
    yield from _texts()
    yield from _conversions()


def _computed_elsewhere(*_arguments: Any) -> Any:
    raise AssertionError("the planner has a step of its own for this")


def _indexing() -> Iterator[tuple[str, Overload]]:
    yield "_[_]", Overload((types.list_of(A), INT), A, _computed_elsewhere)
    yield "_[_]", Overload((types.map_of(A, B), A), B, _computed_elsewhere)
    yield "@in", Overload((A, types.list_of(A)), BOOL, _is_in, cost=costs.elements(1), work=work.member)
    yield "@in", Overload((A, types.map_of(A, B)), BOOL, _is_key)
    for type_ in (STRING, BYTES, types.list_of(A), types.map_of(A, B)):
        yield "size", Overload((type_,), INT, len)
        yield "size", Overload((type_,), INT, len, is_member=True)
    yield "@mapInsert", Overload((types.map_of(A, B), A, B), types.map_of(A, B), _inserted, work=work.elements)
    entries = (types.map_of(A, B), types.map_of(A, B))
    yield "@mapInsert", Overload(entries, types.map_of(A, B), _all_inserted, work=work.each_with_each)


def _is_in(item: Any, items: Sequence[Any]) -> bool:
    return any(equal(item, element) for element in items)


def _is_key(key: Any, mapping: dict[Any, Any]) -> bool:
    try:
        return map_key(key) in mapping
    except CelError:
        # What cannot be a key is none.
        return False


def _inserted(mapping: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    stored_key = map_key(key)
    if stored_key in mapping:
        raise CelError(f"insert failed: key {key} already exists")
    return {**mapping, stored_key: value}


def _all_inserted(mapping: dict[Any, Any], entries: dict[Any, Any]) -> dict[Any, Any]:
    for key in keys(entries):
        mapping = _inserted(mapping, key, entries[map_key(key)])
    return mapping


def _comparisons() -> Iterator[tuple[str, Overload]]:
    for name, compare in (("_<_", operator.lt), ("_<=_", operator.le), ("_>_", operator.gt), ("_>=_", operator.ge)):
        yield name, Overload((BOOL, BOOL), BOOL, compare)
        for first in _NUMBERS:
            for second in _NUMBERS:
                yield name, Overload((first, second), BOOL, compare)
        for type_ in (STRING, BYTES):
            yield name, Overload((type_, type_), BOOL, compare, cost=costs.shorter)


def _arithmetic() -> Iterator[tuple[str, Overload]]:
    for name, compute in (("_+_", operator.add), ("_-_", operator.sub), ("_*_", operator.mul)):
        yield name, Overload((INT, INT), INT, _within(compute, in_int))
        yield name, Overload((UINT, UINT), UINT, _within(compute, in_uint))
        yield name, Overload((DOUBLE, DOUBLE), DOUBLE, compute)
    yield "_/_", Overload((INT, INT), INT, _within(_quotient, in_int))
    yield "_/_", Overload((UINT, UINT), UINT, _within(_quotient, in_uint))
    yield "_/_", Overload((DOUBLE, DOUBLE), DOUBLE, _float_quotient)
    yield "_%_", Overload((INT, INT), INT, _remainder)
    yield "_%_", Overload((UINT, UINT), UINT, _within(_remainder, in_uint))
    yield "-_", Overload((INT,), INT, lambda number: in_int(-number))
    yield "-_", Overload((DOUBLE,), DOUBLE, operator.neg)
    for type_ in (STRING, BYTES):
        yield "_+_", Overload((type_, type_), type_, operator.add, cost=costs.both)
    two = (types.list_of(A), types.list_of(A))
    yield "_+_", Overload(two, types.list_of(A), lambda first, second: (*first, *second), work=work.elements)


def _within(compute: Callable[[int, int], int], check: Callable[[int], int]) -> Callable[[int, int], int]:
    return lambda first, second: check(compute(int(first), int(second)))


def _quotient(first: int, second: int) -> int:
    if second == 0:
        raise CelError("division by zero")
    return divided(first, second)


def _float_quotient(first: float, second: float) -> float:
    if second:
        return first / second
    return math.nan if first == 0 or math.isnan(first) else math.copysign(math.inf, first) * math.copysign(1, second)


def _remainder(first: int, second: int) -> int:
    if second == 0:
        raise CelError("modulus by zero")
    return first - second * divided(first, second)


def _texts() -> Iterator[tuple[str, Overload]]:
    yield "startsWith", Overload((STRING, STRING), BOOL, str.startswith, is_member=True, cost=costs.traversal())
    yield "endsWith", Overload((STRING, STRING), BOOL, str.endswith, is_member=True, cost=costs.traversal())
    yield "contains", Overload((STRING, STRING), BOOL, operator.contains, is_member=True, cost=costs.searched)
    for is_member in (True, False):
        yield (
            "matches",
            Overload(
                (STRING, STRING),
                BOOL,
                regular_expressions.matches,
                is_member=is_member,
                cost=costs.matched,
                work=regular_expressions.match_work,
            ),
        )


def _conversions() -> Iterator[tuple[str, Overload]]:
    yield "dyn", Overload((A,), DYN, lambda value: value)
    yield "type", Overload((A,), types.type_of(A), lambda value: TypeValue(type_name(value)))
    yield from _each("int", INT, {INT: int, UINT: _int_of_number, DOUBLE: _int_of_double, STRING: _int_of_text})
    yield from _each("uint", UINT, {UINT: Uint, INT: _uint_of_number, DOUBLE: _uint_of_double, STRING: _uint_of_text})
    yield from _each("double", DOUBLE, {DOUBLE: float, INT: float, UINT: float, STRING: _double_of_text})
    yield from _each("bool", BOOL, {BOOL: bool, STRING: _bool_of_text})
    yield from _each("bytes", BYTES, {BYTES: bytes, STRING: str.encode})
    texts: dict[Type, Callable[[Any], Any]] = {
        STRING: str,
        INT: str,
        UINT: str,
        DOUBLE: shown_number,
        BOOL: lambda value: "true" if value else "false",
        BYTES: _text_of_bytes,
    }
    yield from _each("string", STRING, texts)


def _each(name: str, result: Type, conversions: dict[Type, Callable[[Any], Any]]) -> Iterator[tuple[str, Overload]]:
    for argument, convert in conversions.items():
        yield name, Overload((argument,), result, convert)


def _int_of_number(number: int) -> int:
    return in_int(int(number))


def _int_of_double(number: float) -> int:
    if not MIN_INT < number < MAX_INT:
        raise CelError("integer overflow")
    return int(number)


def _not_from_text(type_: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{type_}'")


def _int_of_text(text: str) -> int:
    try:
        return in_int(int(text)) if text.isascii() and "_" not in text and text == text.strip() else int("?")
    except (ValueError, CelError):
        raise _not_from_text("int") from None


def _uint_of_number(number: int) -> Uint:
    return in_uint(number)


def _uint_of_double(number: float) -> Uint:
    if not 0 <= number < 2**64:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def _uint_of_text(text: str) -> Uint:
    if not (text.isascii() and text.isdigit()):
        raise _not_from_text("uint")
    digits = text.lstrip("0")
    if len(digits) > _UINT_DIGITS or int(digits or "0") > MAX_UINT:
        raise _not_from_text("uint")
    return Uint(int(digits or "0"))


def _double_of_text(text: str) -> float:
    try:
        number = float(text) if text.isascii() and "_" not in text and text == text.strip() else float("?")
    except ValueError:
        raise _not_from_text("double") from None
    if math.isinf(number) and "inf" not in text.lower():
        raise _not_from_text("double")
    return number


_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def _bool_of_text(text: str) -> bool:
    if text not in _BOOLS:
        raise _not_from_text("bool")
    return _BOOLS[text]


def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
