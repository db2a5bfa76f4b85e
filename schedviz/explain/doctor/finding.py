"""What the doctor says, as values that become JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from schedviz.engine.config.types import Extender
from schedviz.explain.explanation import Part
from schedviz.trace.phrase import Phrase

Side = Literal["API", "informers", "cache", "snapshot", "queue", "dump", "comparer"]


class Value(Part, frozen=True):
    """An amount that two sides do not agree about: milli-cpus, bytes, or counts."""

    name: str
    left: int
    right: int


class Finding(Part, frozen=True):
    """One thing that differs, or, where `differs` is false, that only looks so or passes by itself."""

    differs: bool
    #: What kind of thing it is, for programs: `missed node`, `ghost node`, `requested`, `assumed pod`, …
    kind: str
    #: `Node worker-2`, `Pod default/web-1`.
    about: str
    #: The two that were compared; values have the first on the left.
    between: tuple[Side, Side]
    sentence: str
    #: What is likely behind it.
    cause: str = ""
    #: What to do, or to look at.
    advice: str = ""
    values: tuple[Value, ...] = ()
    #: The same three, to be said in another language.
    sentence_phrase: Phrase | None = None
    cause_phrase: Phrase | None = None
    advice_phrase: Phrase | None = None


class Examination(Part, frozen=True):
    """All that was found in one comparison, differences before notes."""

    #: What was compared with what, in words.
    compared: str
    findings: tuple[Finding, ...] = ()
    nodes: int = 0
    pods: int = 0

    @property
    def differences(self) -> tuple[Finding, ...]:
        """Those that are wrong."""
        return tuple(finding for finding in self.findings if finding.differs)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Those that are not."""
        return tuple(finding for finding in self.findings if not finding.differs)


class Scheduler(msgspec.Struct, frozen=True):
    """What is known of the scheduler whose dump it is."""

    #: To which names it answers.
    names: tuple[str, ...] = ("default-scheduler",)
    #: None where its configuration is not known.
    extenders: tuple[Extender, ...] | None = None


def examination(compared: str, findings: Iterable[Finding], *, nodes: int, pods: int) -> Examination:
    """With the differences first, otherwise in the order in which they were found."""
    return Examination(compared, tuple(sorted(findings, key=lambda finding: not finding.differs)), nodes, pods)


def finding(
    differs: bool,  # noqa: FBT001
    kind: str,
    about: str,
    between: tuple[Side, Side],
    sentence: Phrase,
    cause: Phrase | None = None,
    advice: Phrase | None = None,
    values: tuple[Value, ...] = (),
) -> Finding:
    """A finding, from what is said of it."""
    texts = [said.text if said else "" for said in (sentence, cause, advice)]
    return Finding(differs, kind, about, between, texts[0], texts[1], texts[2], values, sentence, cause, advice)
