"""Records why files were left out: the first few reasons as text, and the number of the others, which limits memory for very many files."""

from __future__ import annotations

from schedviz.ingest.errors import IngestError
from schedviz.ingest.report import Refused
from schedviz.trace.phrase import Phrase, phrase

#: The most reasons that are kept as text.
MAX_LISTED = 100


def forget(error: BaseException) -> None:
    """Drop what an error keeps in memory: its traceback refers to frames, and thereby to all that was read."""
    error.with_traceback(None)
    error.__cause__ = error.__context__ = None


class Refusals:
    """The files of an import that were left out completely."""

    def __init__(self) -> None:
        self.listed: list[Refused] = []
        self.count = 0
        #: The error if this was the only file.
        self.first: IngestError | None = None

    def add(self, name: str, error: IngestError, *, is_last: bool = False) -> None:
        """Record a file that is left out. `is_last`: reading stops because of this file, so it is reported first."""
        forget(error)
        self.count += 1
        refused = Refused(name, str(error))
        if is_last:
            self.listed.insert(0, refused)
        elif len(self.listed) < MAX_LISTED:
            self.listed.append(refused)
        if self.first is None or is_last:
            self.first = error

    @property
    def unlisted(self) -> int:
        """The number of files whose reasons are not kept."""
        return self.count - len(self.listed)

    def warnings(self) -> list[Phrase]:
        """One warning for each kept reason, and one for all others."""
        listed = [phrase("{file} was left out: {why}", file=refused.name, why=_without_name(refused)) for refused in self.listed]
        return [*listed, phrase("{count} more files were left out.", count=self.unlisted)] if self.unlisted else listed

    def lines(self, most: int) -> list[str]:
        """The reasons, one per line."""
        lines = [refused.message for refused in self.listed[:most]]
        more = self.count - len(lines)
        return [*lines, f"… and {more:,} more files were left out."] if more else lines


def _without_name(refused: Refused) -> str:
    """The reason of a file, without its name at the beginning."""
    rest = refused.message.removeprefix(refused.name)
    return rest.lstrip(":, ") if rest.startswith((":", ",")) else refused.message
