"""A log of kube-scheduler as one of the formats of an import."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.ingest.limits import Limits
from schedviz.ingest.scheduler_log import FORMAT, SchedulerLog, looks_like_log, read_log


class LogReader:
    """Reads the scheduler's log: dumps of SIGUSR2, and what it said of pods that did not fit."""

    format = FORMAT

    def recognises(self, text: bytes) -> bool:
        """Whether the text begins as a log does."""
        return looks_like_log(text)

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[SchedulerLog]:
        """The log, as one thing."""
        yield read_log(name, text, limits)

    def documents(self, _text: bytes) -> int:
        """A log is one."""
        return 1

    def line_of(self, _text: bytes, _document: int, _path: str) -> int:
        """Nothing in a log is refused by its line."""
        return 0
