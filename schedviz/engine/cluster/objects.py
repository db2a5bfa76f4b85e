"""The API server's stored objects by kind and key, and the counter of writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Final

from schedviz.engine.cluster.object_index import ObjectIndex
from schedviz.engine.cluster.object_weight import weight_of
from schedviz.kube.kinds import BY_NAME, BY_TYPE, KINDS
from schedviz.kube.meta import KubeObject, controller_of

#: At most this many indexes are kept for one kind: each write updates all of them.
MAX_INDEXES: Final = 32


class ObjectStore:
    """Objects by kind and key, in the order of their creation."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, KubeObject]] = {kind.name: {} for kind in KINDS}
        #: The number of the last write.
        self.resource_version = 0
        #: (kind, key) -> how often an object of that name was created.
        self.creations: dict[tuple[str, str], int] = {}
        self._weights: dict[tuple[str, str], int] = {}
        #: Kinds and keys of objects that were written since weights were last asked for: most clusters are never weighed.
        self._unweighed: set[tuple[str, str]] = set()
        #: By kind: by a label (its key) or by controller (None).
        self._indexes: dict[str, dict[str | None, ObjectIndex]] = {}
        #: Called after each write with the object before it (None: it was created) and after it (None: it was removed).
        self.on_change: Callable[[KubeObject | None, KubeObject | None], object] | None = None

    def get(self, kind: str, key: str) -> KubeObject | None:
        """The object, or None."""
        return self._objects[kind].get(key)

    def put(self, obj: KubeObject) -> None:
        """Store the object; it replaces one with the same key."""
        kind, key = BY_TYPE[type(obj)].name, obj.metadata.key
        objects = self._objects[kind]
        before = objects.get(key)
        objects[key] = obj
        # A new object from a client has labels of its own. The writes of the engine add little.
        if before is None or before.metadata.labels is not obj.metadata.labels:
            self._unweighed.add((kind, key))
        self._changed(kind, before, obj)

    def load(self, kind: str, objects: Mapping[str, KubeObject]) -> None:
        """Store all objects of a kind, by key; each counts as created once. Assigning `weights` afterwards saves weighing them."""
        self._objects[kind] = dict(objects)
        self._unweighed.update([(kind, key) for key in objects])
        self._indexes.pop(kind, None)
        self.creations.update(dict.fromkeys([(kind, key) for key in objects], 1))

    def remove(self, obj: KubeObject) -> None:
        """Remove the object."""
        kind = BY_TYPE[type(obj)].name
        removed = self._objects[kind].pop(obj.metadata.key)
        self._unweighed.discard((kind, obj.metadata.key))
        self._weights.pop((kind, obj.metadata.key), None)
        self._changed(kind, removed, None)

    def of_kind(self, kind: str) -> dict[str, KubeObject]:
        """All objects of a kind by key."""
        return self._objects[kind]

    def with_label(self, kind: str, key: str, value: str) -> Collection[KubeObject]:
        """The objects of a kind that have a label, in the order of their creation."""
        return self._index(kind, key).get(value)

    def controlled_by(self, kind: str, uid: str) -> Collection[KubeObject]:
        """The objects of a kind whose controller has this uid, in the order of their creation. Upstream: metav1.GetControllerOf"""
        return self._index(kind, None).get(uid)

    def _index(self, kind: str, label: str | None) -> ObjectIndex:
        indexes = self._indexes.setdefault(kind, {})
        index = indexes.get(label)
        if index is None:
            if len(indexes) >= MAX_INDEXES:
                indexes.clear()
            value_of = _controller_uid if label is None else partial(_label_value, label)
            index = indexes[label] = ObjectIndex(value_of, self._objects[kind].values())
        return index

    def _changed(self, kind: str, before: KubeObject | None, after: KubeObject | None) -> None:
        indexes = self._indexes.get(kind)
        if indexes:
            for label in [label for label, index in indexes.items() if not index.replace(before, after)]:
                del indexes[label]
        if self.on_change is not None:
            self.on_change(before, after)

    def by_kind(self) -> dict[str, dict[str, KubeObject]]:
        """All objects by kind and key."""
        return self._objects

    def count(self, kind: str) -> int:
        """The number of objects of a kind."""
        return len(self._objects[kind])

    @property
    def weights(self) -> dict[tuple[str, str], int]:
        """By kind and key, the weights of objects that weigh more than 1."""
        for kind, key in self._unweighed:
            if (weight := weight_of(self._objects[kind][key])) > 1:
                self._weights[kind, key] = weight
            else:
                self._weights.pop((kind, key), None)
        self._unweighed.clear()
        return self._weights

    @weights.setter
    def weights(self, weights: dict[tuple[str, str], int]) -> None:
        self._weights = weights
        self._unweighed.clear()

    def total_weight(self) -> int:
        """The weight of all objects, which is their number if none is large."""
        weights = self.weights
        return sum(map(len, self._objects.values())) + sum(weights.values()) - len(weights)

    def next_resource_version(self) -> str:
        """The number of a new write."""
        self.resource_version += 1
        return str(self.resource_version)

    def __iter__(self) -> Iterator[KubeObject]:
        for objects in self._objects.values():
            yield from objects.values()


def _label_value(key: str, obj: KubeObject) -> str | None:
    return obj.metadata.labels.get(key)


def _controller_uid(obj: KubeObject) -> str | None:
    controller = controller_of(obj)
    return None if controller is None else controller.uid


def qualified_resource(kind: str) -> str:
    """A resource as error messages name it: `pods`, `csinodes.storage.k8s.io`."""
    entry = BY_NAME[kind]
    group, _, version = entry.api_version.rpartition("/")
    return f"{entry.resource}.{group}" if version and group else entry.resource
