"""The doctor's findings about imported files: objects, logs with dumps, a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

from schedviz.engine.cache.debugger.signal import Signal
from schedviz.engine.config import load_configuration
from schedviz.engine.features import features_of
from schedviz.engine.releases import RELEASES
from schedviz.explain.doctor.differences import Examination, KnownScheduler
from schedviz.explain.doctor.examine import examine_dump, examine_dump_alone, examine_objects
from schedviz.explain.doctor.object_events import ObjectEvent, notes_of_events
from schedviz.explain.doctor.verdict import verdict
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, as_sentence, phrase
from schedviz.trace.releases import DEFAULT_RELEASE

#: Differences described in words.
_MAX_DESCRIBED: Final = 20
#: The import itself warns of these if there is no dump.
_ALWAYS_REPORTED: Final = frozenset({"ghost node"})
_NO_GATES: Final[Mapping[str, bool]] = {}
#: Findings of each comparison that an import report keeps.
MAX_FINDINGS: Final = 200


class LogWithDumps(Protocol):
    """A log of kube-scheduler, with its SIGUSR2 dumps, the oldest first."""

    @property
    def name(self) -> str: ...
    @property
    def signals(self) -> Sequence[Signal]: ...


class SchedulerMessage(Protocol):
    """A scheduler's message about a pod, `namespace/name`."""

    @property
    def pod(self) -> str: ...
    @property
    def message(self) -> str: ...


class ImportedFiles(Protocol):
    """What the doctor reads of an import (`schedviz.ingest.load.Import`)."""

    @property
    def objects(self) -> Sequence[KubeObject]: ...
    @property
    def config(self) -> dict[str, Any] | None:
        """The KubeSchedulerConfiguration."""

    @property
    def logs(self) -> Sequence[LogWithDumps]: ...
    @property
    def messages(self) -> Sequence[SchedulerMessage]: ...
    @property
    def events(self) -> Sequence[ObjectEvent]: ...
    @property
    def made_of_dump(self) -> bool:
        """Whether the objects were made of a dump, because the files have no others."""


def examine_import(
    files: ImportedFiles, *, names: tuple[str, ...] = (), release: str = DEFAULT_RELEASE, feature_gates: Mapping[str, bool] = _NO_GATES
) -> list[Examination]:
    """An examination of the last dump of each log, or of the objects if there is none.

    Events about pending pods and their claims are notes of the first examination. The scheduler of the dumps has this release and these
    feature gates; `names` override the scheduler names of the configuration. Raises `ConfigurationError`.
    """
    scheduler = scheduler_of(files.config, names, release=release, feature_gates=feature_gates)
    first, *others = (msgspec.structs.replace(examination, release=release) for examination in _examinations(files, scheduler))
    return [msgspec.structs.replace(first, findings=(*first.findings, *notes_of_events(files.events, files.objects))), *others]


def _examinations(files: ImportedFiles, scheduler: KnownScheduler) -> list[Examination]:
    said = {message.pod: message.message for message in files.messages}
    with_dumps = {log.name: log.signals for log in files.logs if log.signals}
    if files.made_of_dump or (with_dumps and not any(isinstance(obj, (Node, Pod)) for obj in files.objects)):
        return [examine_dump_alone(signals[-1], name=name, said=said) for name, signals in with_dumps.items()]
    if not with_dumps:
        return [examine_objects(files.objects, scheduler=scheduler, said=said)]
    return [
        examine_dump(files.objects, signals[-1], earlier=signals[:-1], scheduler=scheduler, name=name, said=said)
        for name, signals in with_dumps.items()
    ]


def scheduler_of(
    config: dict[str, Any] | None,
    names: tuple[str, ...] = (),
    *,
    release: str = DEFAULT_RELEASE,
    feature_gates: Mapping[str, bool] = _NO_GATES,
) -> KnownScheduler:
    """The scheduler described by a configuration; `names` override the profiles' names. Raises `ConfigurationError`."""
    release_ = RELEASES[release]
    features = features_of(release_.gates, feature_gates)
    pod_info, nominates = release_.pod_info(features), features.nominated_node_name_for_expectation
    if config is None:
        return KnownScheduler(names or KnownScheduler().names, pod_info=pod_info, nominates_before_binding=nominates)
    parsed = load_configuration(config, release=release, features=features)
    profiles = tuple(profile.scheduler_name for profile in parsed.profiles)
    return KnownScheduler(names or profiles, tuple(parsed.extenders), pod_info, nominates)


def cut_examination(examination: Examination) -> dict[str, Any] | None:
    """The form in a report: at most `MAX_FINDINGS` findings, and their numbers; None if there is nothing to report about objects."""
    if not examination.findings and "dump" not in examination.compared:
        return None
    report: dict[str, Any] = msgspec.to_builtins(examination)
    report["findings"] = report["findings"][:MAX_FINDINGS]
    counts = {"differences": len(examination.differences), "notes": len(examination.notes)}
    summary = verdict(examination)
    return {"verdict": as_sentence(summary.text), "verdictPhrase": msgspec.to_builtins(summary), **report, **counts}


def differences_in_words(examinations: Sequence[Examination]) -> list[Phrase]:
    """The first differences of some examinations, one or two sentences each."""
    sentences = [
        phrase("{what}. Likely: {cause}.", what=finding.sentence_phrase or "", cause=finding.cause_phrase or "")
        for examination in examinations
        for finding in examination.differences
        if "dump" in examination.compared or finding.kind not in _ALWAYS_REPORTED
    ]
    more = len(sentences) - _MAX_DESCRIBED
    # A common cause of several differences comes first.
    verdicts = [verdict(examination) for examination in examinations if len(examination.differences) > 1 and len(sentences) > 1]
    rest = [phrase("… and {count} more differences; `schedviz doctor` lists all of them.", count=more)] if more > 0 else []
    return [*verdicts, *sentences[:_MAX_DESCRIBED], *rest]
