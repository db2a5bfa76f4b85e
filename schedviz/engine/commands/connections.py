"""Watch connections: the `watch` command, and what a new list shows.

Upstream: client-go tools/cache/reflector.go, delta_fifo.go Replace, shared_informer.go OnUpdate
"""

from __future__ import annotations

from schedviz.engine.cluster.watch import Verb, WatchEvent
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.simulation_state import Outcome, SimulationState
from schedviz.kube.core import Pod
from schedviz.kube.kinds import BY_NAME, any_object
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands


def watch(runner: CycleRunner, command: commands.Watch) -> Outcome:
    """Drop watch events of a kind, or break or restore its connection."""
    simulation = runner.simulation
    if sum((command.drop is not None, command.disconnect, command.reconnect)) != 1:
        return Outcome(error="watch needs exactly one of drop, disconnect and reconnect")
    kinds = [kind.name for kind in simulation.release.kinds_watched_with(simulation.features) if command.kind in ("*", kind.name)]
    if not kinds:
        return Outcome(error=f'kind: {command.kind!r} is not a kind that the scheduler watches; "*" is every kind')
    runner.tick()
    if command.drop is not None:
        for kind in kinds:
            simulation.cluster.watches.drops[kind] = command.drop
            simulation.cluster.record_watch(kind)
        return Outcome()
    if command.disconnect:
        changed = sum(_disconnect(simulation, kind) for kind in kinds)
        return Outcome(result="" if changed else "it is disconnected already")
    changed = sum(_reconnect(simulation, kind) for kind in kinds)
    runner.settle()
    return Outcome(result="" if changed else "it was connected, and the new list shows nothing new")


def _disconnect(simulation: SimulationState, kind: str) -> bool:
    cluster = simulation.cluster
    if kind in cluster.watches.unseen:
        return False
    unconfirmed = len(cluster.watches.unconfirmed) if kind == "Pod" else 0
    lost = cluster.watches.cut(kind)
    cluster.watches.unseen[kind] = len(lost) + unconfirmed
    for event in lost:
        cluster.record_lost(event, "disconnected")
    cluster.record_watch(kind)
    return True


def _reconnect(simulation: SimulationState, kind: str) -> bool:
    """List again. True: the connection was broken, or the list differs from what the informer has."""
    cluster = simulation.cluster
    for event in cluster.watches.cut(kind):
        cluster.record_lost(event)
    was_broken = cluster.watches.unseen.pop(kind, None) is not None
    if was_broken:
        cluster.record_watch(kind)
    differences = _differences(simulation, kind)
    for event in differences:
        cluster.send_to_informers(event)
    return was_broken or bool(differences)


def _differences(simulation: SimulationState, kind: str) -> list[WatchEvent]:
    """Watch events for the differences between a new list and the informer's store: in the list's order, then deletions.

    An object with an unchanged version causes no event.
    """
    cluster = simulation.cluster
    cached = simulation.scheduler.state.informers.objects()[kind]
    listed = {key: obj for key, obj in cluster.store.of_kind(kind).items() if not (isinstance(obj, Pod) and obj.is_finished)}

    def event(verb: Verb, obj: KubeObject, *, gone: bool = False) -> WatchEvent:
        number = cluster.watches.next_id()
        return WatchEvent(number, verb, kind, any_object(obj), final_state_unknown=gone)

    differences = []
    for key in sorted(listed):
        before = cached.get(key)
        if before is None:
            differences.append(event("ADDED", listed[key]))
        elif before.metadata.resource_version != listed[key].metadata.resource_version:
            differences.append(event("MODIFIED", listed[key]))
    return differences + [event("DELETED", cached[key], gone=True) for key in sorted(cached) if key not in listed]


def disconnect_watches(simulation: SimulationState) -> None:
    """Break all watch connections, as when the process ends; the next process starts with new ones."""
    cluster = simulation.cluster
    broken = [kind for kind in BY_NAME if kind in cluster.watches.unseen or kind in cluster.watches.drops]
    for event in cluster.watches.forget():
        cluster.record_lost(event)
    for kind in broken:
        cluster.record_watch(kind)
    cluster.bound_pod = ""
    cluster.bind_failure = None
