"""RFC 3339 times and seconds."""

import pytest

from schedviz.kube.timestamps import format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-01-01T00:00:00Z", 1704067200.0),
        ("2024-01-01T01:00:00+01:00", 1704067200.0),
        ("2024-01-01T00:00:00.250000Z", 1704067200.25),
        ("1970-01-01T00:00:00Z", 0.0),
    ],
)
def test_a_time_is_seconds_since_1970(text, seconds):
    assert parse_timestamp(text) == seconds


@pytest.mark.parametrize("text", ["", "yesterday", "2024-01-01", "2024-01-01T00:00:00", "2024-13-01T00:00:00Z", "2024-01-01 00:00:00Z"])
def test_other_forms_of_times_are_refused(text):
    with pytest.raises(ValueError, match=r"is not an RFC 3339 time"):
        parse_timestamp(text)


@pytest.mark.parametrize(("seconds", "text"), [(2**63, "9999-12-31T23:59:59Z"), (-(2**63), "0001-01-01T00:00:00Z")])
def test_a_time_that_the_format_cannot_write_becomes_its_first_or_last_one(seconds, text):
    assert format_timestamp(seconds) == text
    assert format_timestamp(parse_timestamp(text)) == text


def test_seconds_are_cut_to_whole_ones_when_written():
    assert format_timestamp(1704067200.999) == "2024-01-01T00:00:00Z"
    assert parse_timestamp(format_timestamp(1704067261)) == 1704067261
