"""Reads recordings of KWOK (`kwokctl snapshot record`): YAML documents, first the objects, then ResourcePatch actions.

A snapshot (`kwokctl snapshot export`, or `record --snapshot`) contains only objects, which is plain YAML.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import BadObjects, Problem
from schedviz.ingest.file_contents import RecordedSteps
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.yaml_dump import YamlReader
from schedviz.ingest.reader import Item
from schedviz.ingest.simulators.recording import ClusterRecording, RecordedChange, Verb, kind_of_resource
from schedviz.kube.kinds import BY_NAME

_API: Final = b"action.kwok.x-k8s.io/"
_NANO: Final = 1e9
#: How directives in a strategic merge patch begin, such as `$patch` and `$setElementOrder/containers`.
_DIRECTIVE: Final = "$"
#: The merge keys by which list entries are matched, tried in this order.
_MERGE_KEYS: Final = ("name", "type", "key", "containerPort", "topologyKey", "uid")


class KwokReader:
    """Reads a recording of `kwokctl snapshot record`."""

    format = "KWOK recording"

    def __init__(self) -> None:
        self._yaml = YamlReader()

    def recognises(self, text: bytes) -> bool:
        """Whether the text contains ResourcePatch actions."""
        return _API in text and b"ResourcePatch" in text

    def read(self, name: str, text: bytes, limits: Limits) -> Iterator[Item | RecordedSteps]:
        """The objects and the changes after them."""
        return ClusterRecording(name).read(self._changes(name, text, limits))

    def _changes(self, name: str, text: bytes, limits: Limits) -> Iterator[RecordedChange]:
        objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        for item in self._yaml.read(name, text, limits):
            if isinstance(item, Problem):
                # What follows a change that cannot be read would be another history.
                raise BadObjects([item])
            content = item.content
            if not isinstance(content, dict):
                continue
            if content.get("kind") != "ResourcePatch":
                objects[_key(content.get("kind", ""), content)] = content
                yield RecordedChange(0, "put", content, f"document {item.document}")
                continue
            change = self._of_patch(name, item.document, content, objects)
            if change is not None:
                yield change

    def _of_patch(
        self, name: str, document: int, patch: dict[str, Any], objects: dict[tuple[str, str, str], dict[str, Any]]
    ) -> RecordedChange | None:
        try:
            action = msgspec.convert(patch, _Patch)
        except msgspec.ValidationError as error:
            raise BadObjects([Problem(name, f"this is not a ResourcePatch ({error})", document=document)]) from None
        kind = kind_of_resource(action.resource.resource)
        if not kind:
            return None
        key = (kind, action.target.namespace, action.target.name)
        existing = objects.get(key)
        if action.method == "delete":
            verb: Verb = "delete"
            content = objects.pop(key, None) or _bare(key)
        elif action.method == "create" or existing is None:
            verb, content = "put", {**(action.template or {}), **_named(key, action.template or {})}
        else:
            verb, content = "put", merged(existing, action.template or {})
        if verb == "put":
            objects[key] = content
        return RecordedChange(max(action.duration_nanosecond / _NANO, 1e-3), verb, content, f"document {document}")

    def documents(self, text: bytes) -> int:
        """The number of documents."""
        return self._yaml.documents(text)

    def line_of(self, text: bytes, document: int, path: str) -> int:
        """The line number of `path`."""
        return self._yaml.line_of(text, document, path)


class _Resource(msgspec.Struct, frozen=True):
    resource: str
    group: str = ""
    version: str = ""


class _Target(msgspec.Struct, frozen=True):
    name: str
    namespace: str = ""


class _Patch(msgspec.Struct, frozen=True, rename="camel"):
    resource: _Resource
    target: _Target
    method: str
    duration_nanosecond: int = 0
    template: dict[str, Any] | None = None


def _key(kind: str, content: dict[str, Any]) -> tuple[str, str, str]:
    metadata = content.get("metadata") or {}
    return kind, str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _bare(key: tuple[str, str, str]) -> dict[str, Any]:
    return _named(key, {})


def _named(key: tuple[str, str, str], content: dict[str, Any]) -> dict[str, Any]:
    kind, namespace, name = key
    metadata = {**(content.get("metadata") or {}), "name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": metadata}


def merged(value: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Apply a strategic merge patch: null deletes, lists of named entries are merged by name, other lists are replaced."""
    result = copy.copy(value)
    for name, change in patch.items():
        if name.startswith(_DIRECTIVE):
            continue
        present = result.get(name)
        if change is None:
            result.pop(name, None)
        elif isinstance(change, dict):
            result[name] = merged(present if isinstance(present, dict) else {}, change)
        elif isinstance(change, list) and isinstance(present, list):
            result[name] = _merged_list(present, change)
        else:
            result[name] = change
    return result


def _merged_list(present: list[Any], change: list[Any]) -> list[Any]:
    every = [*present, *change]
    by = next((key for key in _MERGE_KEYS if all(isinstance(entry, dict) and key in entry for entry in every)), None)
    if by is None:
        return change
    entries = {str(entry[by]): entry for entry in present}
    for entry in change:
        if entry.get("$patch") == "delete":
            entries.pop(str(entry[by]), None)
        else:
            entries[str(entry[by])] = merged(entries.get(str(entry[by]), {}), entry)
    return list(entries.values())
