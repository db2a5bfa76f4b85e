"""`SimulationState`: a scheduler with the simulated API server around it, and the command in progress. `Simulation` drives it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from schedviz.engine.cache import SnapshotUpdate
from schedviz.engine.clock import Clock
from schedviz.engine.cluster import Cluster
from schedviz.engine.config import ConfigurationError, KubeSchedulerConfiguration, Problem, load_configuration
from schedviz.engine.extenders.calls import ExtenderCalls
from schedviz.engine.extenders.extender import Extender, build_extenders, with_ignored_resources
from schedviz.engine.features import FeatureGateError, features_of
from schedviz.engine.legacy.policies import with_policies
from schedviz.engine.releases import RELEASES, Release
from schedviz.engine.scheduler import Scheduler
from schedviz.kube.meta import KubeObject
from schedviz.kube.packed import pack, unpack
from schedviz.trace import commands
from schedviz.trace.events import ApiCallChanged, PreemptionStageEnded, PreemptionStarted
from schedviz.trace.recorder import Recorder
from schedviz.trace.releases import unknown_release
from schedviz.trace.simulation_settings import SimulationSettings
from schedviz.trace.view import CycleView, PodGroupCycleView


class Outcome(msgspec.Struct, frozen=True, rename="camel"):
    """The outcome of a command."""

    #: Why the command had no effect; "": it had (FORMAT.md, `observed.result`).
    result: str = ""
    #: What is invalid in the command, and where.
    error: str = ""
    #: How many scheduling cycles ended.
    cycles: int = 0
    #: The number of the last event.
    event: int = 0
    clock_seconds: float = 0.0
    #: Why a run ended: "empty" (nothing is left to schedule) | "max" | "paused" | "repeating" (pod groups fail over and over).
    stopped: str = ""


class RunningCommand(msgspec.Struct):
    """A command in progress."""

    command: commands.AnyCommand
    seq: int = 0
    #: Scheduling cycles that have ended.
    cycles: int = 0
    #: Completed units of a step or a run.
    units: int = 0
    #: How many cycles in a row, of a run, ended with a failed pod group.
    failed_groups: int = 0
    #: Where `advance` moves the clock to, in nanoseconds, once it has begun.
    until: int | None = None
    #: The outcome of a command that has ended, while simulated controllers are catching up.
    outcome: Outcome | None = None

    @classmethod
    def begin(cls, command: commands.AnyCommand, seq: int) -> RunningCommand:
        """A command that is about to begin, in the form that decoding a checkpoint gives."""
        return _decoder.decode(_encoder.encode(cls(command, seq)))


class Listing(msgspec.Struct):
    """The first lists of a scheduler that has just started, while they are in progress. The next unit of any command continues them.

    The API server's objects do not change meanwhile.
    """

    #: The kind that is being listed, by its place among the watched kinds, and how many of its objects were listed.
    kind: int = 0
    listed: int = 0
    #: Whether to deliver and do what is due (`CycleRunner.settle`) when the lists are complete, as after `configure`.
    settles: bool = False
    #: How many objects of each kind there were before a reset; None: this is not one.
    before_reset: dict[str, int] | None = None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RunningCommand)


class Origin:
    """The imported objects, as objects, packed, or both. A reset returns to them; a checkpoint stores only what differs from them."""

    def __init__(self, packed: bytes = b"") -> None:
        self._objects: list[KubeObject] | None = None if packed else []
        self._packed = packed

    def add(self, objects: Sequence[KubeObject]) -> None:
        """Add objects of an import."""
        self._objects = [*self.objects(), *objects]
        self._packed = b""

    def objects(self) -> list[KubeObject]:
        """The objects in the order in which they were imported."""
        if self._objects is None:
            self._objects = unpack(self._packed)
        return list(self._objects)

    def packed(self) -> bytes:
        """The objects for a checkpoint, packed once; empty if there are none."""
        if not self._packed and self._objects:
            self._packed = pack(self._objects)
        return self._packed


class SimulationState:
    """Everything that a checkpoint saves."""

    def __init__(self, settings: SimulationSettings, *, config: dict[str, Any] | UnsetType | None = UNSET) -> None:
        """An empty cluster with a scheduler that has just started. `config` replaces the configuration of `settings`.

        Raises `ConfigurationError`.
        """
        #: As decoding gives them (whole seconds become floats), so that equal settings give equal checkpoints.
        self.settings = msgspec.convert(msgspec.to_builtins(settings), SimulationSettings)
        self.recorder = Recorder()
        if not self.settings.records_preemptions:
            self.recorder.omitted_kinds = _ADDED_EVENTS
        #: Without a transport, only extenders with declared responses respond.
        self.extender_calls = ExtenderCalls(self.recorder)
        self.release = with_policies(_release_of(self.settings.release), self.settings.policies)
        try:
            self.features = features_of(self.release.gates, self.settings.feature_gates)
        except FeatureGateError as error:
            raise ConfigurationError([Problem(f"featureGates.{error.gate}", str(error), str(error))]) from None
        #: The KubeSchedulerConfiguration in use, as it was given; None: the default one.
        self.config: dict[str, Any] | None
        self.configuration: KubeSchedulerConfiguration
        self.extenders: list[Extender]
        self.configure(self.settings.config if config is UNSET else config)
        self.clock = Clock()
        self.random_source = random.Random(settings.seed)  # noqa: S311 - a reproducible draw, no secret.
        self.cluster = self._new_cluster()
        self.scheduler = self._new_scheduler()
        #: Why the scheduler ended its process; "": it is running.
        self.exited = ""
        self.origin = Origin()
        #: The command in progress.
        self.running_command: RunningCommand | None = None
        #: The first lists of the scheduler, while they are in progress.
        self.listing: Listing | None = None
        #: The scheduling cycle that ran last.
        self.shown_cycle: CycleView | None = None
        #: The scheduling cycle of a pod group that ran last, if `shown_cycle` is part of it.
        self.shown_pod_group: PodGroupCycleView | None = None
        #: The result of the last `snapshot` command.
        self.snapshot_update: SnapshotUpdate | None = None

    @property
    def event(self) -> int:
        """The number of the last event."""
        return self.recorder.event

    @property
    def cycle(self) -> int:
        """The number of the last scheduling cycle."""
        return self.scheduler.state.cycle

    def configure(self, config: dict[str, Any] | None) -> None:
        """Use a configuration for the next scheduler that is created. Raises `ConfigurationError` without changing anything."""
        configuration = load_configuration(config, release=self.settings.release, features=self.features)
        declared = self.settings.fake_extenders
        try:
            self.extenders = build_extenders(
                configuration, declared, self.extender_calls, formats_errors=self.release.formats_extender_errors
            )
        except msgspec.ValidationError as error:
            raise ConfigurationError([Problem("fakeExtenders", str(error))]) from None
        self.configuration = with_ignored_resources(configuration, declared)
        self.config = config

    def start_over(self) -> None:
        """Drop all state but the settings and the numbers of events and cycles."""
        cycle = self.scheduler.state.cycle
        self.configure(self.settings.config)
        self.clock.now = 0
        self.recorder.at = 0.0
        self.recorder.cycle = 0
        self.random_source.seed(self.settings.seed)
        self.cluster = self._new_cluster()
        self.scheduler = self._new_scheduler()
        self.exited = ""
        self.scheduler.state.cycle = cycle
        self.shown_cycle = self.shown_pod_group = None

    def drop_scheduler(self) -> None:
        """Replace the scheduler with a new one, without state. Cycles keep counting."""
        cycle = self.scheduler.state.cycle
        self.scheduler = self._new_scheduler()
        self.scheduler.state.cycle = cycle
        self.cluster.watches.watched = True
        self.exited = ""
        self.shown_cycle = self.shown_pod_group = None

    def _new_cluster(self) -> Cluster:
        settings = self.settings
        return Cluster(
            self.clock,
            self.recorder,
            graceful_victims=settings.graceful_victims,
            controllers=settings.helpers,
            pods_per_sync=settings.pods_per_sync,
            watched_kinds=frozenset(kind.name for kind in self.release.kinds_watched_with(self.features)),
            shows_status_after_patch=self.release.shows_status_after_patch,
            refused_binding_confirms_earlier=self.release.refused_binding_confirms_earlier,
            binding_clears_nomination=self.features.clearing_nominated_node_name_after_binding,
        )

    def _new_scheduler(self) -> Scheduler:
        scheduler = Scheduler(
            self.configuration,
            recorder=self.recorder,
            clock=self.clock,
            host=self.cluster,
            assumed_pod_ttl_seconds=self.settings.policies.ttl_seconds(self.settings.assumed_pod_ttl_seconds),
            pod_max_in_unschedulable_seconds=self.settings.pod_max_in_unschedulable_seconds,
            tie_break=self.settings.tie_break,
            random_source=self.random_source,
            extenders=self.extenders,
            release=self.release,
            features=self.features,
            policies=self.settings.policies,
            seed=self.settings.seed,
        )
        self.cluster.deliver = scheduler.handle
        return scheduler


#: Events that sessions of older versions do not have.
_ADDED_EVENTS: Final = frozenset((PreemptionStarted, PreemptionStageEnded, ApiCallChanged))


def _release_of(version: str) -> Release:
    release = RELEASES.get(version)
    if release is None:
        raise ConfigurationError([Problem("release", unknown_release(version), unknown_release(version))])
    return release
