"""What came in, what was left out and why."""

from __future__ import annotations

import msgspec

_EXAMPLES = 3


class FileReport(msgspec.Struct, frozen=True, rename="camel"):
    """One file of an import."""

    name: str
    format: str
    unpacked_bytes: int
    objects: int


class Dropped(msgspec.Struct, frozen=True, rename="camel"):
    """Objects of a kind that were left out for one reason, with the names of the first few."""

    kind: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of an import. `kinds` counts what was kept."""

    files: tuple[FileReport, ...] = ()
    kinds: dict[str, int] = {}
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()
    #: The file whose KubeSchedulerConfiguration the scheduler works with; "": the default configuration, or one of the settings.
    configuration: str = ""


class Tally:
    """Counts what is left out while an import runs."""

    def __init__(self) -> None:
        #: (kind, reason) → how many, and the first few names.
        self._counts: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}

    def drop(self, kind: str, reason: str, name: str = "") -> None:
        """Count one object that is left out."""
        count, examples = self._counts.get((kind, reason), (0, ()))
        if name and len(examples) < _EXAMPLES:
            examples = (*examples, name)
        self._counts[kind, reason] = (count + 1, examples)

    def dropped(self) -> tuple[Dropped, ...]:
        """All that was left out, by kind."""
        return tuple(Dropped(kind, reason, count, examples) for (kind, reason), (count, examples) in sorted(self._counts.items()))
