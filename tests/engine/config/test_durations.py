"""Durations in Go's format."""

from __future__ import annotations

import pytest

from schedviz.engine.config.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds"), [("1m30s", 90 * 10**9), ("-1.5h", -5400 * 10**9), (".5us", 500), ("0", 0), ("+2ms", 2 * 10**6)]
)
def test_a_duration_is_parsed_to_nanoseconds(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "s", "1.2.3", "\u0661s", "1\u0662s"])
def test_a_number_that_go_does_not_parse_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^time: (invalid|unknown unit|missing unit)"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("90s", "1m30s"), ("1.5h", "1h30m0s"), ("-20ms", "-20ms"), ("1500us", "1.5ms"), ("3ns", "3ns"), ("1h2m3.5s", "1h2m3.5s"), ("0", "0s")],
)
def test_durations_are_formatted_as_in_go(text: str, shown: str) -> None:
    assert format_duration(parse_duration(text)) == shown
