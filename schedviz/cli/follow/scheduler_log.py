"""Reads the log of the cluster's kube-scheduler while it is written. With -v=3 it has the beginning of every scheduling cycle."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from schedviz.cli.follow.decisions import RecentTimes
from schedviz.cli.follow.errors import FollowError
from schedviz.explain.shadowing.decision_times import DecisionTime
from schedviz.ingest.logs.klog import Record, record_of
from schedviz.ingest.logs.log_lines import log_lines

#: How often the file is polled.
_POLL_SECONDS: Final = 0.05
_PIECE_BYTES: Final = 1 << 20
#: Longer lines are skipped.
_MAX_LINE_BYTES: Final = 1 << 20
#: Lines about decisions. All others are skipped without being parsed.
_INTERESTING: Final = re.compile(
    rb"Attempting to (?:schedule|bind) |Successfully bound pod|(?:Add|Delete) event for (?:un)?scheduled pod"
    rb"|Plugin Failed|Unable to schedule|Error scheduling"
)
_STAMP: Final = re.compile(r"(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{1,6})")


class LogDecisions:
    """The decisions in the records of a log."""

    def __init__(self, emit: Callable[[DecisionTime], None]) -> None:
        self._emit = emit
        #: When a cycle began, when a pod was rejected last, when a node was chosen for a pod that the scheduler does not see on it yet, and
        #: when such a pod's binding began to fail.
        self._begun, self._rejected, self._chosen, self._failed = RecentTimes(), RecentTimes(), RecentTimes(), RecentTimes()
        #: Pods for which a node was chosen and that were not reported as bound yet.
        self._binding = RecentTimes()
        self._year = datetime.now(UTC).year

    def read(self, data: bytes) -> None:
        """Whole lines of the log."""
        wanted = b"\n".join(line for line in data.split(b"\n") if len(line) < _MAX_LINE_BYTES and _INTERESTING.search(line))
        for line in log_lines(wanted):
            if (record := record_of(line)) is not None:
                self._note(record)

    def _note(self, record: Record) -> None:
        pod, at = record.values.get("pod"), self._microseconds(record)
        if not isinstance(pod, str) or "/" not in pod or not at:
            return
        match record.message:
            case "Attempting to schedule pod" | "Attempting to schedule a pod belonging to a pod group":
                self._begun.record(pod, at)
            case "Attempting to bind pod to node":
                self._placed(pod, record, at)
                self._chosen.record(pod, at)
                self._binding.record(pod, at)
            case "Successfully bound pod to node":
                # A log with -v=2 has neither of the lines above.
                if self._binding.pop(pod, None) is None:
                    self._placed(pod, record, at)
            case "Add event for scheduled pod":
                self._chosen.pop(pod, None)
            case "Delete event for scheduled pod":
                self._emit(DecisionTime(pod, "removed", at, at))
            case "Delete event for unscheduled pod" | "Plugin Failed":
                # A pod that is deleted before it is bound keeps its room until now or, in earlier releases, until its binding has failed.
                if pod in self._chosen and pod not in self._failed:
                    self._failed.record(pod, at)
            case message if message.startswith(("Unable to schedule pod", "Error scheduling pod")):
                self._begun.pop(pod, None)
                self._rejected.record(pod, at)
                self._binding.pop(pod, None)
                if self._chosen.pop(pod, None) is not None:
                    self._emit(DecisionTime(pod, "removed", self._failed.pop(pod, at), at))

    def _placed(self, pod: str, record: Record, at: int) -> None:
        begun, node = self._begun.pop(pod, 0), record.values.get("node")
        after = begun or self._rejected.pop(pod, 0)
        self._emit(DecisionTime(pod, "added", after, at, node if isinstance(node, str) else "", exact=bool(begun)))

    def _microseconds(self, record: Record) -> int:
        stamp = _STAMP.match(record.at)
        if stamp is None:
            return 0 if record.seconds is None else round(record.seconds * 1_000_000)
        month, day, hour, minute, second = (int(stamp[place]) for place in range(1, 6))
        try:
            # Only differences of these times matter: the time zone and, but for one night, the year do not.
            at = datetime(self._year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            return 0
        return round(at.timestamp()) * 1_000_000 + int(stamp[6].ljust(6, "0"))


class SchedulerLog:
    """Follows a file from its end, also when it is rotated; or reads standard input."""

    def __init__(self, path: Path, decisions: LogDecisions) -> None:
        """`-` is standard input. Raises `FollowError`."""
        self._path = path
        self._decisions = decisions
        self._file = None
        if str(path) != "-":
            try:
                self._file = path.open("rb")
            except OSError as error:
                raise FollowError(f"--scheduler-log {path}: {error.strerror}.") from None
            self._file.seek(0, os.SEEK_END)

    def run(self, stop: threading.Event) -> None:
        """Read until `stop`, or until standard input ends."""
        pieces: Iterable[bytes] = iter(lambda: os.read(sys.stdin.fileno(), _PIECE_BYTES), b"") if self._file is None else self._pieces(stop)
        try:
            self._read(pieces, stop)
        finally:
            if self._file is not None:
                self._file.close()

    def _read(self, pieces: Iterable[bytes], stop: threading.Event) -> None:
        rest = b""
        for piece in pieces:
            lines, separator, rest = (rest + piece).rpartition(b"\n")
            if separator:
                self._decisions.read(lines)
            elif len(rest) > _MAX_LINE_BYTES:
                rest = b""
            if stop.is_set():
                return

    def _pieces(self, stop: threading.Event) -> Iterator[bytes]:
        assert self._file is not None
        while not stop.is_set():
            if piece := self._file.read(_PIECE_BYTES):
                yield piece
                continue
            try:
                if self._was_rotated():
                    self._file, old = self._path.open("rb"), self._file
                    old.close()
                    continue
            except OSError:
                # Between the removal of the old file and the creation of the new one.
                pass
            stop.wait(_POLL_SECONDS)

    def _was_rotated(self) -> bool:
        assert self._file is not None
        now, mine = self._path.stat(), os.fstat(self._file.fileno())
        return (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino) or now.st_size < self._file.tell()
