"""Which release of kube-scheduler files suggest.

The scheduler's log has its version. The version of the newest kubelet is a lower bound for that of the control plane. Members of a
KubeSchedulerConfiguration that only one release knows tell which one it is for, and so do kinds and fields of objects that v1.27.1 does not
read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from schedviz.ingest.report import Report
from schedviz.kube.core import Pod
from schedviz.kube.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice
from schedviz.kube.kinds import kind_of
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, joined, phrase
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASES, V1_36

_VERSION: Final = re.compile(r"v(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?")
#: From this kubelet on, v1.36 is nearer than v1.27.1.
_SUGGESTS_V1_36: Final = (1, 31)
#: The kubelets of v1.27.1. Nothing can suggest an older release: v1.27.1 is the oldest.
_DEFAULT_RELEASE_KUBELET: Final = (1, 27)
#: What changed in which minor version between the two releases, as far as decisions, messages or sums of a simulation show it.
_CHANGES: Final = (
    (29, phrase("sidecar containers add to the requests of a pod (from v1.29 on)")),
    (32, phrase("queueing hints decide which pods an event wakes up (from v1.32 on)")),
    (33, phrase("preemption is asynchronous, and a pod counts with what its kubelet allocated during a resize (from v1.33 on)")),
    (34, phrase("claims of devices and pod-level requests are read (from v1.34 on)")),
    (35, phrase("pods are nominated before their binding (from v1.35 on)")),
    (36, phrase("messages about taints do not name the taint (from v1.36 on)")),
)
_SIMULATED_MINOR: Final = {DEFAULT_RELEASE: 27, V1_36: 36}
#: Words of messages that v1.27.1 does not have with its default plugins.
_NEWER_WORDS: Final = ("no new claims to deallocate", "had untolerated taint(s)", "didn't satisfy plugin(s) [", "still not schedulable")
#: What objects need a gate for, by gate.
_NEEDED_FOR: Final = (
    ("GenericWorkload", phrase("pods name a pod group")),
    ("DRADeviceTaintRules", phrase("there are DeviceTaintRules")),
)
#: How each note on the simulated release begins.
_NOTES: Final = ("The session simulates kube-scheduler ", "Feature gates of the simulated scheduler: ")
#: Characters of a version that are shown.
_MAX_SHOWN: Final = 40


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
    return version[:_MAX_SHOWN] if _VERSION.match(version) else ""


def newest(first: str, second: str) -> str:
    """The newer of two versions; "" is older than any."""
    return max(first, second, key=_numbers)


class ReleaseEvidence(msgspec.Struct, frozen=True):
    """Evidence in files about the release of the cluster's scheduler."""

    #: The version of the newest kubelet; "": no node has one.
    kubelet: str = ""
    #: The releases that accept the KubeSchedulerConfiguration; all if there is none.
    config_releases: tuple[str, ...] = RELEASES
    #: The version that the scheduler's log begins with; "": no log has it.
    scheduler: str = ""
    #: Something in the objects that v1.27.1 does not read; "": there is nothing of the kind.
    newer_field: str = ""
    #: Words in the scheduler's messages that v1.27.1 does not have; "": there are none.
    newer_words: str = ""
    #: The feature gates of v1.36 that differ from its defaults, by the scheduler's log or, if that has none, by the objects.
    feature_gates: dict[str, bool] = {}
    are_gates_logged: bool = False

    @property
    def is_conclusive(self) -> bool:
        """Whether the files suggest a release. Otherwise it is the default."""
        return bool(self.version or self.newer_field or self.newer_words) or self.config_releases != RELEASES

    @property
    def version(self) -> str:
        """The version of the scheduler, or of the newest kubelet, which the control plane is not older than; "": unknown."""
        return self.scheduler or self.kubelet

    @property
    def suggested(self) -> str:
        """The release to simulate if the user chose none. A configuration that it refuses overrides versions, and these override fields."""
        is_newer = _numbers(self.version)[:2] >= _SUGGESTS_V1_36 if self.version else bool(self.newer_field or self.newer_words)
        suggested = V1_36 if is_newer else DEFAULT_RELEASE
        return suggested if suggested in self.config_releases else self.config_releases[-1]

    def suggested_or(self, otherwise: str) -> str:
        """The suggested release, or `otherwise` if the files suggest none."""
        return self.suggested if self.is_conclusive else otherwise

    @property
    def suggested_gates(self) -> dict[str, bool]:
        """The gates to simulate with the suggested release if the user chose none."""
        return self.feature_gates if self.suggested == V1_36 else {}

    @property
    def gates_note(self) -> Phrase | None:
        """Which feature gates are set, and why; None: none are."""
        gates = ", ".join(f"{name}={str(value).lower()}" for name, value in sorted(self.suggested_gates.items()))
        if not gates:
            return None
        reason = phrase("the log of its scheduler says so") if self.are_gates_logged else _reason_for(self.suggested_gates)
        return phrase("Feature gates of the simulated scheduler: {gates}, because {reason}.", gates=gates, reason=reason)

    @property
    def note(self) -> Phrase | None:
        """Which release is simulated, and why. None: there is no evidence, or no version in the files is newer than the default release."""
        reason = self._reason
        if reason is None:
            return None
        minor = _numbers(self.version)[1]
        if minor == _SIMULATED_MINOR[self.suggested]:
            return phrase("The session simulates kube-scheduler {release}, because {reason}.", release=self.suggested, reason=reason)
        if changes := differences_from(self.version, self.suggested):
            return phrase(
                "The session simulates kube-scheduler {release}: {reason}, and schedviz simulates {releases} and no release in between. "
                "Known differences: {changes}.",
                release=self.suggested,
                reason=reason,
                releases=", ".join(RELEASES),
                changes=joined(changes, "{first}; {next}"),
            )
        values: dict[str, str | Phrase] = {"release": self.suggested, "reason": reason, "releases": ", ".join(RELEASES)}
        if self.version:
            template = (
                "The session simulates kube-scheduler {release}: {reason}, and schedviz simulates {releases} and no release in between."
            )
            return phrase(template, **values)
        return phrase(
            "The session simulates kube-scheduler {release}, because {reason}. schedviz simulates {releases} and no release in between.",
            **values,
        )

    @property
    def _reason(self) -> Phrase | None:
        if self.config_releases != RELEASES:
            return phrase("another release refuses the configuration")
        if self.version and _numbers(self.version)[:2] <= _DEFAULT_RELEASE_KUBELET:
            return None
        if self.scheduler:
            return phrase("the log of its scheduler says {version}", version=self.scheduler)
        if self.kubelet:
            return phrase("the newest kubelet of its nodes is {kubelet}", kubelet=self.kubelet)
        if self.newer_field:
            return phrase("its objects have {field}, which older releases do not read", field=self.newer_field)
        if self.newer_words:
            return phrase('its scheduler wrote "{words}", which older releases do not', words=self.newer_words)
        return None


def differences_from(version: str, release: str) -> list[Phrase]:
    """What a cluster of a version between the releases is known to do differently than the simulated one; empty if nothing is known."""
    major, minor, _ = _numbers(version)
    if major != 1:
        return []
    first, last = sorted((minor, _SIMULATED_MINOR[release]))
    return [change for changed, change in _CHANGES if first < changed <= last]


def newer_words(messages: Iterable[str]) -> str:
    """Words in the scheduler's messages that v1.27.1 does not have; "": there are none."""
    return next((newer for message in messages for newer in _NEWER_WORDS if newer in message), "")


def newer_field(obj: KubeObject) -> str:
    """What v1.27.1 does not read of an object, as its path; "": nothing."""
    if isinstance(obj, ResourceSlice | ResourceClaim | DeviceClass | DeviceTaintRule):
        kind = kind_of(obj)
        return f"{kind.name} objects of {kind.api_version}"
    if not isinstance(obj, Pod):
        return ""
    if obj.spec.resources is not None:
        return "spec.resources of pods"
    if any(container.restart_policy == "Always" for container in obj.spec.init_containers):
        return "sidecar containers (restartPolicy Always)"
    return ""


def _reason_for(gates: Iterable[str]) -> Phrase:
    """Why the objects need these gates."""
    return joined([reason for gate, reason in _NEEDED_FOR if gate in gates], "{first}, and {next}")


def _numbers(version: str) -> tuple[int, int, int]:
    match = _VERSION.match(version)
    return (0, 0, 0) if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))


def with_release(report: Report, release: str | None, evidence: ReleaseEvidence, otherwise: str = DEFAULT_RELEASE) -> Report:
    """The report with the simulated release: the chosen one, or else the suggested one, with the reason, or else `otherwise`."""
    if release is not None:
        return msgspec.structs.replace(report, release=release)
    report = msgspec.structs.replace(report, release=evidence.suggested_or(otherwise))
    notes = tuple(note for note in (evidence.note, evidence.gates_note) if note is not None)
    texts = tuple(note.text for note in notes)
    return msgspec.structs.replace(report, warnings=(*texts, *report.warnings), warning_phrases=(*notes, *report.warning_phrases))


def with_other_release(report: dict[str, Any], release: str) -> dict[str, Any]:
    """A report, as its JSON, for another release than the files suggested: without the note that they suggested one."""
    return {
        **report,
        "release": release,
        "warnings": [text for text in report.get("warnings", ()) if not text.startswith(_NOTES)],
        "warningPhrases": [warning for warning in report.get("warningPhrases", ()) if not warning["template"].startswith(_NOTES)],
    }
