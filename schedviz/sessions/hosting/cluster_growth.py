"""The nodes and pods that a command adds to its cluster, compared with the quotas when the command is executed.

A command of a user is also checked when it is accepted (`quotas.require_command_quota`). The steps of a trace and the commands of a session
file are checked only here, and so are the pods that simulated controllers create once they are enabled.
"""

from __future__ import annotations

from collections import Counter

from schedviz.engine import Simulation
from schedviz.engine.cluster.controllers.pods import missing_pods
from schedviz.kube.apps import Deployment, ReplicaSet
from schedviz.sessions import quotas
from schedviz.sessions.commands.limits import replicas_of
from schedviz.sessions.quotas import KIND_OF_OBJECT
from schedviz.trace.commands import AnyCommand, Create, Helper, Schedule, Update

#: The workloads whose pods the simulated controllers create.
_WORKLOADS = (Deployment.__name__, ReplicaSet.__name__)


def require_room(owner_id: int | None, simulation: Simulation, command: AnyCommand) -> None:
    """Raises `QuotaReached` if the cluster may not grow by what a command, which has not begun, adds to it."""
    if quotas.limit_clusters() and (added := _added_by(simulation, command)):
        store = simulation.cluster.store
        quotas.require_room(owner_id, {"nodes": store.count("Node"), "pods": store.count("Pod")}, added)


def _added_by(simulation: Simulation, command: AnyCommand) -> Counter[str]:
    cluster = simulation.cluster
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
            enabled = set(cluster.controllers.delays)
            more = missing_pods(cluster.store, enabled | {command.name}) - missing_pods(cluster.store, enabled)
            return +Counter(pods=more)
    return Counter()


def _added_by_write(simulation: Simulation, write: Create | Update) -> Counter[str]:
    kind = str(write.object.get("kind"))
    if isinstance(write, Create) and kind in KIND_OF_OBJECT:
        return Counter([KIND_OF_OBJECT[kind]])
    if kind in _WORKLOADS and "replicaSets" in simulation.cluster.controllers.delays:
        return Counter(pods=replicas_of(write.object) - _present_replicas(simulation, write))
    return Counter()


def _present_replicas(simulation: Simulation, write: Create | Update) -> int:
    """How many pods the stored state of a workload asks for; 0 if there is no such workload."""
    metadata = write.object.get("metadata") or {}
    key = f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"
    stored = simulation.cluster.find(str(write.object["kind"]), key)
    return stored.replicas if isinstance(stored, Deployment | ReplicaSet) else 0
