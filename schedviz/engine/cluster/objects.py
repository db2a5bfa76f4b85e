"""What the API server has stored: objects by kind and key, and the counter of all writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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

    def get(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        return self._objects[kind].get(key)

    def put(self, obj: KubeObject) -> None:
        """Store the object in place of the one with its key."""
        self._objects[BY_TYPE[type(obj)].name][obj.metadata.key] = obj

    def load(self, kind: str, objects: Mapping[str, KubeObject]) -> None:
        """Store all objects of a kind, by key; each was created once."""
        self._objects[kind] = dict(objects)
        self.creations.update(dict.fromkeys([(kind, key) for key in objects], 1))

    def remove(self, obj: KubeObject) -> None:
        """Forget the object."""
        del self._objects[BY_TYPE[type(obj)].name][obj.metadata.key]

    def of_kind(self, kind: str) -> dict[str, KubeObject]:
        """All objects of a kind by key."""
        return self._objects[kind]

    def by_kind(self) -> dict[str, dict[str, KubeObject]]:
        """All objects by kind and key."""
        return self._objects

    def count(self, kind: str) -> int:
        """How many objects of a kind there are."""
        return len(self._objects[kind])

    def next_resource_version(self) -> str:
        """The number of a new write."""
        self.resource_version += 1
        return str(self.resource_version)

    def __iter__(self) -> Iterator[KubeObject]:
        for objects in self._objects.values():
            yield from objects.values()


def qualified_resource(kind: str) -> str:
    """How errors name a resource: `pods`, `csinodes.storage.k8s.io`."""
    entry = BY_NAME[kind]
    group, _, version = entry.api_version.rpartition("/")
    return f"{entry.resource}.{group}" if version and group else entry.resource
