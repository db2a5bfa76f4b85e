"""The scheduler's watch connections break and come back, its process ends and starts again: the `watch` and `restart` commands.

Upstream: client-go tools/cache/reflector.go, delta_fifo.go Replace, shared_informer.go OnUpdate
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedviz.engine.cluster.cluster import is_finished
from schedviz.engine.cluster.watch import Verb, WatchEvent
from schedviz.engine.outcome import Outcome
from schedviz.kube.core import Pod
from schedviz.kube.kinds import BY_NAME, WATCHED_KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands
from schedviz.trace.events import SchedulerExited

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation

#: Commands that are not for the scheduler: they are carried out while it is gone.
WITHOUT_SCHEDULER = (
    commands.Configure,
    commands.Restart,
    commands.Reset,
    commands.Create,
    commands.Update,
    commands.Delete,
    commands.Latency,
    commands.Advance,
    commands.Pause,
    commands.Helper,
    commands.Cordon,
    commands.Evict,
    commands.Drain,
)


def watch(simulation: Simulation, command: commands.Watch) -> Outcome:
    """Carry out a `watch` command."""
    if sum((command.drop is not None, command.disconnect, command.reconnect)) != 1:
        return Outcome(error="watch needs exactly one of drop, disconnect and reconnect")
    kinds = [kind.name for kind in WATCHED_KINDS if command.kind in ("*", kind.name)]
    if not kinds:
        return Outcome(error=f'kind: {command.kind!r} is not a kind that the scheduler watches; "*" is every kind')
    simulation.operations.tick()
    if command.drop is not None:
        for kind in kinds:
            simulation.cluster.watches.drops[kind] = command.drop
            simulation.cluster.record_watch(kind)
        return Outcome()
    if command.disconnect:
        changed = sum(_disconnect(simulation, kind) for kind in kinds)
        return Outcome(result="" if changed else "it is disconnected already")
    changed = sum(_reconnect(simulation, kind) for kind in kinds)
    simulation.operations.settle()
    return Outcome(result="" if changed else "it was connected, and the new list shows nothing new")


def _disconnect(simulation: Simulation, kind: str) -> bool:
    cluster = simulation.cluster
    if kind in cluster.watches.unseen:
        return False
    held = len(cluster.watches.unconfirmed) if kind == "Pod" else 0
    lost = cluster.watches.cut(kind)
    cluster.watches.unseen[kind] = len(lost) + held
    for event in lost:
        cluster.record_lost(event, "disconnected")
    cluster.record_watch(kind)
    return True


def _reconnect(simulation: Simulation, kind: str) -> bool:
    """List again: True where the connection was broken, or the list differs from what the informer has."""
    cluster = simulation.cluster
    for event in cluster.watches.cut(kind):
        cluster.record_lost(event)
    was_broken = cluster.watches.unseen.pop(kind, None) is not None
    if was_broken:
        cluster.record_watch(kind)
    differences = _differences(simulation, kind)
    for event in differences:
        cluster.hand_over(event)
    return was_broken or bool(differences)


def _differences(simulation: Simulation, kind: str) -> list[WatchEvent]:
    """What a new list shows otherwise than the informer has it: in the order of the list, then what is gone.

    An object whose version is the one that is known is told to nobody.
    """
    cluster = simulation.cluster
    known = simulation.scheduler.state.informers.objects()[kind]
    listed = {key: obj for key, obj in cluster.store.of_kind(kind).items() if not (isinstance(obj, Pod) and is_finished(obj))}

    def event(verb: Verb, obj: KubeObject, *, gone: bool = False) -> WatchEvent:
        number = cluster.watches.next_id()
        return WatchEvent(number, verb, kind, obj, final_state_unknown=gone)  # type: ignore[arg-type]  # every kind is an AnyObject

    found = []
    for key in sorted(listed):
        before = known.get(key)
        if before is None:
            found.append(event("ADDED", listed[key]))
        elif before.metadata.resource_version != listed[key].metadata.resource_version:
            found.append(event("MODIFIED", listed[key]))
    return found + [event("DELETED", known[key], gone=True) for key in sorted(known) if key not in listed]


def disconnect_watches(simulation: Simulation) -> None:
    """The scheduler's process ends: its connections break, and the next process begins with whole ones."""
    cluster = simulation.cluster
    broken = [kind for kind in BY_NAME if kind in cluster.watches.unseen or kind in cluster.watches.drops]
    for event in cluster.watches.forget():
        cluster.record_lost(event)
    for kind in broken:
        cluster.record_watch(kind)
    cluster.binding_pod = ""
    cluster.bind_failure = None


def exit_scheduler(simulation: Simulation, message: str) -> Outcome:
    """The scheduler ended its process. What it knew stays to be looked at; the API server goes on without it."""
    simulation.exited = message
    simulation.recorder.record(SchedulerExited, message=message)
    disconnect_watches(simulation)
    simulation.cluster.watches.watched = False
    return Outcome(result=why_not(simulation))


def why_not(simulation: Simulation) -> str:
    """What to tell who asks a scheduler that is gone."""
    return f"the scheduler exited: {simulation.exited}. Restart it to go on (restart)"
