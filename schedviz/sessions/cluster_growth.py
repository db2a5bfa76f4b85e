"""The nodes, pods and other objects that commands add to one cluster, compared with the quotas when the commands are executed.

A command of a user is also checked when it is accepted (`quotas.require_command_quota`). Only here are the commands of observations and
files counted, and the pods that simulated controllers create once they are enabled.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from schedviz.engine import Simulation
from schedviz.engine.cluster.controllers.pods import active_pods_of, missing_pods
from schedviz.engine.cluster.object_weight import weight_of
from schedviz.kube import codec
from schedviz.kube.apps import Deployment, ReplicaSet
from schedviz.kube.errors import KubeError
from schedviz.sessions import quotas
from schedviz.sessions.commands.limits import replicas_of
from schedviz.sessions.quotas import KIND_OF_OBJECT
from schedviz.trace.commands import AnyCommand, Create, Helper, Schedule, Update

#: The workloads whose pods the simulated controllers create.
_WORKLOADS: Final = (Deployment.__name__, ReplicaSet.__name__)


def size_of(simulation: Simulation) -> Counter[str]:
    """How many `nodes`, `pods` and `objects` of all kinds the cluster has. A large object counts as several."""
    store = simulation.cluster.store
    return Counter({name: store.count(kind) for kind, name in KIND_OF_OBJECT.items()} | {"objects": store.total_weight()})


class ClusterGrowth:
    """How far a cluster has grown since it was last counted."""

    def __init__(self, owner_id: int | None, simulation: Simulation) -> None:
        """The present size counts as known to the quotas: it is stored with the session, or was required for it."""
        self._owner_id = owner_id
        self._simulation = simulation
        #: The largest size that was counted. A pod that replaces another one is no growth.
        self._counted = size_of(simulation)

    def begin(self, command: AnyCommand) -> None:
        """Count from the present size on, and what a command that begins will add. Raises `QuotaReached` if there is no room for it."""
        if not quotas.are_limited(quotas.OBJECT_KINDS):
            return
        self._counted = size_of(self._simulation)
        added = _added_by(self._simulation, command)
        if self._simulation.cluster.controllers.is_catching_up:
            # The controllers continue first, whatever the command is: a command that was stopped by a quota is not continued by the next.
            added["pods"] = max(added["pods"], 1)
        if added:
            quotas.require_growth(self._owner_id, added, present=self._counted)
            self._counted += added

    def require_quota(self) -> None:
        """Call it before the growth is stored. Raises `QuotaReached` if the cluster has grown by more than the remaining quota."""
        if not quotas.are_limited(quotas.OBJECT_KINDS):
            return
        size = size_of(self._simulation)
        more = size - self._counted
        if more["pods"]:
            # The pods of a drained node terminate while controllers create others in their place.
            terminating = _terminating(self._simulation)
            more = +more - Counter(pods=terminating, objects=terminating)
        if more:
            quotas.require_growth(self._owner_id, more, present=size - more)
            self._counted |= size


def _terminating(simulation: Simulation) -> int:
    # A pass over all pods: only with a quota, and only after growth.
    return sum(pod.metadata.deletion_timestamp is not None for pod in simulation.cluster.store.of_kind("Pod").values())


def _added_by(simulation: Simulation, command: AnyCommand) -> Counter[str]:
    match command:
        case Create() | Update():
            return +_added_by_write(simulation, command)
        case Schedule():
            added: Counter[str] = Counter()
            for write in command.during:
                if isinstance(write, Create | Update):
                    added.update(_added_by_write(simulation, write))
            return +added
        case Helper() if command.on:
            store, enabled = simulation.cluster.store, set(simulation.cluster.controllers.delays)
            return +Counter(pods=missing_pods(store, enabled | {command.name}) - missing_pods(store, enabled))
    return Counter()


def _added_by_write(simulation: Simulation, write: Create | Update) -> Counter[str]:
    kind = str(write.object.get("kind"))
    added: Counter[str] = Counter(objects=_added_weight(simulation, write))
    if isinstance(write, Create) and kind in KIND_OF_OBJECT:
        added[KIND_OF_OBJECT[kind]] = 1
    elif kind in _WORKLOADS and "replicaSets" in simulation.cluster.controllers.delays:
        added["pods"] = replicas_of(write.object) - _present_pods(simulation, write)
    return added


def _added_weight(simulation: Simulation, write: Create | Update) -> int:
    """By how much an object that is created, or grows, adds to the weight of all."""
    try:
        obj = codec.from_dict(write.object)
    except KubeError:
        # The command will be refused.
        return 0
    kind, key = type(obj).__name__, obj.metadata.key
    present = simulation.cluster.store.weights.get((kind, key), 1) if isinstance(write, Update) else 0
    return max(0, weight_of(obj) - present)


def _present_pods(simulation: Simulation, write: Create | Update) -> int:
    """How many pods a workload has; 0 if there is no such workload."""
    metadata = write.object.get("metadata") or {}
    key = f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"
    cluster = simulation.cluster
    match stored := cluster.find(str(write.object["kind"]), key):
        case ReplicaSet():
            return active_pods_of(stored, cluster.store)
        case Deployment():
            sets = cluster.store.controlled_by("ReplicaSet", stored.uid)
            return sum(active_pods_of(replica_set, cluster.store) for replica_set in sets if isinstance(replica_set, ReplicaSet))
    return 0
