"""The API server's stored objects by kind and key, and the counter of writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from schedviz.kube.kinds import BY_NAME, BY_TYPE, KINDS
from schedviz.kube.meta import KubeObject


class ObjectStore:
    """Objects by kind and key, in the order of their creation."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, KubeObject]] = {kind.name: {} for kind in KINDS}
        #: The number of the last write.
        self.resource_version = 0
        #: (kind, key) -> how often an object of that name was created.
        self.creations: dict[tuple[str, str], int] = {}
        #: By kind, key and value of a label.
        self._labelled: dict[str, dict[str, dict[str, list[KubeObject]]]] = {}
        #: Called after each write with the object before it (None: it was created) and after it (None: it was removed).
        self.on_change: Callable[[KubeObject | None, KubeObject | None], object] | None = None

    def get(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        return self._objects[kind].get(key)

    def put(self, obj: KubeObject) -> None:
        """Store the object; it replaces one with the same key."""
        kind, key = BY_TYPE[type(obj)].name, obj.metadata.key
        objects = self._objects[kind]
        self._labelled.pop(kind, None)
        if self.on_change is None:
            objects[key] = obj
            return
        before = objects.get(key)
        objects[key] = obj
        self.on_change(before, obj)

    def load(self, kind: str, objects: Mapping[str, KubeObject]) -> None:
        """Store all objects of a kind, by key; each counts as created once."""
        self._objects[kind] = dict(objects)
        self._labelled.pop(kind, None)
        self.creations.update(dict.fromkeys([(kind, key) for key in objects], 1))

    def remove(self, obj: KubeObject) -> None:
        """Remove the object."""
        kind = BY_TYPE[type(obj)].name
        self._labelled.pop(kind, None)
        removed = self._objects[kind].pop(obj.metadata.key)
        if self.on_change is not None:
            self.on_change(removed, None)

    def of_kind(self, kind: str) -> dict[str, KubeObject]:
        """All objects of a kind by key."""
        return self._objects[kind]

    def with_label(self, kind: str, key: str) -> Mapping[str, Sequence[KubeObject]]:
        """The objects of a kind by the value of a label, in the order of their creation. Kept until one of the kind changes."""
        by_key = self._labelled.setdefault(kind, {})
        found = by_key.get(key)
        if found is None:
            found = by_key[key] = {}
            for obj in self._objects[kind].values():
                if (value := obj.metadata.labels.get(key)) is not None:
                    found.setdefault(value, []).append(obj)
        return found

    def by_kind(self) -> dict[str, dict[str, KubeObject]]:
        """All objects by kind and key."""
        return self._objects

    def count(self, kind: str) -> int:
        """The number of objects of a kind."""
        return len(self._objects[kind])

    def next_resource_version(self) -> str:
        """The number of a new write."""
        self.resource_version += 1
        return str(self.resource_version)

    def __iter__(self) -> Iterator[KubeObject]:
        for objects in self._objects.values():
            yield from objects.values()


def qualified_resource(kind: str) -> str:
    """A resource as error messages name it: `pods`, `csinodes.storage.k8s.io`."""
    entry = BY_NAME[kind]
    group, _, version = entry.api_version.rpartition("/")
    return f"{entry.resource}.{group}" if version and group else entry.resource
