"""The contents of one file, collected before they are merged with those of other files, so that an invalid file contributes nothing."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schedviz.ingest.bad_parts import BadParts
from schedviz.ingest.configuration.config_text import ConfigText
from schedviz.ingest.errors import IngestError
from schedviz.ingest.logs.scheduler_log import SchedulerLog
from schedviz.ingest.object_events import ObjectEvent
from schedviz.ingest.release_evidence import newest
from schedviz.ingest.report import FileReport, Tally
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.ingest.trace_file import Step, TraceFile
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.phrase import Phrase, phrase
from schedviz.trace.releases import RELEASES

#: A resource version that can be compared: etcd's has 64 bits.
_VERSION: Final = re.compile(r"[0-9]{1,20}")

Key = tuple[type, str]
#: The most Events about objects that are kept of one file, one for each object and reason.
MAX_EVENTS = 20_000


class RecordedSteps(msgspec.Struct, frozen=True):
    """The changes in a recording after its initial objects: commands, with the time between them."""

    steps: tuple[Step, ...]
    #: Descriptions of what was left out of the recording.
    notes: tuple[Phrase, ...] = ()


class FileContents:
    """The contents of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.format = ""
        self.unpacked_bytes = 0
        self.objects: dict[Key, KubeObject] = {}
        self.tally = Tally()
        #: The parsed KubeSchedulerConfigurations.
        self.configs: list[ConfigText] = []
        self.logs: list[SchedulerLog] = []
        #: The latest message about each pod.
        self.messages: dict[str, PodMessage] = {}
        #: The latest Event about each object with each reason.
        self.events: dict[tuple[str, str], ObjectEvent] = {}
        self.trace: TraceFile | None = None
        self.steps: RecordedSteps | None = None
        self.warnings: list[Phrase] = []
        self.bad_parts = BadParts()
        #: Why its objects cannot be read, where only messages were found in it.
        self.why_without_objects: IngestError | None = None
        #: Whether it has messages of the scheduler that do not say about which pod.
        self.has_nameless_messages = False
        #: The newest kubelet version of its nodes; "" if unknown.
        self.kubelet_version = ""
        #: Something in its objects that v1.27.1 does not read; "" if there is nothing of the kind.
        self.newer_field = ""

    def add_object(self, obj: KubeObject) -> None:
        """Add an object. It replaces an earlier version of the same object. Finished pods are left out."""
        kind = type(obj).__name__
        if isinstance(obj, Pod) and obj.is_finished:
            self.tally.drop(kind, f"the pod has finished ({obj.status.phase})", obj.key)
            return
        key = (type(obj), obj.key)
        if self.objects.pop(key, None) is not None:
            self.tally.drop(kind, "duplicate; the last one was kept", obj.key)
        self.objects[key] = obj

    def add_event(self, event: ObjectEvent) -> bool:
        """Add an Event about an object, unless a later one with the same reason is known. False if there are too many."""
        if (event.about, event.reason) not in self.events and len(self.events) >= MAX_EVENTS:
            return False
        _keep_latest_event(self.events, event)
        return True

    def add_message(self, message: PodMessage) -> None:
        """Add a message about a pod, unless a later one is known."""
        _keep_latest_message(self.messages, msgspec.structs.replace(message, source=self.name))

    @property
    def has_contributed(self) -> bool:
        """Whether anything of the file was kept."""
        return bool(self.objects or self.configs or self.logs or self.messages or self.trace or self.steps)

    def report(self) -> FileReport:
        """The entry for the report."""
        dumps = sum(len(log.signals) for log in self.logs)
        return FileReport(self.name, self.format, self.unpacked_bytes, len(self.objects), dumps, len(self.messages))


#: The most files in the report. Files that contributed something come first.
_MAX_LISTED_FILES = 1000


class MergedFiles:
    """The merged contents of all files. `origins` has the file of each object."""

    def __init__(self) -> None:
        self.objects: dict[Key, KubeObject] = {}
        self.origins: dict[Key, str] = {}
        self.files: list[FileReport] = []
        self.has_nameless_messages = False
        self.warnings: list[Phrase] = []
        self.has_config = False
        self.tally = Tally()
        self.messages: dict[str, PodMessage] = {}
        self.events: dict[tuple[str, str], ObjectEvent] = {}
        self.logs: list[SchedulerLog] = []
        self.steps: RecordedSteps | None = None
        self.config: tuple[str, dict[str, Any]] | None = None
        #: The releases that accept `config`.
        self.config_releases: tuple[str, ...] = RELEASES
        #: The newest kubelet version of the nodes; "" if unknown.
        self.kubelet_version = ""
        #: The newest version of a scheduler in the logs, and something in the objects that v1.27.1 does not read; "" if there is none.
        self.scheduler_version = ""
        self.newer_field = ""
        #: The feature gates on the command line of a scheduler's log.
        self.feature_gates: dict[str, bool] = {}

    def add_file(self, file: FileContents) -> None:
        """Add a file. For duplicate objects the newer version is kept, or the last one if the versions cannot be compared."""
        self.files.append(file.report())
        self.warnings += file.warnings
        self.has_nameless_messages = self.has_nameless_messages or file.has_nameless_messages
        self.has_config = self.has_config or bool(file.configs)
        self.kubelet_version = newest(self.kubelet_version, file.kubelet_version)
        for log in file.logs:
            self.scheduler_version = newest(self.scheduler_version, log.version)
            self.feature_gates = log.feature_gates or self.feature_gates
        self.newer_field = self.newer_field or file.newer_field
        self.tally.add(file.tally)
        for key, obj in file.objects.items():
            existing = self.objects.get(key)
            if existing is not None:
                existing_is_newer = _is_newer(existing, obj)
                reason = "duplicate; the newer one was kept" if existing_is_newer else "duplicate; the last one was kept"
                self.tally.drop(type(obj).__name__, reason, obj.key)
                if existing_is_newer:
                    continue
                del self.objects[key]
            self.objects[key] = obj
            self.origins[key] = file.name
        for message in file.messages.values():
            _keep_latest_message(self.messages, message)
        for event in file.events.values():
            _keep_latest_event(self.events, event)
        self.logs += file.logs
        self.steps = file.steps or self.steps

    def reports(self) -> tuple[FileReport, ...]:
        """The report entries of the first files, with the number of objects that were kept from each."""
        counts: dict[str, int] = {}
        for origin in self.origins.values():
            counts[origin] = counts.get(origin, 0) + 1
        listed = self.files
        if len(listed) > _MAX_LISTED_FILES:
            listed = sorted(listed, key=lambda file: not (counts.get(file.name) or file.dumps or file.messages))[:_MAX_LISTED_FILES]
        return tuple(msgspec.structs.replace(file, objects=counts.get(file.name, 0)) for file in listed)

    def all_warnings(self) -> list[Phrase]:
        """The warnings about files, and one about those that the report does not list."""
        unlisted = len(self.files) - _MAX_LISTED_FILES
        return (
            [*self.warnings, phrase("{count} more files were read and are not listed.", count=unlisted)] if unlisted > 0 else self.warnings
        )


def _keep_latest_message(messages: dict[str, PodMessage], message: PodMessage) -> None:
    """Of each pod the latest message is kept; of messages without times, the last one."""
    known = messages.get(message.pod)
    if known is None or (known.seconds or 0) <= (message.seconds or 0):
        messages[message.pod] = message


def _keep_latest_event(events: dict[tuple[str, str], ObjectEvent], event: ObjectEvent) -> None:
    """Of each object and reason the latest Event is kept."""
    key = (event.about, event.reason)
    if key not in events or events[key].at <= event.at:
        events[key] = event


def _is_newer(existing: KubeObject, other: KubeObject) -> bool:
    """Whether the existing object is a later version of the same object, by its resource version."""
    if existing.uid != other.uid:
        return False
    versions = existing.metadata.resource_version, other.metadata.resource_version
    return all(map(_VERSION.fullmatch, versions)) and int(versions[0]) > int(versions[1])
