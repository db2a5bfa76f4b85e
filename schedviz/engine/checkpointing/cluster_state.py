"""The simulated API server and the informers in a checkpoint: each version of an object is stored once and referred to by number."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from schedviz.engine.cluster.cluster import Cluster
from schedviz.engine.cluster.timers import TimersState
from schedviz.engine.cluster.watch import LossScope, Verb, WatchEvent
from schedviz.engine.framework.object_table import ObjectTable
from schedviz.engine.informers import Informers
from schedviz.kube.core import Node, Pod
from schedviz.kube.kinds import AnyObject, any_object
from schedviz.kube.meta import KubeObject


class WatchEventState(msgspec.Struct, frozen=True, array_like=True):
    """A WatchEvent."""

    id: int
    verb: Verb
    kind: str
    #: Its number in the list of its kind.
    object: int
    lost: LossScope
    due: int
    final_state_unknown: bool = False


class ClusterState(msgspec.Struct, frozen=True):
    """The state of objects, watches and informers."""

    resource_version: int
    #: Objects by kind in order of creation, as numbers.
    stored: dict[str, list[int]]
    informed: dict[str, list[int]]
    #: (kind, key, times): names that were created more than once, or whose object is deleted.
    creations: list[tuple[str, str, int]]
    latencies: dict[str, int]
    #: `Watches.held`, under the name that it had first.
    written: list[WatchEventState]
    unconfirmed: list[tuple[str, list[WatchEventState]]]
    in_flight: list[WatchEventState]
    last_watch_id: int
    #: Objects that are neither pods nor nodes.
    others: list[AnyObject]
    #: Disconnected kinds -> number of missed events; kinds -> number of next events that will be dropped.
    unseen: dict[str, int] = {}
    drops: dict[str, int] = {}
    #: Enabled controllers -> their delay in seconds, and their work queues.
    controllers: dict[str, float] = msgspec.field(default_factory=dict, name="helpers")
    timers: TimersState = TimersState()
    #: The last sync of a controller was partial.
    is_catching_up: bool = False
    #: The pod that the running binding cycle has bound.
    bound_pod: str = ""
    #: `Cluster.held_before_binding`, under the name that it had first.
    written_before_binding: int = 0
    #: `ObjectStore.weights` as (kind, key, weight); None in checkpoints of earlier versions.
    weights: list[tuple[str, str, int]] | None = None


class References:
    """Numbers of objects: pods and nodes have them from the engine's table, other kinds from a list."""

    def __init__(self, table: ObjectTable, others: list[AnyObject] | None = None) -> None:
        self._table = table
        self.others: list[AnyObject] = others if others is not None else []
        self._numbers = {id(obj): number for number, obj in enumerate(self.others)}

    def number(self, obj: KubeObject) -> int:
        """The object's number among objects of its kind."""
        if isinstance(obj, Pod):
            return self._table.pod_ref(obj)
        if isinstance(obj, Node):
            ref = self._table.node_ref(obj)
            assert ref is not None
            return ref
        existing = self._numbers.get(id(obj))
        if existing is None:
            existing = self._numbers[id(obj)] = len(self.others)
            self.others.append(any_object(obj))
        return existing

    def find(self, kind: str, number: int) -> AnyObject:
        """The object with a number."""
        return self._of_kind(kind)[number]

    def objects(self, kind: str, numbers: Sequence[int]) -> list[AnyObject]:
        """The objects with these numbers."""
        return list(map(self._of_kind(kind).__getitem__, numbers))

    def _of_kind(self, kind: str) -> Sequence[AnyObject]:
        return self._table.pods if kind == "Pod" else self._table.nodes if kind == "Node" else self.others


def cluster_state(cluster: Cluster, informers: Informers, refs: References) -> ClusterState:
    """The state of the API server and the informers, without weights. Objects that `refs` numbers later are part of it too."""
    store, watches = cluster.store, cluster.watches
    stored = {kind: [refs.number(obj) for obj in objects.values()] for kind, objects in store.by_kind().items() if objects}
    informed = {kind: [refs.number(obj) for obj in objects.values()] for kind, objects in informers.objects().items() if objects}

    def event_state(event: WatchEvent) -> WatchEventState:
        number = refs.number(event.object)
        return WatchEventState(event.id, event.verb, event.kind, number, event.lost, event.due, event.final_state_unknown)

    return ClusterState(
        resource_version=store.resource_version,
        stored=stored,
        informed=informed,
        creations=sorted((kind, key, times) for (kind, key), times in store.creations.items() if times > 1 or store.get(kind, key) is None),
        latencies=watches.latencies,
        written=[event_state(event) for event in watches.held],
        unconfirmed=[(key, [event_state(event) for event in events]) for key, events in watches.unconfirmed.items()],
        in_flight=[event_state(event) for event in watches.in_flight],
        last_watch_id=watches.last_id,
        bound_pod=cluster.bound_pod,
        written_before_binding=cluster.held_before_binding,
        others=refs.others,
        unseen=watches.unseen,
        drops=watches.drops,
        controllers=cluster.controllers.delays,
        timers=cluster.controllers.timers.to_state(),
        is_catching_up=cluster.controllers.is_catching_up,
    )


def load_cluster(cluster: Cluster, informers: Informers, saved: ClusterState, refs: References) -> None:
    """Restore a state into a new cluster and new informers."""
    store, watches = cluster.store, cluster.watches
    store.resource_version = saved.resource_version
    for kind, numbers in saved.stored.items():
        store.load(kind, {obj.metadata.key: obj for obj in refs.objects(kind, numbers)})
    if saved.weights is not None:
        store.weights = {(kind, key): weight for kind, key, weight in saved.weights}
    for kind, key, times in saved.creations:
        store.creations[kind, key] = times
    for kind, numbers in saved.informed.items():
        # Usually the informers know all objects.
        is_unchanged = numbers == saved.stored.get(kind)
        informers.load(kind, store.of_kind(kind) if is_unchanged else {obj.metadata.key: obj for obj in refs.objects(kind, numbers)})

    def event_of(event: WatchEventState) -> WatchEvent:
        obj = refs.find(event.kind, event.object)
        return WatchEvent(event.id, event.verb, event.kind, obj, event.lost, event.due, event.final_state_unknown)

    watches.latencies = saved.latencies
    watches.held = [event_of(event) for event in saved.written]
    watches.unconfirmed = {key: [event_of(event) for event in events] for key, events in saved.unconfirmed}
    watches.in_flight = [event_of(event) for event in saved.in_flight]
    watches.last_id = saved.last_watch_id
    cluster.bound_pod, cluster.held_before_binding = saved.bound_pod, saved.written_before_binding
    watches.unseen, watches.drops = saved.unseen, saved.drops
    cluster.controllers.delays = saved.controllers
    cluster.controllers.timers.load(saved.timers)
    cluster.controllers.is_catching_up = saved.is_catching_up
