"""Reads exports and recordings of kube-scheduler-simulator, and the results in its pod annotations.

An export is one JSON object with lists (`pods`, `nodes`, `pvs`, …) and the scheduler's configuration. A recording (sched-recorder) is a
JSON array, or lines, of `{"time", "event", "resource"}`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import BadObjects, Problem
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.json_dump import JsonReader
from schedviz.ingest.reader import Item
from schedviz.ingest.scheduler_messages import PodMessage
from schedviz.ingest.simulators.recording import ClusterRecording, RecordedChange
from schedviz.kube import timestamps

#: The members of an export -> kind and version of their entries, in reading order.
_LISTS: Final = {
    "namespaces": ("Namespace", "v1"),
    "priorityClasses": ("PriorityClass", "scheduling.k8s.io/v1"),
    "storageClasses": ("StorageClass", "storage.k8s.io/v1"),
    "pvs": ("PersistentVolume", "v1"),
    "pvcs": ("PersistentVolumeClaim", "v1"),
    "nodes": ("Node", "v1"),
    "pods": ("Pod", "v1"),
}
_EXPORT: Final = re.compile(rb'^\s*\{\s*"(?:%b|schedulerConfig)"\s*:\s*(?:\[|\{|null)' % "|".join(_LISTS).encode())
_RECORD: Final = re.compile(rb'^\s*\[?\s*\{\s*"(?:time|event|resource)"\s*:')
_MARK: Final = b"scheduler-simulator/"
_FILTER_RESULT: Final = "scheduler-simulator/filter-result"
_PASSED: Final = "passed"


class SimulatorReader:
    """Reads an export or a recording of kube-scheduler-simulator."""

    format = "kube-scheduler-simulator"

    def __init__(self) -> None:
        self._json = JsonReader()

    def recognises(self, text: bytes) -> bool:
        """Whether the text begins as one of the two does."""
        head = text[:4096]
        return _EXPORT.match(head) is not None or (_RECORD.match(head) is not None and b'"resource"' in text and b'"event"' in text)

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | RecordedSteps]:
        """The objects, and the changes of a recording."""
        if _EXPORT.match(text[:4096]) is None:
            return ClusterRecording(name).read(self._changes(name, text, limits))
        return self._export(name, text)

    def _export(self, name: str, text: bytes) -> Iterator[Item]:
        try:
            export = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            lists = {member: msgspec.json.decode(export[member], type=list[msgspec.Raw] | None) for member in _LISTS if member in export}
        except msgspec.ValidationError as error:
            raise BadObjects([Problem(name, f"this is not an export of kube-scheduler-simulator ({error})", line=1)]) from None
        except msgspec.DecodeError as error:
            raise BadObjects([Problem(name, f"this is not JSON, or it is truncated ({error})", line=1)]) from None
        for member, (kind, _) in _LISTS.items():
            for index, content in enumerate(lists.get(member) or ()):
                yield Item(document=1, path=f"{member}[{index}]", content=content, kind=kind)
        config = export.get("schedulerConfig")
        if config is not None and bytes(config).strip() != b"null":
            yield Item(document=1, path="schedulerConfig", content=_as_configuration(bytes(config)), kind="KubeSchedulerConfiguration")

    def _changes(self, name: str, text: bytes, limits: Limits) -> Iterator[RecordedChange]:
        began: float | None = None
        for item in self._json.read(name, text, limits):
            if isinstance(item, Problem):
                # What follows a change that cannot be read would be another history.
                raise BadObjects([item])
            try:
                record = msgspec.json.decode(item.content, type=_Record) if isinstance(item.content, msgspec.Raw) else None
                seconds = timestamps.parse_timestamp(record.time) if record is not None else 0.0
            except (msgspec.DecodeError, ValueError) as error:
                raise BadObjects([Problem(name, f"this is not a record of sched-recorder ({error})", path=item.path)]) from None
            assert record is not None
            began = seconds if began is None else began
            verb = "delete" if record.event.lower() == "delete" else "put"
            yield RecordedChange(seconds - began, verb, record.resource, f"{item.path}.resource" if item.path else "resource")  # type: ignore[arg-type]

    def documents(self, text: bytes) -> int:
        """The number of documents."""
        return self._json.documents(text)

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`."""
        return self._json.line_of(text, document, path)


class _Record(msgspec.Struct, frozen=True):
    time: str
    event: str
    resource: dict[str, Any]


def _as_configuration(text: bytes) -> dict[str, Any]:
    """The parts of the simulator's configuration that configure the scheduler: profiles and extenders."""
    config = msgspec.json.decode(text)
    if not isinstance(config, dict):
        return {"kind": "KubeSchedulerConfiguration"}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    members = {name: config[name] for name in ("profiles", "extenders", "percentageOfNodesToScore") if config.get(name) is not None}
    return {**head, **members}


def results_of(content: msgspec.Raw | dict[str, Any]) -> PodMessage | None:
    """The simulator's results for a pod, in the form of a FitError; None if the pod has no such annotation or a node passed."""
    if isinstance(content, msgspec.Raw):
        if _MARK not in bytes(content):
            return None
        try:
            pod = msgspec.json.decode(content, type=_Annotated)
        except msgspec.DecodeError:
            return None
    else:
        try:
            pod = msgspec.convert(content, _Annotated)
        except msgspec.ValidationError:
            return None
    try:
        filter_result = msgspec.json.decode((pod.metadata.annotations or {}).get(_FILTER_RESULT, "{}"), type=dict[str, dict[str, str]])
    except msgspec.DecodeError:
        return None
    reasons = [next((result for result in plugins.values() if result != _PASSED), "") for plugins in filter_result.values()]
    if not reasons or not all(reasons):
        return None
    counted = ", ".join(sorted(f"{count} {reason}" for reason, count in Counter(reasons).items()))
    namespace = pod.metadata.namespace or "default"
    return PodMessage(f"{namespace}/{pod.metadata.name}", f"0/{len(reasons)} nodes are available: {counted}.")


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""
    annotations: dict[str, str] | None = None


class _Annotated(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
