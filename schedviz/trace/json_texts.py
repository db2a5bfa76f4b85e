"""Changes the texts of JSON values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value, each text and key of which is what `change` makes of it. Tuples become lists."""
    match value:
        case str():
            return change(value)
        case dict():
            return {with_texts(key, change): with_texts(member, change) for key, member in value.items()}
        case list() | tuple():
            return [with_texts(item, change) for item in value]
    return value
