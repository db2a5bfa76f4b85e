"""Lists the fields of objects that are not stored, by path, for users who check what leaves their machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from schedviz.ingest.reader import Item
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject
from schedviz.kube.shapes import nested_struct
from schedviz.kube.unread import READ_ANNOTATIONS


class DroppedFields:
    """Counts the fields that are dropped, object by object. The keys of `counts` look like `Pod.spec.containers[].env`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, item: Item, obj: KubeObject) -> None:
        """Count the fields of the input that the decoded object lacks."""
        content = msgspec.json.decode(item.content) if isinstance(item.content, msgspec.Raw) else item.content
        self._walk(content, type(obj), BY_TYPE[type(obj)].name)

    def _walk(self, obj: Any, struct: type, path: str) -> None:
        if not isinstance(obj, Mapping):
            return
        members = _members(struct)
        for name, value in obj.items():
            if value in (None, "", [], {}) or (name in ("kind", "apiVersion") and "." not in path):
                continue
            if name not in members:
                self.counts[f"{path}.{name}"] += 1
                continue
            nested, is_sequence = members[name]
            if name == "annotations" and isinstance(value, Mapping):
                self.counts[f"{path}.annotations"] += sum(key not in READ_ANNOTATIONS for key in value)
            elif nested is None:
                continue
            elif is_sequence:
                for entry in value if isinstance(value, list) else ():
                    self._walk(entry, nested, f"{path}.{name}[]")
            else:
                self._walk(value, nested, f"{path}.{name}")

    def lines(self) -> list[tuple[str, int]]:
        """Path and number, by path."""
        return sorted((path, count) for path, count in self.counts.items() if count)


@cache
def _members(struct: type) -> dict[str, tuple[type | None, bool]]:
    """JSON name -> the nested struct, and whether the member is a sequence of it."""
    return {field.encode_name: nested_struct(field.type) for field in msgspec.structs.fields(struct)}
