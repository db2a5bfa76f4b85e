"""Checkpoints: a simulation as bytes, and back. Not to be confused with the Snapshot, which is the scheduler's.

A checkpoint has the whole state, also a command in progress and a cycle between two stages, but no undrained events. Objects are shared as
in memory, so that saving a restored engine gives the same bytes.
"""

from __future__ import annotations

import hashlib
import random
import zlib
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.engine.api_dispatcher import ApiCallState
from schedviz.engine.cache import Snapshot
from schedviz.engine.cache.cache_state import CacheState
from schedviz.engine.cache.snapshot import SnapshotState
from schedviz.engine.checkpointing.cluster_state import ClusterState, References, cluster_state, load_cluster
from schedviz.engine.checkpointing.cycle_state import (
    BindingCycleState,
    SchedulingCycleState,
    binding_cycle_of,
    binding_cycle_state,
    scheduling_cycle_of,
    scheduling_cycle_state,
)
from schedviz.engine.checkpointing.pod_group_state import PodGroupCycleState, pod_group_cycle_of, pod_group_cycle_state
from schedviz.engine.framework.object_table import ObjectTable, ObjectTableState
from schedviz.engine.framework.runtime.batch import BatchState
from schedviz.engine.preemption_task import PreemptionTaskState
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.schedule_one_podgroup import PodGroupCycle
from schedviz.engine.scheduler import Scheduler
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.engine.simulation_state import Listing, Origin, RunningCommand, SimulationState
from schedviz.kube.codec import dec_hook, enc_hook
from schedviz.kube.gc_tuning import without_gc
from schedviz.kube.meta import KubeObject
from schedviz.trace.releases import RELEASES, unknown_release
from schedviz.trace.simulation_settings import SimulationSettings
from schedviz.trace.view import CycleView, PodGroupCycleView

Simulated = TypeVar("Simulated", bound=SimulationState)

#: The beginning of every format's name. From a checkpoint of any of them a session can be replayed (`initial_state`).
_FORMAT_PREFIX: Final = "schedviz-checkpoint/"
#: Its number is increased when older checkpoints become unreadable.
FORMAT: Final = f"{_FORMAT_PREFIX}3"


class CheckpointError(ValueError):
    """The bytes are not a checkpoint that this version can load."""


class Checkpoint(msgspec.Struct, frozen=True):
    """A whole simulation."""

    format: str
    settings: SimulationSettings
    now: int
    event: int
    recorder_cycle: int
    cycle: int
    next_start_node_index: int
    random: tuple[int, list[int], float | None] | None
    task: RunningCommand | None
    shown_cycle: CycleView | None
    cache: CacheState
    snapshot: SnapshotState
    #: The state of the release's queue.
    queue: msgspec.Raw
    cluster: ClusterState
    running: SchedulingCycleState | None
    bindings: list[BindingCycleState]
    waiting_pods: dict[str, Any]
    #: By profile and plugin name, the state of plugins.
    plugins: dict[str, dict[str, Any]]
    table: ObjectTableState
    origin: bytes
    exited: str = ""
    #: v1.36: asynchronous preemptions that have not ended, and API calls that were not made.
    preemptions: list[PreemptionTaskState] = []
    api_calls: list[ApiCallState] = []
    #: v1.36: by profile, the nodes that it keeps for equal pods.
    batches: dict[str, BatchState] = {}
    #: v1.36: claims that the scheduler has assumed or is allocating.
    devices: Any = None
    #: The configuration in use; absent if it is that of `settings`.
    config: dict[str, Any] | UnsetType | None = UNSET
    #: v1.36: the running cycle of a pod group (`running` is None then), and the one that is shown.
    running_pod_group: PodGroupCycleState | None = None
    shown_pod_group: PodGroupCycleView | None = None
    #: The scheduler's first lists, while they are in progress.
    listing: Listing | None = None


class CheckpointHeader(msgspec.Struct, frozen=True):
    """The members that every checkpoint format has, so that a session can be replayed from its start."""

    format: str
    settings: SimulationSettings
    origin: bytes


_encoder = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_decoder = msgspec.msgpack.Decoder(Checkpoint, dec_hook=dec_hook)
_header_decoder = msgspec.msgpack.Decoder(CheckpointHeader, dec_hook=dec_hook)


def save(simulation: SimulationState) -> bytes:
    """The simulation as bytes."""
    state = _state(simulation, simulation.origin)
    weights = [(*name, weight) for name, weight in sorted(simulation.cluster.store.weights.items())]
    return _encoder.encode(msgspec.structs.replace(state, cluster=msgspec.structs.replace(state.cluster, weights=weights)))


def state_hash(simulation: SimulationState) -> str:
    """A digest of everything in a checkpoint except the imported objects, and the weights, which depend on when they were asked for."""
    return hashlib.blake2b(_encoder.encode(_state(simulation, Origin())), digest_size=16).hexdigest()


def _state(simulation: SimulationState, origin: Origin) -> Checkpoint:
    scheduler = simulation.scheduler
    state = scheduler.state
    table = ObjectTable(origin.objects())
    refs = References(table)
    return Checkpoint(
        format=FORMAT,
        settings=simulation.settings,
        now=simulation.clock.now,
        event=simulation.event,
        recorder_cycle=simulation.recorder.cycle,
        cycle=state.cycle,
        next_start_node_index=state.next_start_node_index,
        random=_random_state(simulation.random_source) if state.tie_break == "random" else None,
        task=simulation.running_command,
        shown_cycle=simulation.shown_cycle,
        cluster=cluster_state(simulation.cluster, state.informers, refs),
        cache=state.cache.to_state(table),
        snapshot=state.snapshot.to_state({info.name: info for info in state.cache.nodes}, table),
        queue=msgspec.Raw(_encoder.encode(state.queue.to_state(table))),
        running=scheduling_cycle_state(scheduler.cycle, table) if isinstance(scheduler.cycle, SchedulingCycle) else None,
        running_pod_group=pod_group_cycle_state(scheduler.cycle, table) if isinstance(scheduler.cycle, PodGroupCycle) else None,
        shown_pod_group=simulation.shown_pod_group,
        bindings=[binding_cycle_state(binding, table) for binding in scheduler.bindings],
        waiting_pods={name: framework.waiting_pods.to_state() for name, framework in state.profiles.items()},
        plugins={
            name: {plugin.name: plugin.to_state(refs.number) for plugin in framework.stateful_plugins}
            for name, framework in state.profiles.items()
        },
        preemptions=scheduler.preemptions.to_state(table),
        api_calls=[] if state.api_dispatcher is None else state.api_dispatcher.to_state(table),
        batches={name: batch.to_state() for name, batch in scheduler.batches().items()},
        devices=_devices_state(scheduler, refs),
        table=table.to_state(),
        origin=origin.packed(),
        exited=simulation.exited,
        listing=simulation.listing,
        config=UNSET if simulation.config == simulation.settings.config else simulation.config,
    )


def _random_state(source: random.Random) -> tuple[int, list[int], float | None]:
    version, internal, gauss = source.getstate()
    return version, list(internal), gauss


def restore(cls: type[Simulated], data: bytes) -> Simulated:
    """The simulation of a checkpoint. Raises `CheckpointError`."""
    try:
        saved = _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CheckpointError(f"this is not a checkpoint of this version of the engine: {error}") from None
    if saved.format != FORMAT:
        raise CheckpointError(f"this checkpoint is of the format {saved.format}, the engine reads {FORMAT}")
    _require_release(saved.settings)
    with without_gc():
        return _restored(cls, saved)


def _require_release(settings: SimulationSettings) -> None:
    """Raises `CheckpointError` for a release that this build does not have."""
    if settings.release not in RELEASES:
        raise CheckpointError(unknown_release(settings.release))


def _restored(cls: type[Simulated], saved: Checkpoint) -> Simulated:
    simulation = cls(saved.settings, config=saved.config)
    simulation.origin = Origin(saved.origin)
    table = ObjectTable(simulation.origin.objects(), saved.table, pod_info=simulation.scheduler.state.pod_info)
    simulation.clock.now = saved.now
    recorder = simulation.recorder
    recorder.event, recorder.at, recorder.cycle = saved.event, simulation.clock.seconds, saved.recorder_cycle
    if saved.random is not None:
        version, internal, gauss = saved.random
        simulation.random_source.setstate((version, tuple(internal), gauss))
    simulation.running_command = saved.task
    simulation.listing = saved.listing
    simulation.exited = saved.exited
    simulation.cluster.watches.watched = not saved.exited
    simulation.shown_cycle, simulation.shown_pod_group = saved.shown_cycle, saved.shown_pod_group
    _restore_scheduler(simulation, saved, table)
    return simulation


def _devices_state(scheduler: Scheduler, refs: References) -> Any:
    manager, cycle = scheduler.state.dra_manager, scheduler.cycle
    if manager is None:
        return None
    if isinstance(cycle, PodGroupCycle):
        cycle = cycle.current_pod
    return manager.to_state(refs.number, None if cycle is None else (cycle.pod.uid, cycle.cycle_state))


def _restore_devices(state: SchedulerState, saved: Any, refs: References) -> None:
    if state.dra_manager is None:
        return
    if saved is not None:
        state.dra_manager.load(saved, refs.find)
        return
    # Older checkpoints do not have them: nothing was assumed.
    for kind in ("DeviceClass", "ResourceClaim"):
        for obj in state.informers.list(kind):
            state.dra_manager.object_changed(None, obj)


def initial_state(data: bytes) -> tuple[SimulationSettings, list[KubeObject]]:
    """The settings and the imported objects of a checkpoint of this or an older format. Raises `CheckpointError`."""
    try:
        saved = _header_decoder.decode(data)
        if not saved.format.startswith(_FORMAT_PREFIX):
            raise CheckpointError(f"this is not a checkpoint but {saved.format!r}")
        _require_release(saved.settings)
        return saved.settings, Origin(saved.origin).objects()
    except (msgspec.DecodeError, msgspec.ValidationError, zlib.error) as error:
        raise CheckpointError(f"what the session began with cannot be read: {error}") from None


def _restore_scheduler(simulation: SimulationState, saved: Checkpoint, table: ObjectTable) -> None:
    scheduler = simulation.scheduler
    state = scheduler.state
    cache = type(state.cache).from_state(saved.cache, simulation.recorder, table)
    infos = {info.name: info for info in cache.nodes}
    snapshot = Snapshot.from_state(saved.snapshot, infos, table, cache.generations)
    scheduler.replace_cache(cache, snapshot)
    state.queue.load(msgspec.msgpack.decode(saved.queue, type=state.queue.state_type, dec_hook=dec_hook), table)
    state.cycle = saved.cycle
    state.next_start_node_index = saved.next_start_node_index
    refs = References(table, saved.cluster.others)
    load_cluster(simulation.cluster, state.informers, saved.cluster, refs)
    _restore_devices(state, saved.devices, refs)
    for name, framework in state.profiles.items():
        for plugin in framework.stateful_plugins:
            plugin.load(saved.plugins[name][plugin.name], refs.find)
    for name, batch in scheduler.batches().items():
        batch.load(saved.batches[name])
    release = simulation.release
    if saved.running is not None:
        scheduler.cycle = scheduling_cycle_of(release.scheduling_cycle, saved.running, state, table)
    elif saved.running_pod_group is not None:
        scheduler.cycle = pod_group_cycle_of(saved.running_pod_group, state, table)
    scheduler.bindings = [binding_cycle_of(release.binding_cycle, binding, state, table) for binding in saved.bindings]
    scheduler.preemptions.load(saved.preemptions, table)
    if state.api_dispatcher is not None:
        state.api_dispatcher.load(saved.api_calls, table)
    assumed = {binding.assumed.uid: binding.assumed for binding in scheduler.bindings}
    if scheduler.cycle is not None:
        cycles = scheduler.cycle.pods if isinstance(scheduler.cycle, PodGroupCycle) else [scheduler.cycle]
        assumed |= {cycle.assumed.uid: cycle.assumed for cycle in cycles if cycle.assumed is not None}
    for name, framework in state.profiles.items():
        framework.waiting_pods.restore(saved.waiting_pods.get(name, []), assumed.__getitem__)
