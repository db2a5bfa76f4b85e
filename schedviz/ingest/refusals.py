"""Why files were left out: the first few in words, the others as a number, so that a hundred thousand bad files cost no memory."""

from __future__ import annotations

from schedviz.ingest.errors import IngestError
from schedviz.ingest.report import Refused
from schedviz.trace.phrase import Phrase, phrase

#: So many are told in words.
TOLD = 100


class Refusals:
    """The files of an import that were left out whole."""

    def __init__(self) -> None:
        self.told: list[Refused] = []
        self.count = 0
        #: What is raised where this was the only file.
        self.first: IngestError | None = None

    def add(self, name: str, error: IngestError, *, is_last: bool = False) -> None:
        """A file is left out. `is_last`: because of this one nothing more is read, and it is told before all others."""
        # An error holds on to the frames that it came through, and so to all that was read.
        error.with_traceback(None)
        error.__cause__ = error.__context__ = None
        self.count += 1
        refused = Refused(name, str(error))
        if is_last:
            self.told.insert(0, refused)
        elif len(self.told) < TOLD:
            self.told.append(refused)
        if self.first is None or is_last:
            self.first = error

    @property
    def untold(self) -> int:
        """How many there are besides those that are told."""
        return self.count - len(self.told)

    def warnings(self) -> list[Phrase]:
        """A warning for each that is told, and one for all others."""
        told = [phrase("{file} was left out: {why}", file=refused.name, why=refused.message) for refused in self.told]
        return [*told, phrase("{count} more files were left out.", count=self.untold)] if self.untold else told

    def lines(self, most: int) -> list[str]:
        """The reasons, a line each."""
        lines = [refused.message for refused in self.told[:most]]
        more = self.count - len(lines)
        return [*lines, f"… and {more:,} more files were left out."] if more else lines
