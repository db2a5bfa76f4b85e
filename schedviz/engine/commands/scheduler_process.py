"""The life of the scheduler's process: its first lists, its exit, and the `restart` and `reset` commands."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from schedviz.engine.commands import connections
from schedviz.engine.commands.cycle_runner import CycleRunner
from schedviz.engine.simulation_state import Listing, Outcome, SimulationState
from schedviz.kube.core import Pod
from schedviz.kube.defaults import default_object
from schedviz.kube.kinds import KINDS
from schedviz.kube.meta import KubeObject
from schedviz.trace import commands
from schedviz.trace.events import ApiWritten, Configured, HelperSet, LatencySet, Restarted, SchedulerExited

#: The time between the arrivals of two imported pods, so that the queue keeps their order.
ARRIVAL_INTERVAL_NANOS: Final = 1_000
#: A unit of a command ends after this many objects were listed, so that no unit takes long and its events fit into memory: 150,000 pods
#: take ten seconds.
MAX_LISTED_IN_UNIT: Final = 1000

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
    simulation.listing = None
    simulation.recorder.record(SchedulerExited, message=message)
    connections.disconnect_watches(simulation)
    simulation.cluster.watches.watched = False
    return Outcome(result=exited_result(simulation))


def exited_result(simulation: SimulationState) -> str:
    """The result of a command that needs a running scheduler, once it has exited."""
    return f"the scheduler exited: {simulation.exited}. Restart it to go on (restart)"


def load(runner: CycleRunner, objects: Iterable[KubeObject]) -> list[KubeObject]:
    """Store imported objects and let the informers list them. Returns the objects as stored."""
    stored = _store(runner, objects)
    runner.simulation.listing = Listing()
    while not continue_listing(runner):
        runner.report_progress()
    return stored


def _store(runner: CycleRunner, objects: Iterable[KubeObject]) -> list[KubeObject]:
    stored: list[KubeObject] = []
    for obj in objects:
        if len(stored) % MAX_LISTED_IN_UNIT == 0:
            runner.report_progress()
        stored.append(runner.simulation.cluster.load(default_object(obj)))
    return stored


def continue_listing(runner: CycleRunner) -> bool:
    """Let the informers list the next objects of the API server, kind by kind, so that nodes come before their pods. True: that was all."""
    simulation = runner.simulation
    listing = simulation.listing
    assert listing is not None
    kinds = simulation.release.kinds_watched_with(simulation.features)
    left = MAX_LISTED_IN_UNIT
    while listing.kind < len(kinds):
        kind = kinds[listing.kind].name
        for obj in islice(simulation.cluster.store.of_kind(kind).values(), listing.listed, None):
            before = simulation.event
            _list_one(runner, kind, obj)
            listing.listed += 1
            left -= 1
            # A pod of another scheduler moves the clock without an event. A unit ends with an event, whose moment then has the same clock.
            if left <= 0 and (simulation.event > before or simulation.recorder.silent):
                return False
        listing.kind, listing.listed = listing.kind + 1, 0
    simulation.listing = None
    if listing.before_reset is not None:
        _record_counts(simulation, listing.before_reset)
    if listing.settles:
        runner.settle()
    return True


def _list_one(runner: CycleRunner, kind: str, obj: KubeObject) -> None:
    simulation = runner.simulation
    if isinstance(obj, Pod):
        if obj.is_finished:
            return
        if not obj.spec.node_name:
            runner.set_clock(simulation.clock.now + ARRIVAL_INTERVAL_NANOS)
    simulation.scheduler.list_one(kind, obj)


def restart(runner: CycleRunner, *, settles: bool = False) -> None:
    """Restart the scheduler process: it loses its state and begins to list again. Events in flight are part of the list."""
    simulation = runner.simulation
    reason = simulation.exited
    connections.disconnect_watches(simulation)
    simulation.recorder.cycle = 0
    simulation.drop_scheduler()
    simulation.recorder.record(Restarted, reason=reason)
    simulation.listing = Listing(settles=settles)
    continue_listing(runner)


def reset(runner: CycleRunner) -> None:
    """Go back to the imported objects, at second 0, and begin to list them. Cycles and events keep counting."""
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
    _store(runner, objects)
    simulation.listing = Listing(before_reset=before)
    continue_listing(runner)


def _record_counts(simulation: SimulationState, before: dict[str, int]) -> None:
    """Record how many objects there are now of each kind that a reset changed."""
    for kind in KINDS:
        count = simulation.cluster.store.count(kind.name)
        if count != before[kind.name]:
            simulation.recorder.record(
                ApiWritten, verb="create", resource=kind.resource, kind=kind.name, key="", detail="reset", count=count
            )
