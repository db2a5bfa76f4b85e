"""Where two values of JSON differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from schedviz.trace.comparing.result import Difference

#: Stands for a member that is not there.
ABSENT = None


def differences(a: Any, b: Any, *, most: int = 50) -> list[Difference]:
    """The innermost members that differ, in order, at most so many. Paths are as in `profiles[0].plugins`."""
    found: list[Difference] = []
    for one in _walk(a, b, ""):
        found.append(one)
        if len(found) == most:
            break
    return found


def _walk(a: Any, b: Any, path: str) -> Iterator[Difference]:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in [*a, *(name for name in b if name not in a)]:
            yield from _walk(a.get(name, ABSENT), b.get(name, ABSENT), f"{path}.{name}" if path else str(name))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _walk(one, other, f"{path}[{index}]")
    elif a != b:
        yield Difference(path, a, b)
