"""The nodes and pods that the scheduler's informers have shown: the present versions and the ones before."""

from __future__ import annotations

from collections.abc import Callable

from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.trace.events import WatchDelivered

#: The API server's object of a kind and key, or None.
Find = Callable[[str, str], KubeObject | None]

_KIND_OF = {"nodes": "Node", "pods": "Pod"}


class KnownObjects:
    """Nodes and pods by key. A version is that of the end of the step in which its watch event arrived."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._now: dict[tuple[str, str], KubeObject] = {}
        self._before: dict[tuple[str, str], KubeObject] = {}

    def delivered(self, event: WatchDelivered) -> None:
        """Note the object of a watch event."""
        kind = _KIND_OF.get(event.resource)
        if kind is None:
            return
        object_key = kind, event.key
        old = self._now.pop(object_key, None)
        if old is not None:
            self._before[object_key] = old
        obj = None if event.verb == "DELETED" else self._find(kind, event.key)
        if obj is not None:
            self._now[object_key] = obj
        elif old is not None and event.verb != "DELETED":
            self._now[object_key] = old

    def pod(self, key: str) -> Pod | None:
        """The present version of a pod."""
        obj = self._now.get(("Pod", key))
        return obj if isinstance(obj, Pod) else None

    def node(self, key: str) -> Node | None:
        """The present version of a node."""
        obj = self._now.get(("Node", key))
        return obj if isinstance(obj, Node) else None

    def pod_before(self, key: str) -> Pod | None:
        """The version of a pod before the present one, or its last version if it is gone."""
        obj = self._before.get(("Pod", key))
        return obj if isinstance(obj, Pod) else None

    def node_before(self, key: str) -> Node | None:
        """The version of a node before the present one, or its last version if it is gone."""
        obj = self._before.get(("Node", key))
        return obj if isinstance(obj, Node) else None

    def has_namespace(self, name: str) -> bool:
        """Whether the namespace exists."""
        return self._find("Namespace", name) is not None
