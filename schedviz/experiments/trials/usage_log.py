"""Records the changes during a trial of how much of its nodes is used. `usage` makes series of them after the trial."""

from __future__ import annotations

from typing import NamedTuple

from schedviz.engine import Simulation
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject


class NodeOrPodWrite(NamedTuple):
    """A node or a pod was created, updated or deleted. Of updates of pods only those are kept that bind or finish the pod."""

    #: The scheduling cycle that began last; 0: none has begun.
    cycle: int
    #: In nanoseconds of virtual time.
    at: int
    #: None: it was created.
    before: KubeObject | None
    #: None: it was deleted.
    after: KubeObject | None


class UsageLog:
    """The changes of a trial in order. The first ones are the loaded objects."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        store = simulation.cluster.store
        self.changes = [NodeOrPodWrite(0, 0, None, obj) for obj in store if isinstance(obj, Node | Pod)]
        store.on_change = self._note

    def _note(self, before: KubeObject | None, after: KubeObject | None) -> None:
        # Called for every write: it must take little time.
        if _matters(before, after):
            self.changes.append(NodeOrPodWrite(self._simulation.cycle, self._simulation.clock.now, before, after))


def _matters(before: KubeObject | None, after: KubeObject | None) -> bool:
    if isinstance(before, Pod) and isinstance(after, Pod):
        return before.spec.node_name != after.spec.node_name or before.is_finished != after.is_finished
    return isinstance(after if before is None else before, Node | Pod)
