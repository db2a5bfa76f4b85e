"""The progress of an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from schedviz.ingest.files.budget import Budget
from schedviz.ingest.files.source import Source


class Progress(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of an import. `total` is None if unknown."""

    phase: str
    done: int
    total: int | None = None
    unit: str = "bytes"
    file: str = ""


class ProgressReporter:
    """Counts how much of a file has been read, and reports it.

    What is read counts against the budget. A file of an archive was counted when it was opened, so only its growth by decompression is
    added.
    """

    def __init__(
        self, source: Source, on_progress: Callable[[Progress], None], check_cancelled: Callable[[], None], budget: Budget
    ) -> None:
        self._source = source
        self._on_progress = on_progress
        self._check_cancelled = check_cancelled
        self._budget = budget
        self._counted = (source.size or 0) if source.is_counted else 0
        self._arrived = 0
        self.unpacked = 0
        self.is_read_at_once = False

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes, unchanged."""
        for piece in self._source.pieces():
            self._arrived += len(piece)
            yield piece

    def __call__(self, unpacked: int) -> None:
        """Report this many decompressed bytes."""
        self.unpacked = unpacked
        if unpacked > self._counted:
            self._budget.count_unpacked(self._source.name, unpacked - self._counted)
            self._counted = unpacked
        self._check_cancelled()
        if self.is_read_at_once:
            self._on_progress(Progress("reading", self._arrived, self._source.size, file=self._source.name))
        else:
            self._on_progress(Progress("unpacking", unpacked, file=self._source.name))
