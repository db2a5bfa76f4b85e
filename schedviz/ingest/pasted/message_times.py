"""When messages of a copied text were sent: by the lines of a log, and in seconds."""

from __future__ import annotations

import re
from typing import Final

from schedviz.ingest.pasted.line_bounds import MAX_LINE_LENGTH, line_start
from schedviz.kube.timestamps import parse_timestamp

#: How far before a failure in a log its line, with the time, may begin.
_LINE: Final = 20_000
_AGE_PART: Final = re.compile(r"(\d{1,9})([smhdy])")
#: The time of a line of a log of a Kubernetes component, `I1126 02:51:07.116508`, and as it is reported, `11-26 02:51:07`.
_LOG_TIME: Final = re.compile(r"(?:^|\s)[IWEF](?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)\.\d")
_REPORTED_LOG_TIME: Final = re.compile(r"(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)")
#: The time at the beginning of a line, RFC 3339: `2026-03-10T23:24:22.061Z [Warning] …`.
#: In logfmt it is a value: `time="2026-03-10T23:24:22.061Z" level=info`.
_LINE_TIME: Final = re.compile(
    r'(?:[ \t\[]{0,9}|[^\n]{0,200}?\btime=\\{0,3}")(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?'
    r'(?P<zone>Z|[+-]\d\d:\d\d)(?=[\s\]"\\])'
)
#: The same with a space, as programs in Python write it: `[2026-03-10, 23:24:22 PDT]`, `2026-03-10 23:24:22,061 INFO`; and as it is
#: reported.
_SPACED_TIME: Final = re.compile(
    r"[ \t]{0,9}\[?(?P<day>\d{4}-\d\d-\d\d)(?:,? |T)(?P<time>\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?"
    r"(?P<zone> ?(?:UTC|GMT|[A-Z]{1,2}[DS]?T|[+-]\d{4}))?(?=[\s\]])"
)
_REPORTED_SPACED_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\b.*")
_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\dT.*")
#: More seconds since 1970 than any time has.
_LAST_SECOND: Final = 1_000_000_000_000
#: More than the seconds of a year of twelve months with 31 days.
_YEAR_SECONDS: Final = 40_000_000
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "y": 31_536_000}


def seconds_of_age(at: str) -> float:
    """Seconds since a message was sent "5m ago"; without a time it is of any age.

    Of the time of a log or an Event only the order is known: the later of two has the smaller number.
    """
    spaced = _REPORTED_SPACED_TIME.fullmatch(at)
    if spaced is not None or _RFC_3339.fullmatch(at):
        try:
            return _LAST_SECOND - parse_timestamp(at if spaced is None else f"{spaced[1]}T{spaced[2]}Z")
        except ValueError:
            return float("inf")
    if logged := _REPORTED_LOG_TIME.fullmatch(at):
        month, day, hour, minute, second = map(int, logged.groups())
        return _YEAR_SECONDS - ((month * 31 + day) * 86_400 + hour * 3_600 + minute * 60 + second)
    parts = _AGE_PART.findall(at)
    return sum(int(count) * _SECONDS[unit] for count, unit in parts) if parts else float("inf")


class LineTimes:
    """When lines of a log were written. Each line is looked at once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line = -1
        self._time: re.Match[str] | None = None

    def at(self, offset: int) -> str:
        """The time before an offset in its line; "": there is none."""
        line = line_start(self._text, offset, _LINE)
        if line and self._text[line - 1] != "\n":
            # The line is longer than any of a log.
            return ""
        if line != self._line:
            self._line, self._time = line, _LOG_TIME.search(self._text, line, line + MAX_LINE_LENGTH)
        return _reported(self._time) if self._time is not None and self._time.end() <= offset else ""


def log_time(line: str) -> str:
    """When a line of a log was written, such as `11-26 02:51:07`, `2026-03-10 23:24:22 PDT` or RFC 3339; "": it does not say so."""
    if (at := _LOG_TIME.search(line[:MAX_LINE_LENGTH])) is not None:
        return _reported(at)
    if (leading := _LINE_TIME.match(line)) is not None:
        return f"{leading['second']}{leading['zone']}"
    if (spaced := _SPACED_TIME.match(line)) is not None:
        return f"{spaced['day']} {spaced['time']} {(spaced['zone'] or '').strip()}".rstrip()
    return ""


def _reported(time: re.Match[str]) -> str:
    return f"{time['month']}-{time['day']} {time['time']}"
