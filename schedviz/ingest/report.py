"""What came in, from where, what was left out and why."""

from __future__ import annotations

import msgspec

from schedviz.ingest.source import shown_name
from schedviz.trace.phrase import Phrase

_EXAMPLES = 3
#: Kinds and reasons that are counted apart. What is in files is up to whoever wrote them.
_APART = 200
_LONGEST = 300
_OTHERS = "others"


class FileReport(msgspec.Struct, frozen=True, rename="camel"):
    """One file of an import; a file of an archive has the archive's name before its own."""

    name: str
    format: str
    unpacked_bytes: int
    #: Objects of it that are in the session. An object that several files have counts for the one whose version was kept.
    objects: int
    #: Dumps of SIGUSR2 in it.
    dumps: int = 0
    #: Pods of which it says why they did not fit.
    said: int = 0


class Refused(msgspec.Struct, frozen=True, rename="camel"):
    """A file that could not be read, and was left out whole."""

    name: str
    message: str


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
    #: The same, to be said in another language.
    warning_phrases: tuple[Phrase, ...] = ()
    #: The file whose KubeSchedulerConfiguration the scheduler works with; "": the default configuration, or one of the settings.
    configuration: str = ""
    #: Files that were left out, while the others came in.
    refused: tuple[Refused, ...] = ()
    #: The simulated release of kube-scheduler; "": the report is of a version of schedviz without releases, or of no session.
    release: str = ""


class Tally:
    """Counts what is left out while an import runs."""

    def __init__(self) -> None:
        #: (kind, reason) → how many, and the first few names.
        self._counts: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}

    def drop(self, kind: str, reason: str, name: str = "") -> None:
        """Count one object that is left out."""
        self._add(kind, reason, 1, (name,) if name else ())

    def take(self, other: Tally) -> None:
        """Count what another one counted."""
        for (kind, reason), (count, examples) in other._counts.items():
            self._add(kind, reason, count, examples)

    def _add(self, kind: str, reason: str, more: int, names: tuple[str, ...]) -> None:
        kind, reason, names = shown_name(kind), reason[:_LONGEST], tuple(name[:_LONGEST] for name in names)
        if (kind, reason) not in self._counts and len(self._counts) >= _APART:
            kind, reason = _OTHERS, f"there are more than {_APART} kinds of things that are left out"
        count, examples = self._counts.get((kind, reason), (0, ()))
        if len(examples) < _EXAMPLES:
            examples = (*examples, *names)[:_EXAMPLES]
        self._counts[kind, reason] = (count + more, examples)

    def dropped(self) -> tuple[Dropped, ...]:
        """All that was left out, by kind."""
        return tuple(Dropped(kind, reason, count, examples) for (kind, reason), (count, examples) in sorted(self._counts.items()))
