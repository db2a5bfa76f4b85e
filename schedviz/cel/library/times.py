"""Durations and timestamps. Upstream: cel-go common/stdlib/standard.go, common/types/duration.go, common/types/timestamp.go"""

from __future__ import annotations

import datetime as dt
import operator
import re
import zoneinfo
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

import msgspec

from schedviz.cel import types
from schedviz.cel.declarations import Overload, add_class
from schedviz.cel.errors import CelError
from schedviz.cel.types import BOOL, INT, STRING, Type
from schedviz.cel.values import MAX_INT, MIN_INT, add_value_class, in_int, shown_number

DURATION: Final = types.opaque("google.protobuf.Duration")
TIMESTAMP: Final = types.opaque("google.protobuf.Timestamp")

_SECOND: Final = 1_000_000_000
_UNITS: Final = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE: Final = re.compile(rf"[-+]?(?:0|(?:{_PART.pattern})+)")
_RFC3339: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)")
#: Seconds since 1970 of the first and the last second of the years 1 to 9999.
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Duration(msgspec.Struct, frozen=True, order=True):
    """A span of time."""

    nanoseconds: int

    def __str__(self) -> str:
        return f"{shown_number(self.nanoseconds / _SECOND)}s"


class Timestamp(msgspec.Struct, frozen=True, order=True):
    """A moment. `offset`: the seconds east of UTC with which it was written; it does not matter for comparisons."""

    nanoseconds: int
    offset: int = 0

    def at(self, offset: int) -> dt.datetime:
        """Date and time of day at an offset, without fractions of a second."""
        return _EPOCH.replace(tzinfo=None) + dt.timedelta(seconds=self.nanoseconds // _SECOND + offset)

    def __str__(self) -> str:
        fraction = f".{self.nanoseconds % _SECOND:09}".rstrip("0") if self.nanoseconds % _SECOND else ""
        hours, minutes = divmod(abs(self.offset) // 60, 60)
        zone = f"{'-' if self.offset < 0 else '+'}{hours:02}:{minutes:02}" if self.offset else "Z"
        return f"{self.at(self.offset).isoformat()}{fraction}{zone}"


def parse_duration(text: str) -> Duration | None:
    """The duration that a text spells; None: none. Upstream: Go's time.ParseDuration"""
    if not _WHOLE.fullmatch(text):
        return None
    parts = ((Fraction(f"0{number}" if number[0] == "." else number), _UNITS[unit]) for number, unit in _PART.findall(text))
    amount = sum((number * unit for number, unit in parts), Fraction())
    total = int(amount) * (-1 if text.startswith("-") else 1)
    return Duration(total) if MIN_INT <= total <= MAX_INT else None


def parse_timestamp(text: str) -> Timestamp | None:
    """The timestamp that a text in the format of RFC 3339 spells; None: none. Raises `CelError` outside the years 1 to 9999."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    *numbers, fraction, zone = match.groups()
    offset = 0 if zone == "Z" else (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60) * (-1 if zone[0] == "-" else 1)
    if numbers[0] == "0000":
        raise CelError("timestamp overflow")
    try:
        year, month, day, hour, minute, second = map(int, numbers)
        moment = dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // dt.timedelta(seconds=1) - offset
    return _timestamp(seconds * _SECOND + int(f"{fraction or '':0<9}"[:9]), offset)


def functions() -> Iterator[tuple[str, Overload]]:
    """Every overload with the name of its function."""
    yield "duration", Overload((DURATION,), DURATION, lambda value: value)
    yield "duration", Overload((INT,), DURATION, lambda _: _cannot("int", DURATION))
    yield "duration", Overload((STRING,), DURATION, lambda text: parse_duration(text) or _cannot("string", DURATION))
    yield "timestamp", Overload((TIMESTAMP,), TIMESTAMP, lambda value: value)
    yield "timestamp", Overload((INT,), TIMESTAMP, lambda seconds: _timestamp(seconds * _SECOND))
    yield "timestamp", Overload((STRING,), TIMESTAMP, lambda text: parse_timestamp(text) or _cannot("string", TIMESTAMP))
    yield "int", Overload((DURATION,), INT, lambda value: value.nanoseconds)
    yield "int", Overload((TIMESTAMP,), INT, lambda value: value.nanoseconds // _SECOND)
    for type_ in (DURATION, TIMESTAMP):
        yield "string", Overload((type_,), STRING, str)
    yield from _operators()
    yield from _parts()


def _operators() -> Iterator[tuple[str, Overload]]:
    for name, compare in (("_<_", operator.lt), ("_<=_", operator.le), ("_>_", operator.gt), ("_>=_", operator.ge)):
        for type_ in (DURATION, TIMESTAMP):
            yield name, Overload((type_, type_), BOOL, _compared(compare))
    yield "_+_", Overload((DURATION, DURATION), DURATION, lambda first, other: _duration(first.nanoseconds + other.nanoseconds))
    yield "_+_", Overload((DURATION, TIMESTAMP), TIMESTAMP, lambda span, moment: _shifted(moment, span.nanoseconds))
    yield "_+_", Overload((TIMESTAMP, DURATION), TIMESTAMP, lambda moment, span: _shifted(moment, span.nanoseconds))
    yield "_-_", Overload((DURATION, DURATION), DURATION, lambda first, other: _duration(first.nanoseconds - other.nanoseconds))
    yield "_-_", Overload((TIMESTAMP, DURATION), TIMESTAMP, lambda moment, span: _shifted(moment, -span.nanoseconds))
    yield "_-_", Overload((TIMESTAMP, TIMESTAMP), DURATION, lambda first, other: Duration(in_int(first.nanoseconds - other.nanoseconds)))
    yield "-_", Overload((DURATION,), DURATION, lambda span: _duration(-span.nanoseconds))


def _compared(compare: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda first, other: compare(first.nanoseconds, other.nanoseconds)


_DATE: Final[dict[str, Callable[[dt.datetime], int]]] = {
    "getFullYear": lambda time: time.year,
    "getMonth": lambda time: time.month - 1,
    "getDayOfYear": lambda time: time.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda time: time.day - 1,
    "getDate": lambda time: time.day,
    "getDayOfWeek": lambda time: (time.weekday() + 1) % 7,
    "getHours": lambda time: time.hour,
    "getMinutes": lambda time: time.minute,
    "getSeconds": lambda time: time.second,
}
_SPANS: Final = {"getHours": 3600 * _SECOND, "getMinutes": 60 * _SECOND, "getSeconds": _SECOND, "getMilliseconds": 1_000_000}


def _parts() -> Iterator[tuple[str, Overload]]:
    for name, part in _DATE.items():
        yield name, Overload((TIMESTAMP,), INT, _part(part), is_member=True)
        yield name, Overload((TIMESTAMP, STRING), INT, _part(part), is_member=True)
    for types_ in ((TIMESTAMP,), (TIMESTAMP, STRING)):
        yield "getMilliseconds", Overload(types_, INT, _milliseconds, is_member=True)
    for name, unit in _SPANS.items():
        yield name, Overload((DURATION,), INT, _whole(unit), is_member=True)


def _part(part: Callable[[dt.datetime], int]) -> Callable[..., int]:
    return lambda moment, zone="UTC": part(moment.at(_offset(zone, moment)))


def _milliseconds(moment: Timestamp, zone: str = "UTC") -> int:
    _offset(zone, moment)
    return moment.nanoseconds % _SECOND // 1_000_000


def _whole(unit: int) -> Callable[[Duration], int]:
    return lambda span: abs(span.nanoseconds) // unit * (-1 if span.nanoseconds < 0 else 1)


def _offset(zone: str, moment: Timestamp) -> int:
    """The seconds east of UTC. Raises `CelError`. Upstream: timeZone"""
    if zone in ("", "UTC"):
        return 0
    if ":" not in zone:
        try:
            local = zoneinfo.ZoneInfo(zone)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            raise CelError(f"unknown time zone {zone}") from None
        span = moment.at(0).replace(tzinfo=dt.UTC).astimezone(local).utcoffset()
        return int(span.total_seconds()) if span is not None else 0
    hours, _, minutes = zone.partition(":")
    for text in (hours, minutes):
        if not re.fullmatch(r"[-+]?[0-9]+", text):
            raise CelError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    return (int(hours) * 60 + int(minutes) * (-1 if zone.startswith("-") else 1)) * 60


def _duration(nanoseconds: int) -> Duration:
    if not MIN_INT <= nanoseconds <= MAX_INT:
        raise CelError("duration overflow")
    return Duration(nanoseconds)


def _timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    if not _FIRST <= nanoseconds // _SECOND <= _LAST:
        raise CelError("timestamp overflow")
    return Timestamp(nanoseconds, offset)


def _shifted(moment: Timestamp, nanoseconds: int) -> Timestamp:
    return _timestamp(moment.nanoseconds + nanoseconds)


def _cannot(text: str, type_: Type) -> Any:
    raise CelError(f"type conversion error from '{text}' to '{type_}'")


add_class(DURATION.name, Duration)
add_class(TIMESTAMP.name, Timestamp)
add_value_class(Duration, DURATION.name, operator.eq)
add_value_class(Timestamp, TIMESTAMP.name, lambda first, other: first.nanoseconds == other.nanoseconds)
