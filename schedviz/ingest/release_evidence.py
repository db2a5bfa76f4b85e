"""Which release of kube-scheduler files suggest.

The newest kubelet of the nodes tells how old the control plane can be at most, and a KubeSchedulerConfiguration with members that only one
release knows tells which one it is for.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schedviz.ingest.report import Report
from schedviz.trace.phrase import Phrase, phrase
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASES, V1_36

_VERSION: Final = re.compile(r"v(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?")
#: From this kubelet on, v1.36 is nearer than v1.27.1.
_SUGGESTS_V1_36: Final = (1, 31)
#: The kubelets of v1.27.1. Older ones need no word: v1.27.1 is the oldest release.
_OF_DEFAULT: Final = (1, 27)
#: How each note on the simulated release begins.
_NOTE: Final = "The session simulates kube-scheduler "
#: Characters of a version that are shown.
_SHOWN: Final = 40


class _NodeInfo(msgspec.Struct, gc=False, rename="camel"):
    kubelet_version: str = ""


class _Status(msgspec.Struct, gc=False, rename="camel"):
    node_info: _NodeInfo | None = None


class _Node(msgspec.Struct, gc=False):
    status: _Status | None = None


def kubelet_version(node: msgspec.Raw | bytes | dict[str, Any]) -> str:
    """`status.nodeInfo.kubeletVersion` of a node as a file has it, if it is a version; otherwise ""."""
    try:
        read = msgspec.json.decode(node, type=_Node) if isinstance(node, msgspec.Raw | bytes) else msgspec.convert(node, _Node)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return ""
    version = read.status.node_info.kubelet_version if read.status is not None and read.status.node_info is not None else ""
    return version[:_SHOWN] if _VERSION.match(version) else ""


def newest(one: str, other: str) -> str:
    """The newer of two versions; "" is older than any."""
    return max(one, other, key=_numbers)


class ReleaseEvidence(msgspec.Struct, frozen=True):
    """What files tell about the release of their cluster's scheduler."""

    #: The version of the newest kubelet; "": no node has one.
    kubelet: str = ""
    #: The releases that accept the KubeSchedulerConfiguration; all if there is none.
    config_releases: tuple[str, ...] = RELEASES

    @property
    def is_conclusive(self) -> bool:
        """Whether the files suggest a release. Otherwise it is the default."""
        return bool(self.kubelet) or self.config_releases != RELEASES

    @property
    def suggested(self) -> str:
        """The release to simulate if nobody chose one. A configuration that it refuses overrides the kubelets."""
        by_kubelet = V1_36 if _numbers(self.kubelet)[:2] >= _SUGGESTS_V1_36 else DEFAULT_RELEASE
        return by_kubelet if by_kubelet in self.config_releases else self.config_releases[-1]

    @property
    def note(self) -> Phrase | None:
        """Which release is simulated, and why. None: the files do not tell, or no kubelet is newer than the default release."""
        if self.config_releases != RELEASES:
            return phrase(
                "The session simulates kube-scheduler {release}, because another release refuses the configuration. schedviz simulates "
                "{releases} and no release in between.",
                release=self.suggested,
                releases=", ".join(RELEASES),
            )
        if _numbers(self.kubelet)[:2] <= _OF_DEFAULT:
            return None
        return phrase(
            "The session simulates kube-scheduler {release}, because the newest kubelet of its nodes is {kubelet}. schedviz simulates "
            "{releases} and no release in between. To select another one, give `release` when you create the session.",
            release=self.suggested,
            kubelet=self.kubelet,
            releases=", ".join(RELEASES),
        )


def _numbers(version: str) -> tuple[int, int, int]:
    found = _VERSION.match(version)
    return (0, 0, 0) if found is None else (int(found[1]), int(found[2]), int(found[3] or 0))


def with_release(report: Report, release: str | None, evidence: ReleaseEvidence) -> Report:
    """The report with the simulated release: the chosen one, or else the suggested one, with the reason."""
    if release is not None:
        return msgspec.structs.replace(report, release=release)
    report = msgspec.structs.replace(report, release=evidence.suggested)
    note = evidence.note
    if note is None:
        return report
    return msgspec.structs.replace(report, warnings=(note.text, *report.warnings), warning_phrases=(note, *report.warning_phrases))


def with_other_release(report: dict[str, Any], release: str) -> dict[str, Any]:
    """A report, as its JSON, for another release than the files suggested: without the note that they suggested one."""
    return {
        **report,
        "release": release,
        "warnings": [text for text in report.get("warnings", ()) if not text.startswith(_NOTE)],
        "warningPhrases": [one for one in report.get("warningPhrases", ()) if not one["template"].startswith(_NOTE)],
    }
