"""Parses klog records, in text or JSON: a message with named values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.logs.log_lines import LogLine
from schedviz.kube import timestamps

#: `I0101 00:00:00.003000       1 node_tree.go:65] …`
HEADER: Final = re.compile(r"[IWEF](\d{4} \d\d:\d\d:\d\d\.\d+)\s+\d+ ([\w.-]+\.go:\d+)\] ?")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"')
#: A name begins at the start of a word. Without the guard, the pattern would be tried from each letter of a long word.
_VALUE: Final = re.compile(r'(?<!\w)(\w++)=(?:"((?:[^"\\]|\\.)*+)"|\[([^\]]*+)\]|<$|(\S*+))')
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([0-7]{3})|(.))")
#: The year 9999; later numbers are not timestamps.
_LATEST_MILLIS: Final = 253_370_764_800_000
_SIMPLE: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Record(msgspec.Struct):
    """A record. `lines` has the further lines of a text record."""

    message: str
    values: dict[str, Any] = {}
    caller: str = ""
    #: The timestamp as in the log.
    at: str = ""
    #: Seconds since 1970, if the log or its storage has the year.
    seconds: float | None = None
    lines: list[str] = []


def records(lines: Iterable[LogLine]) -> Iterator[Record]:
    """The records in order. Lines before the first header are records of their own, as in a pasted part of a log."""
    current: Record | None = None
    for line in lines:
        begun = record_of(line)
        if begun is not None:
            if current is not None:
                yield current
            current = begun
        else:
            if current is None:
                current = Record("", seconds=line.prefix_seconds)
            current.lines.append(line.text)
    if current is not None:
        yield current


def record_of(line: LogLine) -> Record | None:
    """The record that a line begins; None if the line continues the previous record."""
    text = line.text
    if text.startswith("{"):
        return _record_of_json(text, line.prefix_seconds)
    head = HEADER.match(text)
    if head is None:
        return None
    rest = text[head.end() :]
    quoted = _QUOTED.match(rest)
    if quoted is None:
        return Record(rest, {}, head[2], head[1], line.prefix_seconds, [])
    return Record(unquoted(quoted[1]), _values(rest[quoted.end() :]), head[2], head[1], line.prefix_seconds, [])


def _record_of_json(text: str, prefix_seconds: float | None) -> Record | None:
    try:
        entry = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("msg"), str):
        return None
    millis = entry.get("ts")
    seconds = millis / 1000 if isinstance(millis, (int, float)) and 0 <= millis < _LATEST_MILLIS else prefix_seconds
    return Record(
        entry["msg"], entry, str(entry.get("caller", "")), "" if seconds is None else timestamps.format_timestamp(seconds), seconds, []
    )


def _values(text: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for match in _VALUE.finditer(text):
        key, quoted, listed, plain = match.groups()
        if quoted:
            values[key] = unquoted(quoted)
        elif plain:
            values[key] = plain
        else:
            values[key] = "" if listed is None else _items(listed)
    return values


def unquoted(text: str) -> str:
    """The value of a Go string literal."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_unescaped, text)


def _items(listed: str) -> list[str]:
    """The items of a list: `a b`, or JSON, as newer versions of klog write it."""
    try:
        return [item if isinstance(item, str) else str(item) for item in msgspec.json.decode(f"[{listed}]")]
    except (msgspec.DecodeError, RecursionError):
        return listed.split()


def _unescaped(match: re.Match[str]) -> str:
    for digits in match.groups()[:3]:
        if digits is not None:
            code = int(digits, 16)
            return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "�"
    if match[4] is not None:
        return chr(int(match[4], 8))
    return _SIMPLE.get(match[5], match[5])
