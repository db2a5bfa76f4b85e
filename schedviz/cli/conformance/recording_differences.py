"""Compares two observations of one trace: a recording of the real scheduler, and the engine's.

The rules are those of the comparison script that accompanies the recordings. Two runs agree if every step's `observed` is equal, where

- absent, null, empty, zero and false are equal;
- recorded fractions may differ by less than a millionth;
- generations are compared by their rank within a step, because dry runs on clones may consume any number of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

_ABSENT = "<absent>"
_TOLERANCE = 1e-6
_MAX_SHOWN_CHARACTERS = 160


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the differences between two recorded documents, in the order of the steps; empty if they agree.

    The sentences are those of tests/conformance/compare.py, to which a test holds them.
    """
    if bool(expected.get("error")) != bool(actual.get("error")):
        yield f"error: {_short(expected.get('error'))} expected, {_short(actual.get('error'))} found"
    left, right = expected.get("steps") or [], actual.get("steps") or []
    if len(left) != len(right):
        yield f"steps: {len(left)} expected, {len(right)} found"
    for index, (left_item, right_item) in enumerate(zip(left, right, strict=False)):
        recorded, observed = _ranked(left_item.get("observed") or {}), _ranked(right_item.get("observed") or {})
        if recorded != observed:
            for difference in _between(recorded, observed, ""):
                yield f"step {index} ({left_item.get('op')}): {difference}"


def _between(expected: Any, actual: Any, path: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            yield from _between(expected.get(key, _ABSENT), actual.get(key, _ABSENT), f"{path}.{key}" if path else key)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: {len(expected)} items expected, {len(actual)} found: {_short(expected)} != {_short(actual)}"
            return
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from _between(left, right, f"{path}[{index}]")
    elif not (expected == actual or (_blank(expected) and _blank(actual)) or _near(expected, actual)):
        yield f"{path}: {_short(expected)} expected, {_short(actual)} found"


def _blank(value: Any) -> bool:
    return value is _ABSENT or not value


def _near(expected: Any, actual: Any) -> bool:
    return isinstance(expected, float) and isinstance(actual, (int, float)) and abs(expected - actual) < _TOLERANCE


def _short(value: Any) -> str:
    text: str = value if value is _ABSENT else json.dumps(value, sort_keys=True)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[: _MAX_SHOWN_CHARACTERS - 3] + "..."


def _ranked(observed: dict[str, Any]) -> dict[str, Any]:
    """A copy of the step with every generation replaced by its rank within the step."""
    cache, snapshot = observed.get("cache") or {}, observed.get("snapshot") or {}
    items, numbers = cache.get("list") or [], snapshot.get("nodeGenerations") or {}
    generations = {0, snapshot.get("generation") or 0, *(item.get("generation", 0) for item in items)}
    generations.update(numbers.values() if isinstance(numbers, dict) else numbers)
    rank = {number: index for index, number in enumerate(sorted(generations))}
    ranked = {**observed}
    if items:
        ranked["cache"] = {**cache, "list": [{**item, "generation": rank[item.get("generation", 0)]} for item in items]}
    if snapshot:
        ranked["snapshot"] = {**snapshot, "generation": rank[snapshot.get("generation") or 0]}
        if numbers and isinstance(numbers, dict):
            ranked["snapshot"]["nodeGenerations"] = {name: rank[number] for name, number in numbers.items()}
        elif numbers:
            ranked["snapshot"]["nodeGenerations"] = [rank[number] for number in numbers]
    return ranked
