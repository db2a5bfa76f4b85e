"""Watch connections and the life of the scheduler's process: the `watch`, `restart` and `reset` commands, and imports.

Upstream: client-go tools/cache/reflector.go, delta_fifo.go Replace, shared_informer.go OnUpdate
"""

from __future__ import annotations

from collections.abc import Iterable

from schedviz.engine.cluster.cluster import is_finished
from schedviz.engine.cluster.watch import Verb, WatchEvent
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.simulation_state import Outcome, SimulationState
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.kinds import BY_NAME, KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands
from schedviz.trace.events import ApiWritten, Configured, HelperSet, LatencySet, Restarted, SchedulerExited

#: Time between the arrivals of two imported pods, so that the queue keeps their order.
LOAD_NANOS = 1_000

#: Commands that do not need a running scheduler.
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
    listed = {key: obj for key, obj in cluster.store.of_kind(kind).items() if not (isinstance(obj, Pod) and is_finished(obj))}

    def event(verb: Verb, obj: KubeObject, *, gone: bool = False) -> WatchEvent:
        number = cluster.watches.next_id()
        return WatchEvent(number, verb, kind, obj, final_state_unknown=gone)  # type: ignore[arg-type]  # every kind is an AnyObject

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


def exit_scheduler(simulation: SimulationState, message: str) -> Outcome:
    """End the scheduler's process. Its state can still be inspected, and the API server keeps running."""
    simulation.exited = message
    simulation.recorder.record(SchedulerExited, message=message)
    disconnect_watches(simulation)
    simulation.cluster.watches.watched = False
    return Outcome(result=why_not(simulation))


def why_not(simulation: SimulationState) -> str:
    """The result of a command that needs a scheduler which has exited."""
    return f"the scheduler exited: {simulation.exited}. Restart it to go on (restart)"


def load(runner: CycleRunner, objects: Iterable[KubeObject]) -> list[KubeObject]:
    """Store imported objects and let the informers list them. Returns the objects as stored."""
    stored = [runner.simulation.cluster.load(default_object(obj)) for obj in objects]
    _list(runner)
    return stored


def _list(runner: CycleRunner) -> None:
    """Let the informers list the API server's objects, kind by kind, so that nodes come before their pods."""
    simulation = runner.simulation
    store, scheduler = simulation.cluster.store, simulation.scheduler
    for kind in simulation.release.kinds_watched_with(simulation.features):
        for obj in store.of_kind(kind.name).values():
            if isinstance(obj, Pod):
                if is_finished(obj):
                    continue
                if not obj.spec.node_name:
                    runner.set_clock(simulation.clock.now + LOAD_NANOS)
            scheduler.list_one(kind.name, obj)


def restart(runner: CycleRunner) -> None:
    """Restart the scheduler process: it loses its state and lists again. Events in flight are part of the list."""
    simulation = runner.simulation
    reason = simulation.exited
    disconnect_watches(simulation)
    simulation.recorder.cycle = 0
    simulation.drop_scheduler()
    simulation.recorder.record(Restarted, reason=reason)
    _list(runner)


def reset(runner: CycleRunner) -> None:
    """Go back to the imported objects, at second 0. Cycles and events keep counting."""
    simulation = runner.simulation
    objects = simulation.origin.objects()
    before = {kind.name: simulation.cluster.store.count(kind.name) for kind in KINDS}
    latencies = dict(simulation.cluster.watches.latencies)
    disconnect_watches(simulation)
    enabled = list(simulation.cluster.controllers.delays)
    configured = simulation.config != simulation.settings.config
    simulation.start_over()
    if configured:
        simulation.recorder.record(Configured, config=simulation.config)
    simulation.recorder.record(Restarted, reason="reset")
    for name in enabled:
        simulation.recorder.record(HelperSet, name=name, on=False)
    for name, seconds in simulation.cluster.controllers.delays.items():
        simulation.recorder.record(HelperSet, name=name, seconds=seconds)
    for name in latencies:
        simulation.recorder.record(LatencySet, kind=name)
    load(runner, objects)
    for kind in KINDS:
        count = simulation.cluster.store.count(kind.name)
        if count != before[kind.name]:
            simulation.recorder.record(
                ApiWritten, verb="create", resource=kind.resource, kind=kind.name, key="", detail="reset", count=count
            )
