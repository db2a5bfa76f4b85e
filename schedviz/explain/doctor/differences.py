"""Makes findings: differences and notes; `Examination` has those of one comparison."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from schedviz.engine.config.types import Extender
from schedviz.engine.framework.types import PodInfo
from schedviz.explain.explanation import Part
from schedviz.explain.finding import Finding, Side, Value
from schedviz.trace.phrase import Phrase


class Examination(Part, frozen=True):
    """The findings of one comparison, differences before notes."""

    #: The compared sides, in words.
    compared: str
    findings: tuple[Finding, ...] = ()
    nodes: int = 0
    pods: int = 0
    #: The release of kube-scheduler as which requests are added up; "": unknown.
    release: str = ""

    @property
    def differences(self) -> tuple[Finding, ...]:
        """The differences."""
        return tuple(finding for finding in self.findings if finding.differs)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The notes."""
        return tuple(finding for finding in self.findings if not finding.differs)


class KnownScheduler(msgspec.Struct, frozen=True):
    """What is known about the scheduler of a dump (of the cluster, not the simulated one)."""

    #: The scheduler names of its profiles.
    names: tuple[str, ...] = ("default-scheduler",)
    #: None if its configuration is unknown.
    extenders: tuple[Extender, ...] | None = None
    #: The class of its release's PodInfos, which adds up what a pod requests.
    pod_info: type[PodInfo] = PodInfo
    #: Whether it nominates a pod to the node that it has chosen while Permit and PreBind plugins wait (v1.36, gate
    #: NominatedNodeNameForExpectation), and withdraws every other nomination when an attempt fails.
    nominates_before_binding: bool = False


def examination(compared: str, findings: Iterable[Finding], *, nodes: int, pods: int) -> Examination:
    """Differences first, otherwise in the order of discovery."""
    return Examination(compared, tuple(sorted(findings, key=lambda finding: not finding.differs)), nodes, pods)


def difference(
    kind: str,
    about: str,
    between: tuple[Side, Side],
    sentence: Phrase,
    cause: Phrase | None = None,
    advice: Phrase | None = None,
    values: tuple[Value, ...] = (),
) -> Finding:
    """A finding that something is wrong. `about`: `Pod namespace/name`, `Node name`, or another kind with its name."""
    return Finding(
        differs=True,
        kind=kind,
        about=about,
        between=between,
        sentence=sentence.text,
        cause=cause.text if cause else "",
        advice=advice.text if advice else "",
        values=values,
        sentence_phrase=sentence,
        cause_phrase=cause,
        advice_phrase=advice,
    )


def note(
    kind: str, about: str, between: tuple[Side, Side], sentence: Phrase, cause: Phrase | None = None, advice: Phrase | None = None
) -> Finding:
    """A finding that is transient, or only looks wrong."""
    return msgspec.structs.replace(difference(kind, about, between, sentence, cause, advice), differs=False)
