"""Go's durations: `1m30s` as nanoseconds, and back. Upstream: Go's time.ParseDuration, Duration.String"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

_UNITS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_NUMBER_AND_UNIT: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)")


def parse_duration(text: str) -> int:
    """Nanoseconds. Raises `ValueError` with Go's message."""
    bare = text[1:] if text[:1] in ("-", "+") else text
    if bare == "0":
        return 0
    if not bare:
        raise ValueError(f'time: invalid duration "{text}"')
    total = Decimal(0)
    end = 0
    while end < len(bare):
        match = _NUMBER_AND_UNIT.match(bare, end)
        if match is None:
            raise ValueError(f'time: invalid duration "{text}"')
        number, unit = match.groups()
        if not unit:
            raise ValueError(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise ValueError(f'time: unknown unit "{unit}" in duration "{text}"')
        total += Decimal(number) * _UNITS[unit]
        end = match.end()
    nanoseconds = int(total)
    if nanoseconds >= 1 << 63:
        raise ValueError(f'time: invalid duration "{text}"')
    return -nanoseconds if text[0] == "-" else nanoseconds


def format_duration(nanoseconds: int) -> str:
    """The duration in Go's format: `1h0m0s`, `1.5s`, `20ms`."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if rest < size * 1000 and rest < 10**9:
            return f"{sign}{_fraction(rest, size)}{unit}"
    minutes, seconds = divmod(rest, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_fraction(seconds, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _fraction(amount: int, size: int) -> str:
    whole, part = divmod(amount, size)
    digits = str(part).rjust(len(str(size)) - 1, "0").rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
