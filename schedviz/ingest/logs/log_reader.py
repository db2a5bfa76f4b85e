"""Reads a log of kube-scheduler as an import format."""

from __future__ import annotations

from collections.abc import Iterator

from schedviz.ingest.limits import Limits
from schedviz.ingest.logs.scheduler_log import FORMAT, SchedulerLog, looks_like_log, read_log


class LogReader:
    """Reads SIGUSR2 dumps and the reasons why pods did not fit from the scheduler's log."""

    format = FORMAT

    def recognises(self, text: bytes) -> bool:
        """Whether the text begins as a log does."""
        return looks_like_log(text)

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[SchedulerLog]:
        """The whole log as one item."""
        yield read_log(name, text, limits)

    def documents(self, _text: bytes) -> int:
        """A log is one document."""
        return 1

    def line_of(self, _text: bytes, _document: int, _path: str) -> int:
        """Unused, because no error refers to a line of a log."""
        return 0
