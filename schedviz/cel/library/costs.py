"""What calls cost. Upstream: cel-go interpreter/runtimecost.go costCall, apiserver/pkg/cel/library/cost.go CallCost"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from schedviz.cel.declarations import Cost
from schedviz.cel.values import size_of

#: For each character, and for each character of a regular expression.
_TRAVERSAL: Final = 0.1
_REGEX: Final = 0.25


def traversal(times: int = 1) -> Cost:
    """Of going through the first argument."""

    def cost(arguments: Sequence[Any], _result: Any) -> int:
        return math.ceil(size_of(arguments[0]) * times * _TRAVERSAL)

    return cost


def of_length(length: int) -> int:
    """The cost of traversing this many characters or bytes."""
    return math.ceil(length * _TRAVERSAL)


def replaced(arguments: Sequence[Any], result: Any) -> int:
    """Of replacing parts of a text. Deviation: a result that is much longer costs more than upstream's fixed amount."""
    return max(math.ceil(size_of(arguments[0]) * 2 * _TRAVERSAL), size_of(result) // 100)


def result_elements(arguments: Sequence[Any], result: Any) -> int:
    """One for each element of the result, at least one. Deviation: upstream takes one for the call."""
    del arguments
    return max(1, size_of(result))


def of_result(arguments: Sequence[Any], result: Any) -> int:
    """Of building a text from parts."""
    del arguments
    return math.ceil(size_of(result) * 2 * _TRAVERSAL)


def shorter(arguments: Sequence[Any], _result: Any) -> int:
    """Of comparing two values."""
    return math.ceil(min(map(size_of, arguments)) * _TRAVERSAL)


def both(arguments: Sequence[Any], _result: Any) -> int:
    """Of copying two texts."""
    return math.ceil(sum(map(size_of, arguments)) * _TRAVERSAL)


def searched(arguments: Sequence[Any], _result: Any) -> int:
    """Of searching one text in another."""
    return math.ceil(size_of(arguments[0]) * _TRAVERSAL) * math.ceil(size_of(arguments[1]) * _TRAVERSAL)


def matched(arguments: Sequence[Any], _result: Any) -> int:
    """Of a regular expression."""
    return math.ceil((1 + size_of(arguments[0])) * _TRAVERSAL) * math.ceil(size_of(arguments[1]) * _REGEX)


def elements(index: int) -> Cost:
    """One for each element of an argument."""

    def cost(arguments: Sequence[Any], _result: Any) -> int:
        return size_of(arguments[index])

    return cost


def square(arguments: Sequence[Any], _result: Any) -> int:
    """Of comparing each element with each. Deviation: upstream takes one for the call."""
    return max(1, size_of(arguments[0]) ** 2)


def product(times: int = 1) -> Cost:
    """Of comparing each element of one list with each of another."""

    def cost(arguments: Sequence[Any], _result: Any) -> int:
        return 1 + times * size_of(arguments[0]) * size_of(arguments[1])

    return cost
