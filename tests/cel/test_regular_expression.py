"""Regular expressions in linear time: they find what Python's `re` finds, and no pattern makes them slow."""

from __future__ import annotations

import re

import pytest

from schedviz.cel.regular_expression import PatternError, RegularExpression

PATTERNS = [
    *("a+", "(a|ab)(c|bcd)", "^a.*b$", "[^a]?sym", "(?i)HeL+o", r"\d{2,3}", "x*", "(a*)+b", r"\bfoo\b", r"[a-c\d-]+", "a{2}"),
    *("(?:ab)*?c", "", "a|", "[]a]+", "[^]]", r"\x41+", "(?s)a.b", "a??b", "(a|b)*abb", r"(?m)^b", r"\w+\s\W?", "a{,2}", "a{1,}b"),
]
TEXTS = ["", "abcd", "aab", "aaab", "hello HELLO", "12 345", "foo bar", "sym asym", "a\nb", "]a]", "AA", "ababab c", "abb aabb", "a{,2}"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_first_match_is_that_of_a_backtracking_search(pattern: str) -> None:
    # Python reads `{,2}` as a repetition, RE2 as text.
    reference = re.compile(pattern.replace("{,", r"\{,"), re.ASCII)

    for text in TEXTS:
        match = reference.search(text)
        assert RegularExpression(pattern).find(text) == (None if match is None else match.span()), text


def test_named_classes_and_positions_are_known() -> None:
    assert RegularExpression(r"\A[[:alpha:]_]+[[:^digit:]]\z").find("ab_c") == (0, 4)
    assert RegularExpression(r"\A[[:alpha:]]+\z").find("ab1") is None


def test_all_matches_are_found_from_left_to_right() -> None:
    assert list(RegularExpression("[0-9]+").find_all("a12b3")) == [(1, 3), (4, 5)]


def test_a_pattern_with_exponential_backtracking_elsewhere_takes_few_steps() -> None:
    # With backtracking, this takes longer than the age of the universe.
    assert RegularExpression("(a+)+$").find("a" * 200 + "b") is None
    assert RegularExpression("(a|aa)*c").find("a" * 200) is None


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("[a", "missing closing ]: `[a`"),
        ("*a", "missing argument to repetition operator: `*`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        ("(?x)a", "invalid or unsupported Perl syntax: `(?x`"),
        ("a{2000}", "invalid repeat count: `{2000}`"),
        ("(a{1000}){1000}", "expression too large"),
    ],
)
def test_expressions_that_re2_refuses_are_rejected(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        RegularExpression(pattern)
    assert str(caught.value) == message
