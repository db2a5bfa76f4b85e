"""`MovedPods`: the present snapshot with pods placed and taken away, to see the nodes as they were at another time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from schedviz.engine.cache import Snapshot
from schedviz.engine.cache.snapshot import ListChanges
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo


class MovedPods:
    """A snapshot for dry runs, in which pods can be moved. Nodes, volumes and other objects stay those of the present."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    @contextmanager
    def placed(self, pods: Iterable[PodInfo]) -> Iterator[None]:
        """Place pods until the `with` ends."""
        placed = [pod for pod in pods if self.place(pod)]
        try:
            yield
        finally:
            for pod in reversed(placed):
                self.take_away(pod)

    def place(self, pod: PodInfo) -> bool:
        """Put a pod on the node that its spec names. False: it is there already, or there is no such node."""
        info = self.snapshot.node_info_map.get(pod.pod.spec.node_name)
        if info is None or _find(info, pod.uid) is not None:
            return False
        changed = _private(info)
        changed.add_pod(pod)
        self._overwrite(info, changed)
        return True

    def take_away(self, pod: PodInfo) -> None:
        """Take a pod from the node that its spec names. Does nothing if it is not there."""
        info = self.snapshot.node_info_map.get(pod.pod.spec.node_name)
        if info is None or (placed := _find(info, pod.uid)) is None:
            return
        changed = _private(info)
        changed.remove_pod(placed)
        self._overwrite(info, changed)

    def _overwrite(self, info: NodeInfo, changed: NodeInfo) -> None:
        # The cache must not copy its own NodeInfo over the changed one, so the generation stays.
        changed.generation = info.generation
        changes = ListChanges()
        changes.overwrite(info, changed)
        self.snapshot.update_lists(changes)
        self.snapshot.columns.mark(info.name, node_changed=False)


def _private(info: NodeInfo) -> NodeInfo:
    """A copy with a counter of its own: the engine's generations are recorded, and must not depend on dry runs."""
    copy = info.clone()
    copy.generations = Generations()
    return copy


def _find(info: NodeInfo, uid: str) -> PodInfo | None:
    return next((pod for pod in info.pods if pod.uid == uid), None)
