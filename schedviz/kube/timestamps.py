"""Converts between RFC 3339 timestamps, as Kubernetes writes them, and seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache

_SHAPE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017  (the alias is not known to every reader)
#: The first and the last second that RFC 3339 can write: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
_FIRST_SECOND = -62_135_596_800
_LAST_SECOND = 253_402_300_799


@lru_cache(maxsize=65_536)
def parse_timestamp(text: str) -> float:
    """Seconds since 1970 (UTC). Raises ValueError if it is not an RFC 3339 time."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not an RFC 3339 time such as 2024-01-01T00:00:00Z')
    try:
        moment = datetime.fromisoformat(text[:19] + ("+00:00" if match[2] == "Z" else match[2]))
    except ValueError as error:
        raise ValueError(f'"{text}" is not an RFC 3339 time: {error}') from None
    return (moment - _EPOCH).total_seconds() + float(match[1] or 0)


def format_timestamp(seconds: float) -> str:
    """The time in the API's format, truncated to whole seconds: `2024-01-01T00:00:00Z`. A time outside the years 1 to 9999 becomes
    the first or the last one that the format has.
    """
    return _text(int(seconds // 1))


@lru_cache(maxsize=1024)
def _text(seconds: int) -> str:
    """Cached, because many events have the same second and formatting takes 5 µs."""
    return (_EPOCH + timedelta(seconds=min(max(seconds, _FIRST_SECOND), _LAST_SECOND))).replace(tzinfo=None).isoformat() + "Z"
