"""The life of the scheduler's process: its first lists, its exit, and the `restart` and `reset` commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schedviz.engine.commands import connections
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.simulation_state import Outcome, SimulationState
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.kinds import KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands
from schedviz.trace.events import ApiWritten, Configured, HelperSet, LatencySet, Restarted, SchedulerExited

#: Time between the arrivals of two imported pods, so that the queue keeps their order.
LOAD_NANOS = 1_000
#: Objects of a list after which progress is reported: 150,000 pods take ten seconds.
_OBJECTS_PER_REPORT: Final = 1000

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


def exit_scheduler(simulation: SimulationState, message: str) -> Outcome:
    """End the scheduler's process. Its state can still be inspected, and the API server keeps running."""
    simulation.exited = message
    simulation.recorder.record(SchedulerExited, message=message)
    connections.disconnect_watches(simulation)
    simulation.cluster.watches.watched = False
    return Outcome(result=exited_result(simulation))


def exited_result(simulation: SimulationState) -> str:
    """The result of a command that needs a running scheduler, once it has exited."""
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
        for number, obj in enumerate(store.of_kind(kind.name).values(), 1):
            if number % _OBJECTS_PER_REPORT == 0:
                runner.progressed()
            if isinstance(obj, Pod):
                if obj.is_finished:
                    continue
                if not obj.spec.node_name:
                    runner.set_clock(simulation.clock.now + LOAD_NANOS)
            scheduler.list_one(kind.name, obj)


def restart(runner: CycleRunner) -> None:
    """Restart the scheduler process: it loses its state and lists again. Events in flight are part of the list."""
    simulation = runner.simulation
    reason = simulation.exited
    connections.disconnect_watches(simulation)
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
    connections.disconnect_watches(simulation)
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
