"""The informers' stores: the scheduler's copies of the API server's objects, updated by watch events.

Plugins look objects up here, and see changes in the middle of a cycle, as with upstream's listers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schedviz.engine.cluster.watch import WatchEvent
from schedviz.kube.core import Pod
from schedviz.kube.kinds import BY_NAME, BY_TYPE, KINDS
from schedviz.kube.meta import KubeObject


class Informers:
    """One store for each kind."""

    def __init__(self) -> None:
        self._stores: dict[str, dict[str, KubeObject]] = {kind.name: {} for kind in KINDS}
        #: Kind -> its objects sorted by key; dropped when one changes.
        self._sorted: dict[str, list[KubeObject]] = {}
        #: Kind -> how often its store changed. Derived data is stale once this has increased.
        self.versions: dict[str, int] = dict.fromkeys(self._stores, 0)

    def apply(self, event: WatchEvent) -> KubeObject | None:
        """Update the store and return the object that was there before, or None.

        An object whose add event was missed is stored by its first update, as upstream does.
        """
        store = self._stores[event.kind]
        self._touched(event.kind)
        if event.verb == "DELETED":
            return store.pop(event.key, None)
        before = store.get(event.key)
        store[event.key] = event.object
        return before

    def put(self, obj: KubeObject) -> None:
        """Store an object from the API server's list."""
        kind = BY_TYPE[type(obj)].name
        self._stores[kind][obj.metadata.key] = obj
        self._touched(kind)

    def load(self, kind: str, objects: Mapping[str, KubeObject]) -> None:
        """Replace all objects of a kind, by key."""
        self._stores[kind] = dict(objects)
        self._touched(kind)

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """The object, or None. `namespace` is ignored for cluster-scoped kinds."""
        return self._stores[kind].get(f"{namespace}/{name}" if BY_NAME[kind].namespaced else name)

    def by_key(self, kind: str, key: str) -> Any | None:
        """The object, or None."""
        return self._stores[kind].get(key)

    def pod(self, namespace: str, name: str) -> Pod | None:
        """The pod, or None."""
        return self._stores["Pod"].get(f"{namespace}/{name}")  # type: ignore[return-value]  # the store has pods alone

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """The labels of a namespace; none if it does not exist."""
        namespace = self._stores["Namespace"].get(name)
        return {} if namespace is None else namespace.metadata.labels

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Any]:
        """The objects of a kind sorted by key, of one namespace or of all."""
        objects = self._sorted.get(kind)
        if objects is None:
            store = self._stores[kind]
            objects = self._sorted[kind] = [store[key] for key in sorted(store)]
        if namespace is None:
            return objects
        return [obj for obj in objects if obj.metadata.namespace == namespace]

    def knows(self, kind: str) -> bool:
        """Whether there is a store for the kind."""
        return kind in self._stores

    def objects(self) -> dict[str, dict[str, KubeObject]]:
        """All stores, by kind and key."""
        return self._stores

    def _touched(self, kind: str) -> None:
        self._sorted.pop(kind, None)
        self.versions[kind] += 1
