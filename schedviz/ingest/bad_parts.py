"""The parts of one file that cannot be read. They are skipped and named, and the rest of the file is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.ingest.errors import BadObjects, NoObjects, Problem
from schedviz.kube.errors import DecodeError
from schedviz.trace.phrase import Phrase, phrase

#: The parts that are named; the others are counted.
MAX_NAMED: Final = 5
#: With more bad parts than this and than good ones, reading stops: the file is something else.
_TOO_MANY: Final = 1_000
#: What `codec` finds, or expects, where a text has data that are no objects of Kubernetes.
_NO_KIND: Final = ("the kind of the object, such as Pod", "nothing")
_NO_OBJECT: Final = "a Kubernetes object"


class BadParts:
    """Collects the bad parts of one file."""

    def __init__(self) -> None:
        self.named: list[Problem] = []
        self.count = 0
        #: How many of them are data that are no objects of Kubernetes.
        self.foreign = 0

    def wants_name(self) -> bool:
        """Whether the next part will be named. Finding its line is slow."""
        return len(self.named) < MAX_NAMED

    def add(self, problem: Problem | None, *, good: int, error: DecodeError | None = None) -> None:
        """Add a part; None: one that is only counted. `good`: the objects that were read so far. Raises `BadObjects` if it is hopeless."""
        self.count += 1
        if error is not None and ((error.expected, error.found) == _NO_KIND or error.expected == _NO_OBJECT):
            self.foreign += 1
        if problem is not None and self.wants_name():
            self.named.append(problem)
        if self.count > _TOO_MANY and self.count > good:
            raise self.error()

    def error(self) -> BadObjects:
        """The error for a file of which nothing could be read."""
        kind = NoObjects if self.count == self.foreign else BadObjects
        return kind(self.named, more=self.count > len(self.named))

    def warning(self, name: str, kept: int) -> Phrase:
        """What was skipped and what was kept, in one sentence."""
        return phrase(
            "{file}: {count} of its parts could not be read and were left out; {kept} objects were kept. The first: {why}",
            file=name,
            count=self.count,
            kept=kept,
            why=str(self.named[0]) if self.named else "",
        )

    def lines(self) -> Sequence[str]:
        """The named parts, one per line, and the number of the others."""
        more = self.count - len(self.named)
        return (
            [*map(str, self.named), f"… and {more:,} more parts of {self.named[0].file}"]
            if more and self.named
            else [*map(str, self.named)]
        )
