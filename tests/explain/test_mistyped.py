"""Which words are typos of others."""

from __future__ import annotations

import pytest

from schedviz.explain.mistyped import is_mistyped


@pytest.mark.parametrize(
    ("value", "meant", "is_typo"),
    [
        ("memroy", "memory", True),
        ("general-purpse", "general-purpose", True),
        ("Memory", "memory", True),
        ("team-a", "team-b", False),
        ("pool1", "pool2", False),
        ("prod-eu", "prod-us", False),
        ("nvme", "hdd", False),
        ("sdd", "ssd", True),
        ("gup", "gpu", True),
        ("cpu", "gpu", False),
    ],
)
def test_a_value_is_mistyped_if_a_word_differs_in_one_letter(value: str, meant: str, *, is_typo: bool) -> None:
    assert is_mistyped(value, meant) is is_typo
