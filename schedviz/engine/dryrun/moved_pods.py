"""`MovedPods`: the present snapshot with pods placed and taken away, to see the nodes as they were at another moment."""

from __future__ import annotations

from schedviz.engine.cache import Snapshot
from schedviz.engine.cache.snapshot import ListChanges
from schedviz.engine.framework.types import Generations, NodeInfo, PodInfo


class MovedPods:
    """A copy of a snapshot, in which pods can be moved. Nodes, volumes and other objects stay those of the present."""

    def __init__(self, snapshot: Snapshot) -> None:
        #: The copy, for dry runs.
        self.snapshot: Snapshot = snapshot.copy()

    def place(self, pod: PodInfo) -> None:
        """Put a pod on the node that its spec names. Does nothing if it is there, or if there is no such node."""
        info = self.snapshot.node_info_map.get(pod.pod.spec.node_name)
        if info is None or _find(info, pod.uid) is not None:
            return
        changed = _private(info)
        changed.add_pod(pod)
        self._overwrite(info, changed)

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
        self.snapshot.refile(changes)
        self.snapshot.columns.mark(info.name, node_changed=False)


def _private(info: NodeInfo) -> NodeInfo:
    """A copy with a counter of its own: the engine's generations are recorded, and must not depend on dry runs."""
    copy = info.clone()
    copy.generations = Generations()
    return copy


def _find(info: NodeInfo, uid: str) -> PodInfo | None:
    return next((pod for pod in info.pods if pod.uid == uid), None)
