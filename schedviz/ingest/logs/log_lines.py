"""Extracts the scheduler's log lines from the formats of Docker, container runtimes, must-gather and journald."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from schedviz.kube import timestamps

#: containerd and CRI-O: time, stream, F(ull) or P(artial), the line.
_CRI: Final = re.compile(r"(\d{4}-\d\d-\d\dT\S+) (?:stdout|stderr) ([FP])(?::\S*)? ?")
#: `kubectl logs --timestamps`, as must-gather stores logs.
_STAMPED: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) (?=[IWEF]\d{4} |\{|\t|\s|Node name|name:)")
_DOCKER: Final = ('{"log":', '{"stream":', '{"time":')
#: journald: `Nov 21 15:00:00 host kube-scheduler[123]: …`
_JOURNAL: Final = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+\[\d+\]: ")


class LogLine(NamedTuple):
    """A line, and the time (seconds since 1970) in its prefix, if any."""

    text: str
    prefix_seconds: float | None


def log_lines(text: bytes) -> Iterator[LogLine]:
    """The lines in order. Invalid UTF-8 is replaced, and lines that a runtime had split are joined."""
    begun: list[str] = []
    for raw in io.BytesIO(text):
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        cri = _CRI.match(line)
        if cri is not None:
            begun.append(line[cri.end() :])
            if cri[2] == "F":
                yield LogLine("".join(begun), _seconds(cri[1]))
                begun = []
            continue
        yield from _unwrapped(line)
    if begun:
        yield LogLine("".join(begun), None)


def _unwrapped(line: str) -> Iterator[LogLine]:
    if line.startswith(_DOCKER):
        log, prefix_seconds = _docker(line)
        if log is not None:
            # A record may have several lines: older releases of klog logged a NodeInfo in one record.
            yield from (LogLine(part, prefix_seconds) for part in log.removesuffix("\n").split("\n"))
            return
    stamped = _STAMPED.match(line)
    if stamped is not None:
        yield LogLine(line[stamped.end() :], _seconds(stamped[1]))
        return
    journal = _JOURNAL.match(line)
    yield LogLine(line if journal is None else line[journal.end() :], None)


def _docker(line: str) -> tuple[str | None, float | None]:
    try:
        record = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None, None
    log, time = record.get("log"), record.get("time")
    return log if isinstance(log, str) else None, _seconds(time) if isinstance(time, str) else None


def _seconds(text: str) -> float | None:
    try:
        return timestamps.parse_timestamp(text)
    except ValueError:
        return None
