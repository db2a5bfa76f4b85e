"""The List that `kubectl get nodes,pods -A -o json` prints, which a trace's `dump` step records.

The API server's objects in the engine have only what the scheduler reads. `KubectlList` remembers the rest of what a trace wrote, and
counts the generations of pods, so that neither takes room in the engine's state.

Upstream: pkg/registry/core/pod/strategy.go updatePodGeneration, apiserver/pkg/registry/rest/delete.go BeforeDelete
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

import msgspec

from schedviz.engine.cluster.objects import ObjectStore
from schedviz.kube import codec
from schedviz.kube.core import Pod
from schedviz.kube.kinds import BY_NAME
from schedviz.kube.meta import KubeObject
from schedviz.kube.printed_defaults import complete_node, complete_pod, without_empty
from schedviz.kube.unread import DIGESTS
from schedviz.trace import commands
from schedviz.trace.events import AnyEvent, ApiWritten
from schedviz.trace.releases import V1_27

_KINDS: Final = ("Node", "Pod")
_COMPLETE: Final = {"Node": complete_node, "Pod": complete_pod}
#: Members that only the engine's objects have, not those of the API.
_ENGINE_MEMBERS: Final = (*DIGESTS, "unreadAnnotations")

Json = dict[str, Any]


class KubectlList:
    """Nodes and pods as kubectl prints them. Give it every step of a trace in order."""

    def __init__(self, store: ObjectStore, release: str) -> None:
        self._store = store
        #: v1.36's API server counts the generations of pods; v1.27.1's does not.
        self._counts_generations = release != V1_27
        #: (Kind, key) -> what the engine does not keep of the object.
        self._unread: dict[tuple[str, str], Json] = {}
        #: Pod -> its generation, and its spec at that time with the members that the engine does not keep.
        self._generations: dict[str, int] = {}
        self._specs: dict[str, tuple[Any, Any]] = {}
        #: Pod -> condition type -> the generation that the scheduler saw when it set the condition.
        self._observed: dict[str, dict[str, int]] = {}

    def note(self, command: Any, events: Iterable[AnyEvent]) -> None:
        """Remember what a step wrote."""
        manifest = command.object if isinstance(command, commands.Create | commands.Update) else None
        for event in events:
            if isinstance(event, ApiWritten) and event.kind in _KINDS and not event.error:
                self._note_write(event, manifest)

    def document(self) -> Json:
        """The List."""
        items = [self._printed(kind, key, obj) for kind in _KINDS for key, obj in sorted(self._store.of_kind(kind).items())]
        return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}

    def _note_write(self, event: ApiWritten, manifest: Mapping[str, Any] | None) -> None:
        object_key = event.kind, event.key
        if event.verb == "delete" and self._store.get(*object_key) is None:
            self._forget(*object_key)
            return
        if event.verb == "create" and not event.subresource:
            self._forget(*object_key)
        is_of_user = not event.subresource and not event.by_scheduler and not event.helper and event.verb in ("create", "update")
        if is_of_user and manifest is not None and _is_of(manifest, *object_key):
            self._remember(*object_key, manifest)
        if event.kind == "Pod" and self._counts_generations:
            self._count(event)

    def _remember(self, kind: str, key: str, manifest: Mapping[str, Any]) -> None:
        unread: Json = without_empty(codec.unread_fields(manifest, kind))
        old = self._unread.get((kind, key), {})
        if "status" not in manifest and "status" in old:
            unread["status"] = old["status"]
        metadata = unread.setdefault("metadata", {})
        metadata.pop("managedFields", None)
        annotations = (manifest.get("metadata") or {}).get("annotations")
        if annotations:
            metadata["annotations"] = dict(annotations)
        generation = metadata.pop("generation", None)
        if generation is not None:
            if not self._counts_generations or kind != "Pod":
                metadata["generation"] = generation
            else:
                self._generations.setdefault(key, generation)
        self._unread[kind, key] = unread

    def _forget(self, kind: str, key: str) -> None:
        self._unread.pop((kind, key), None)
        if kind == "Pod":
            for memory in (self._generations, self._specs, self._observed):
                memory.pop(key, None)

    def _count(self, event: ApiWritten) -> None:
        """Count a new generation if the spec changed, which a binding does too, or if a graceful deletion began."""
        pod = self._store.get("Pod", event.key)
        if not isinstance(pod, Pod):
            return
        if event.subresource == "status":
            self._observe(event)
            return
        spec = pod.spec, self._unread.get(("Pod", event.key), {}).get("spec")
        old = self._specs.get(event.key)
        self._specs[event.key] = spec
        generation = self._generations.setdefault(event.key, 1)
        if old is not None and (spec != old or event.verb == "delete"):
            self._generations[event.key] = generation + 1

    def _observe(self, event: ApiWritten) -> None:
        condition = event.detail.removeprefix("condition ").partition("=")[0] if event.detail.startswith("condition ") else ""
        if condition and event.by_scheduler:
            self._observed.setdefault(event.key, {})[condition] = self._generations.get(event.key, 1)

    def _printed(self, kind: str, key: str, obj: KubeObject) -> Json:
        printed: Json = msgspec.json.decode(codec.encode(obj))
        for member in _ENGINE_MEMBERS:
            printed.pop(member, None)
            printed["metadata"].pop(member, None)
        _add(printed, deepcopy(self._unread.get((kind, key), {})))
        _COMPLETE[kind](printed)
        if isinstance(obj, Pod):
            self._add_lifecycle(printed, key)
        return printed

    def _add_lifecycle(self, printed: Json, key: str) -> None:
        metadata = printed["metadata"]
        deleted_at = metadata.get("deletionTimestamp")
        if deleted_at is not None and "." in deleted_at:
            metadata["deletionTimestamp"] = f"{deleted_at.partition('.')[0]}Z"
        if not self._counts_generations:
            return
        metadata["generation"] = self._generations.get(key, 1)
        observed = self._observed.get(key, {})
        for condition in printed["status"].get("conditions", ()):
            if condition["type"] not in observed:
                continue
            if condition["type"] == "PodScheduled" and condition["status"] == "True":
                # The binding replaced the scheduler's condition.
                continue
            condition["observedGeneration"] = observed[condition["type"]]


def _is_of(manifest: Mapping[str, Any], kind: str, key: str) -> bool:
    """Whether an object as a user wrote it is this one."""
    if manifest.get("kind") != kind:
        return False
    metadata = manifest.get("metadata") or {}
    name, namespace = str(metadata.get("name", "")), metadata.get("namespace") or "default"
    return key == (f"{namespace}/{name}" if BY_NAME[kind].namespaced else name)


def _add(result: Any, rest: Any) -> None:
    """Add the members of `rest` that `result` does not have, at every depth. Items of lists are matched by index."""
    if isinstance(result, dict) and isinstance(rest, dict):
        for key, value in rest.items():
            if key == "annotations" or key not in result:
                result[key] = value
            else:
                _add(result[key], value)
    elif isinstance(result, list) and isinstance(rest, list):
        for first, other in zip(result, rest, strict=False):
            _add(first, other)
