"""How far an import is, told while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from schedviz.ingest.budget import Budget
from schedviz.ingest.source import Source


class Progress(msgspec.Struct, frozen=True, rename="camel"):
    """How far an import is. `total` is None where it is not known."""

    phase: str
    done: int
    total: int | None = None
    unit: str = "bytes"
    file: str = ""


class Told:
    """Counts how much of one file has arrived and tells it: while it is unpacked, or, where it is read at once, of how much.

    What is read counts against the budget. A file of an archive was counted when it was opened, and only what it grows by is added.
    """

    def __init__(self, source: Source, tell: Callable[[Progress], None], check_cancelled: Callable[[], None], budget: Budget) -> None:
        self._source = source
        self._tell = tell
        self._check_cancelled = check_cancelled
        self._budget = budget
        self._counted = (source.size or 0) if source.is_counted else 0
        self._arrived = 0
        self.unpacked = 0
        self.is_read_at_once = False

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes as they are."""
        for piece in self._source.pieces():
            self._arrived += len(piece)
            yield piece

    def __call__(self, unpacked: int) -> None:
        """So much of it is unpacked."""
        self.unpacked = unpacked
        if unpacked > self._counted:
            self._budget.unpack(self._source.name, unpacked - self._counted)
            self._counted = unpacked
        self._check_cancelled()
        if self.is_read_at_once:
            self._tell(Progress("reading", self._arrived, self._source.size, file=self._source.name))
        else:
            self._tell(Progress("unpacking", unpacked, file=self._source.name))
