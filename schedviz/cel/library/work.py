"""How much calls go through: what the costs of the API server do not bound, and what is computed before a cost can be counted.

Upstream's values share their parts (a list that is a sum of two lists refers to both), and Go goes through them a hundred times as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from schedviz.cel.program import MAX_WORK
from schedviz.cel.values import Optional

#: Characters that count as one element.
_CHARACTERS: Final = 10


def parts(value: Any, most: int = MAX_WORK) -> int:
    """The values in a value and itself, counted as often as they occur; not much more than `most`."""
    if not isinstance(value, tuple | list | Mapping | Optional):
        return 1
    count, inside = 0, [value]
    while inside and count <= most:
        one = inside.pop()
        count += 1
        if isinstance(one, tuple | list):
            count += _add(inside, one)
        elif isinstance(one, Mapping):
            count += _add(inside, one.values())
        elif isinstance(one, Optional) and one.has_value:
            inside.append(one.value)
    return count


def _add(inside: list[Any], values: Any) -> int:
    """Add the values that contain others; returns the number of the remaining ones."""
    nested = [value for value in values if isinstance(value, tuple | list | Mapping | Optional)]
    inside.extend(nested)
    return len(values) - len(nested)


def compared(arguments: Sequence[Any]) -> int:
    """Of comparing two values."""
    first, second = arguments
    least = parts(first)
    return min(least, parts(second, least))


def found(arguments: Sequence[Any]) -> int:
    """Of looking for a value, the second argument, in a list."""
    items, item = arguments
    return len(items) * parts(item)


def member(arguments: Sequence[Any]) -> int:
    """Of looking for a value, the first argument, in a list."""
    return found((arguments[1], arguments[0]))


def each_with_each(arguments: Sequence[Any]) -> int:
    """Of comparing the elements of a list with those of another one, or with each other."""
    return parts(arguments[0]) * max(1, len(arguments[-1]))


def everything(arguments: Sequence[Any]) -> int:
    """Of going through a list and the lists in it."""
    return parts(arguments[0])


def elements(arguments: Sequence[Any]) -> int:
    """Of going through lists or maps."""
    return sum(len(argument) for argument in arguments if isinstance(argument, tuple | list | Mapping))


def replaced(arguments: Sequence[Any]) -> int:
    """Of replacing parts of a text."""
    text, old, new = arguments[:3]
    characters: int = len(text) + text.count(old) * len(new)
    return characters // _CHARACTERS


def joined(arguments: Sequence[Any]) -> int:
    """Of building a text from parts."""
    texts = arguments[0]
    between = len(arguments[1]) if len(arguments) > 1 else 0
    return len(texts) + sum(len(text) + between for text in texts if isinstance(text, str)) // _CHARACTERS


def split(arguments: Sequence[Any]) -> int:
    """Of splitting a text."""
    return len(arguments[0])
