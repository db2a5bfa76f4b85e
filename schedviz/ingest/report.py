"""The import report: what was imported from which file, what was left out, and why."""

from __future__ import annotations

import msgspec

from schedviz.ingest.files.source import shown_name
from schedviz.trace.phrase import Phrase

_EXAMPLES = 3
#: The most kinds and reasons that are counted separately, because files may contain any number.
_MAX_CAUSES = 200
_MAX_LENGTH = 300
_OTHERS = "others"


class FileReport(msgspec.Struct, frozen=True, rename="camel"):
    """One file of an import. The name of a file in an archive begins with the archive's name."""

    name: str
    format: str
    unpacked_bytes: int
    #: Its objects in the session. An object in several files counts for the file whose version was kept.
    objects: int
    #: SIGUSR2 dumps in it.
    dumps: int = 0
    #: Pods for which it has a reason why they did not fit; `said` on the wire, as in the first version.
    messages: int = msgspec.field(default=0, name="said")


class Refused(msgspec.Struct, frozen=True, rename="camel"):
    """A file that could not be read and was left out completely, or a part of one."""

    name: str
    message: str


class Dropped(msgspec.Struct, frozen=True, rename="camel"):
    """Objects of a kind that were left out for one reason, with the names of the first few."""

    kind: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """The result of an import. `kinds` counts the imported objects."""

    files: tuple[FileReport, ...] = ()
    kinds: dict[str, int] = {}
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()
    #: The warnings as phrases, for translation.
    warning_phrases: tuple[Phrase, ...] = ()
    #: The file with the scheduler's KubeSchedulerConfiguration; "": the default configuration, or that of the settings.
    configuration: str = ""
    #: Files that were left out although others were imported.
    refused: tuple[Refused, ...] = ()
    #: Parts that were left out of files that are imported otherwise.
    skipped: tuple[Refused, ...] = ()
    #: The simulated release of kube-scheduler; "": a report of a version without releases, or not of a session.
    release: str = ""


class Tally:
    """Counts what is left out during an import."""

    def __init__(self) -> None:
        #: (kind, reason) → the number, and the first few names.
        self._counts: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}

    def drop(self, kind: str, reason: str, name: str = "") -> None:
        """Count one object that is left out."""
        self._add(kind, reason, 1, (name,) if name else ())

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        for (kind, reason), (count, examples) in other._counts.items():
            self._add(kind, reason, count, examples)

    def _add(self, kind: str, reason: str, more: int, names: tuple[str, ...]) -> None:
        kind, reason, names = shown_name(kind), reason[:_MAX_LENGTH], tuple(name[:_MAX_LENGTH] for name in names)
        if (kind, reason) not in self._counts and len(self._counts) >= _MAX_CAUSES:
            kind, reason = _OTHERS, f"there are more than {_MAX_CAUSES} kinds of things that are left out"
        count, examples = self._counts.get((kind, reason), (0, ()))
        if len(examples) < _EXAMPLES:
            examples = (*examples, *names)[:_EXAMPLES]
        self._counts[kind, reason] = (count + more, examples)

    def dropped(self) -> tuple[Dropped, ...]:
        """Everything that was left out, by kind."""
        return tuple(Dropped(kind, reason, count, examples) for (kind, reason), (count, examples) in sorted(self._counts.items()))
