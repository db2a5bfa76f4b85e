"""How deep JSON is nested."""

from __future__ import annotations

from typing import Any

import pytest

from schedviz.kube.nesting import NESTING_DEPTH, is_nested_deeper


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [0, value] if level % 2 else {"a": value, "b": 1}
    return value


@pytest.mark.parametrize("value", [1, "[[[[", [], {}, nested(NESTING_DEPTH)])
def test_nesting_within_the_limit_is_accepted(value: Any) -> None:
    assert not is_nested_deeper(value)


@pytest.mark.parametrize("levels", [NESTING_DEPTH + 1, 100_000])
def test_deeper_nesting_is_found_at_any_depth(levels: int) -> None:
    assert is_nested_deeper(nested(levels))
