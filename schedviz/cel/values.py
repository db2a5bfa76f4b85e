"""Values at run time: Python's own where they behave as CEL's, and classes for the others. Upstream: cel-go common/types

| CEL | Python |
|---|---|
| bool, int, double, string, bytes, null | bool, int, float, str, bytes, None |
| uint | `Uint` |
| list | tuple or list |
| map | dict with `map_key` of the keys |
| optional | `Optional` |
| type | `TypeValue` |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from schedviz.cel.errors import CelError

MAX_INT: Final = (1 << 63) - 1
MIN_INT: Final = -(1 << 63)
MAX_UINT: Final = (1 << 64) - 1


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


class Optional:
    """A value that may be absent. `Optional.NONE` is absent."""

    __slots__ = ("_has_value", "_value")
    NONE: Optional

    def __init__(self, value: Any = None, *, has_value: bool = True) -> None:
        self._value = value
        self._has_value = has_value

    @property
    def has_value(self) -> bool:
        """Whether there is a value."""
        return self._has_value

    @property
    def value(self) -> Any:
        """The value. Raises `CelError`."""
        if not self._has_value:
            raise CelError("optional.none() dereference")
        return self._value


Optional.NONE = Optional(has_value=False)


class TypeValue:
    """A type as a value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class DefaultMap(dict[Any, Any]):
    """A map in which every key has a value: an empty map where there is no other."""

    EMPTY: Final[Mapping[str, Any]] = {}


_BOOL_KEYS: Final = {True: ("bool", True), False: ("bool", False)}

#: Classes of values that come from libraries, and the names of their types.
_NAMES: dict[type, str] = {
    bool: "bool",
    Uint: "uint",
    int: "int",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    dict: "map",
    DefaultMap: "map",
    tuple: "list",
    list: "list",
    Optional: "optional_type",
    TypeValue: "type",
}
_EQUALITIES: dict[type, Callable[[Any, Any], bool]] = {}
#: Classes whose values can be compared with their own kind and with null only.
_STRICT: set[type] = set()


def add_value_class(cls: type, name: str, equal: Callable[[Any, Any], bool], *, is_strict: bool = False) -> None:
    """Make values of a class known, with the name of their type. `is_strict`: comparing one with another type's value is an error."""
    _NAMES[cls] = name
    _EQUALITIES[cls] = equal
    if is_strict:
        _STRICT.add(cls)


def type_name(value: Any) -> str:
    """The name of a value's type."""
    return _NAMES[type(value)]


def is_number(value: Any) -> bool:
    """Whether it is an int, a uint or a double."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def map_key(value: Any) -> Any:
    """What stands for a key in a dict: True must not be 1. Raises `CelError` for what cannot be a key."""
    if isinstance(value, bool):
        return _BOOL_KEYS[value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str | int):
        return value
    raise CelError(f"unsupported key type: {type_name(value)}")


def keys(mapping: Mapping[Any, Any]) -> Iterator[Any]:
    """The keys of a map as values."""
    return (key[1] if isinstance(key, tuple) else key for key in mapping)


def equal(first: Any, second: Any) -> bool:
    """Whether two values are equal; values of different types are not, but numbers are compared by amount."""
    return bool(_equality(first, second))


def equal_or_error(first: Any, second: Any) -> bool:
    """Whether two values are equal. Raises `CelError` if the first cannot be compared with the second."""
    result = _equality(first, second)
    if result is None:
        raise CelError("no such overload")
    return result


def _is_possibly_equal(first: Any, second: Any) -> bool:
    # As upstream, elements that cannot be compared do not make lists and maps differ.
    return _equality(first, second) is not False


def _equality(first: Any, second: Any) -> bool | None:
    """Whether two values are equal; None: the first cannot be compared with the second. Upstream: cel-go common/types/util.go Equal"""
    if is_number(first) and is_number(second):
        return bool(first == second)
    if isinstance(first, Sequence) and not isinstance(first, str | bytes):
        return (
            isinstance(second, Sequence)
            and not isinstance(second, str | bytes)
            and len(first) == len(second)
            and all(map(_is_possibly_equal, first, second))
        )
    if isinstance(first, Mapping):
        return (
            isinstance(second, Mapping)
            and len(first) == len(second)
            and all(key in second and _is_possibly_equal(value, second[key]) for key, value in first.items())
        )
    if isinstance(first, Optional):
        if not isinstance(second, Optional) or first.has_value != second.has_value:
            return False
        return not first.has_value or _equality(first.value, second.value)
    if type(first) is not type(second):
        is_comparable = type(first) not in _STRICT or second is None or type_name(first) == type_name(second)
        return False if is_comparable else None
    compare = _EQUALITIES.get(type(first))
    return bool(first == second) if compare is None else compare(first, second)


def shown_key(key: Any) -> str:
    """A key as error messages show it."""
    if isinstance(key, bool):
        return str(key).lower()
    return str(key)


def in_int(number: int) -> int:
    """The number. Raises `CelError` outside the range of int."""
    if not MIN_INT <= number <= MAX_INT:
        raise CelError("integer overflow")
    return number


def in_uint(number: int) -> Uint:
    """The number. Raises `CelError` outside the range of uint."""
    if not 0 <= number <= MAX_UINT:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def divided(first: int, second: int) -> int:
    """The quotient, cut towards zero."""
    quotient = abs(first) // abs(second)
    return quotient if (first < 0) == (second < 0) else -quotient


def shown_number(value: float) -> str:
    """A double as `string()` gives it. Upstream: strconv.FormatFloat(f, 'f', -1, 64)"""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    text = repr(value)
    if "e" in text:
        text = f"{value:.0f}" if abs(value) >= 1 else f"{value:.20f}".rstrip("0")
    return text.removesuffix(".0")


def size_of(value: Any) -> int:
    """The size of a value for costs: its characters or elements, or 1 for other values."""
    if isinstance(value, Optional) and value.has_value:
        return size_of(value.value)
    if isinstance(value, str | bytes | Sequence | Mapping):
        return len(value)
    return 1
