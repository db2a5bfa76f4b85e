"""Converts recordings of a cluster to a session: the initial objects, then commands with the time between them.

The session's own scheduler makes the decisions. A pod that was created later arrives unbound, and updates of it by the real scheduler or
the kubelet are left out, except for its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from schedviz.ingest.errors import BadObjects, Problem
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.reader import Item
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.errors import DecodeError, UnknownKindError
from schedviz.kube.kinds import BY_NAME
from schedviz.kube.meta import KubeObject
from schedviz.trace.commands import Advance, AnyCommand, Create, Delete, Helper, HelperName, Run, Update
from schedviz.trace.phrase import Phrase, phrase

Verb = Literal["put", "delete"]
#: Workloads from which the simulated controllers create pods, and those controllers.
_CONTROLLERS_OF_KIND: Final[dict[str, tuple[HelperName, ...]]] = {
    "Deployment": ("deployments", "replicaSets"),
    "ReplicaSet": ("replicaSets",),
}


class RecordedChange(msgspec.Struct, frozen=True):
    """A change: an object was created or updated (`content` is its new state), or deleted."""

    #: Seconds since the recording began.
    seconds: float
    verb: Verb
    content: dict[str, Any]
    #: The position in the file, for messages.
    path: str = ""


class ClusterRecording:
    """Converts changes to objects and steps. Changes at second 0 are the initial objects."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[AnyCommand] = []
        self.left_out: dict[str, tuple[Phrase, int]] = {}
        #: The times of the last command and of the current change.
        self._seconds = self._now = 0.0
        #: The current state of each object.
        self._known: dict[tuple[str, str], KubeObject] = {}
        self._is_dirty = False
        self._helpers: list[HelperName] = []

    def read(self, changes: Iterable[RecordedChange]) -> Iterator[Item | RecordedSteps]:
        """The objects, then the steps. Raises `BadObjects`."""
        for number, change in enumerate(changes):
            obj = self._decoded(change)
            if obj is None:
                continue
            if change.seconds <= 0 and change.verb == "put" and not self.steps:
                self._known[type(obj).__name__, obj.key] = obj
                self._need_helpers(obj)
                yield Item(document=1, path=change.path or f"[{number}]", content=change.content)
                continue
            self._now = change.seconds
            self._do(change, obj)
        self._run()
        helpers: list[AnyCommand] = [Helper(name=helper) for helper in self._helpers]
        if helpers:
            helpers.append(Run())
        notes = tuple(phrase("{count} × {what}", count=count, what=label) for label, count in self.left_out.values())
        yield RecordedSteps((*helpers, *self.steps), notes)

    def _decoded(self, change: RecordedChange) -> KubeObject | None:
        try:
            return codec.from_dict(change.content)
        except UnknownKindError as error:
            self._leave_out(phrase("{kind}: the scheduler does not read it", kind=error.found))
            return None
        except DecodeError as error:
            problem = Problem(self.name, error.message, path=error.inside(change.path).path)
            raise BadObjects([problem]) from None

    def _run(self) -> None:
        if self._is_dirty:
            self.steps.append(Run())
            self._is_dirty = False

    def _do(self, change: RecordedChange, obj: KubeObject) -> None:
        key = (type(obj).__name__, obj.key)
        existing = self._known.get(key)
        if change.verb == "delete" or (isinstance(obj, Pod) and obj.is_finished):
            if existing is not None:
                del self._known[key]
                self._add(Delete(kind=key[0], name=obj.name, namespace=obj.namespace or "default"))
            return
        self._known[key] = obj
        if existing is None:
            self._need_helpers(obj)
            self._add(Create(object=_as_it_came(change.content, obj)))
        elif isinstance(obj, Pod) and isinstance(existing, Pod):
            if len(obj.spec.scheduling_gates) < len(existing.spec.scheduling_gates):
                self._add(Update(object=_as_it_came(change.content, obj)))
            else:
                self._leave_out(phrase("update of a pod, which the session's own scheduler decides"))
        elif _reads_differently(existing, obj):
            if obj.metadata.deletion_timestamp is not None and existing.metadata.deletion_timestamp is None:
                # As on a real API server, an update does not change the deletionTimestamp.
                self._add(Delete(kind=key[0], name=obj.name, namespace=obj.namespace or "default", finalizers=True))
            self._add(Update(object=change.content))
        else:
            self._leave_out(phrase("update of fields that the scheduler does not read"))

    def _leave_out(self, label: Phrase) -> None:
        _, count = self.left_out.get(label.text, (label, 0))
        self.left_out[label.text] = (label, count + 1)

    def _add(self, command: AnyCommand) -> None:
        if self._now > self._seconds:
            self._run()
            self.steps.append(Advance(seconds=round(self._now - self._seconds, 3)))
            self._seconds = self._now
        self.steps.append(command)
        self._is_dirty = True

    def _need_helpers(self, obj: KubeObject) -> None:
        for helper in _CONTROLLERS_OF_KIND.get(type(obj).__name__, ()):
            if helper not in self._helpers and not obj.metadata.owner_references:
                self._helpers.append(helper)


def _as_it_came(content: dict[str, Any], obj: KubeObject) -> dict[str, Any]:
    """A pod without what the cluster added later; other objects unchanged."""
    if not isinstance(obj, Pod):
        return content
    spec = {name: member for name, member in (content.get("spec") or {}).items() if name != "nodeName"}
    return {**content, "spec": spec, "status": {}}


def _reads_differently(existing: KubeObject, obj: KubeObject) -> bool:
    return _as_read(existing) != _as_read(obj)


def _as_read(obj: KubeObject) -> KubeObject:
    metadata = msgspec.structs.replace(obj.metadata, resource_version="", unread_annotations="")
    return msgspec.structs.replace(obj, unread="", metadata=metadata)


def kind_of_resource(resource: str) -> str:
    """`pods` -> `Pod`; "" for resources that are not read."""
    return next((kind.name for kind in BY_NAME.values() if kind.resource == resource), "")
