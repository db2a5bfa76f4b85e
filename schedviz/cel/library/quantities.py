"""Kubernetes quantities. Upstream: apiserver/pkg/cel/library/quantity.go, apiserver/pkg/cel/quantity.go"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schedviz.cel import declarations, types, values
from schedviz.cel.declarations import Overload
from schedviz.cel.errors import CelError
from schedviz.cel.library import costs
from schedviz.cel.types import BOOL, DOUBLE, INT, STRING
from schedviz.cel.values import MAX_INT, MIN_INT
from schedviz.kube.quantity import Quantity, QuantityError, of_int, parse

QUANTITY: Final = types.opaque("kubernetes.Quantity")
#: Upstream: quantity.go ErrFormatWrong
_MALFORMED: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
declarations.add_class(QUANTITY.name, Quantity)
values.add_value_class(Quantity, QUANTITY.name, lambda first, second: first.compare(second) == 0, is_strict=True)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "quantity", Overload((STRING,), QUANTITY, _parsed, cost=costs.traversal())
    yield "isQuantity", Overload((STRING,), BOOL, _is_quantity, cost=costs.traversal())
    yield "sign", Overload((QUANTITY,), INT, lambda quantity: (quantity.unscaled > 0) - (quantity.unscaled < 0))
    two = (QUANTITY, QUANTITY)
    yield "isGreaterThan", Overload(two, BOOL, lambda first, second: first.compare(second) > 0, is_member=True)
    yield "isLessThan", Overload(two, BOOL, lambda first, second: first.compare(second) < 0, is_member=True)
    yield "compareTo", Overload(two, INT, Quantity.compare, is_member=True)
    yield "asApproximateFloat", Overload((QUANTITY,), DOUBLE, _as_float, is_member=True)
    yield "asInteger", Overload((QUANTITY,), INT, _as_integer, is_member=True)
    yield "isInteger", Overload((QUANTITY,), BOOL, lambda quantity: _integer(quantity) is not None, is_member=True)
    yield "add", Overload(two, QUANTITY, Quantity.plus, is_member=True)
    yield "add", Overload((QUANTITY, INT), QUANTITY, lambda first, second: first.plus(_of_int(second)), is_member=True)
    yield "sub", Overload(two, QUANTITY, Quantity.minus, is_member=True)
    yield "sub", Overload((QUANTITY, INT), QUANTITY, lambda first, second: first.minus(_of_int(second)), is_member=True)


def _parsed(text: str) -> Quantity:
    try:
        return parse(text)
    except QuantityError:
        raise CelError(_MALFORMED) from None


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _of_int(number: int) -> Quantity:
    return of_int(number, "DecimalExponent")


def _as_float(quantity: Quantity) -> float:
    amount: float = float(f"{quantity.unscaled}e{quantity.exponent}")
    return amount


def _integer(quantity: Quantity) -> int | None:
    """The amount, if it is whole and an int64. Upstream: quantity.go AsInt64"""
    if quantity.is_big:
        return None
    if quantity.exponent < 0:
        whole, rest = divmod(quantity.unscaled, 10**-quantity.exponent)
        return None if rest else whole
    number: int = quantity.unscaled * 10**quantity.exponent
    return number if MIN_INT <= number <= MAX_INT else None


def _as_integer(quantity: Quantity) -> int:
    number = _integer(quantity)
    if number is None:
        raise CelError("cannot convert value to integer")
    return number
