"""The plugin interface: one protocol for each extension point, and the values that pass through them.

A plugin has a `name`, is created by its factory from its arguments and a `Handle`, and implements every extension point if it has all of
the point's methods. docs/plugins.md lists the methods that only built-in plugins can have. Filter and Score have two forms: for many rows
at once (`filter`, `score`), or for one node (`filter_node`, `score_node`), which the framework adapts. A plugin implements one of them.

Upstream: framework/interface.go
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.features import Features
from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.listers import Client, ObjectLister, PodNominator, SharedLister
from schedviz.engine.framework.pod_groups import Placement, PodGroupAssignments, PodGroupInfo, PodGroups
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.preemption.record import PreemptionRecord
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import NodeInfo, PodInfo, QueuedPodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Node
from schedviz.kube.meta import KubeObject
from schedviz.kube.workloads import PodGroup

if TYPE_CHECKING:
    from schedviz.engine.framework.preemption.importance import NodeVictims

MAX_NODE_SCORE: Final = 100
MIN_NODE_SCORE: Final = 0
MAX_TOTAL_SCORE: Final = 2**63 - 1

#: One score for each row.
Scores = npt.NDArray[np.int64]


class PreFilterResult(msgspec.Struct, frozen=True):
    """The nodes to evaluate; None: all. Upstream: framework/interface.go PreFilterResult"""

    node_names: frozenset[str] | None = None

    @property
    def all_nodes(self) -> bool:
        return self.node_names is None

    def merge(self, other: PreFilterResult | None) -> PreFilterResult:
        """The nodes that both allow. Upstream: framework/interface.go PreFilterResult.Merge"""
        if other is None or other.node_names is None:
            return self
        if self.node_names is None:
            return other
        return PreFilterResult(self.node_names & other.node_names)


#: A PreFilterResult that allows all nodes.
ALL_NODES: Final = PreFilterResult()


class NominatingMode(Enum):
    """How an earlier nomination changes. Upstream: framework/interface.go NominatingMode"""

    NOOP = "noop"
    OVERRIDE = "override"


class NominatingInfo(msgspec.Struct, frozen=True):
    """The nominated node; an override with "" clears the nomination. Upstream: framework/interface.go NominatingInfo"""

    mode: NominatingMode = NominatingMode.NOOP
    nominated_node_name: str = ""


class PostFilterResult(msgspec.Struct, frozen=True):
    """The result of PostFilter. Upstream's nil result has no `nominating_info` here. Upstream: framework/interface.go PostFilterResult"""

    nominating_info: NominatingInfo | None = None
    record: PreemptionRecord = PreemptionRecord()

    @property
    def mode(self) -> NominatingMode:
        return NominatingMode.NOOP if self.nominating_info is None else self.nominating_info.mode


class PodsToActivate(msgspec.Struct):
    """Pods (`namespace/name`) that a plugin requested to move to activeQ when the cycle ends.

    Upstream: framework/interface.go PodsToActivate
    """

    pods: dict[str, None] = {}

    def clone(self) -> PodsToActivate:
        """The same object: all clones add to one list."""
        return self


PODS_TO_ACTIVATE_KEY: Final = StateKey("kubernetes.io/pods-to-activate", PodsToActivate)


class PreBindWait(msgspec.Struct, frozen=True):
    """A PreBind plugin has to wait until `deadline` (nanoseconds). Deviation: upstream's plugin blocks its binding cycle."""

    deadline: int

    def clone(self) -> PreBindWait:
        return self


PRE_BIND_WAIT_KEY: Final = StateKey("schedviz/pre-bind-wait", PreBindWait)

#: What happened to an object, by the watch's names.
ObjectVerb = Literal["ADDED", "MODIFIED", "DELETED"]


class PreemptionExtender(Protocol):
    """An extender's interface for preemption. Upstream: framework/extender.go Extender"""

    @property
    def is_ignorable(self) -> bool: ...

    @property
    def supports_preemption(self) -> bool: ...

    def is_interested(self, pod: PodInfo) -> bool: ...

    def process_preemption(self, pod: PodInfo, candidates: Sequence[NodeVictims], snapshot: SharedLister) -> tuple[list[NodeVictims], str]:
        """The candidates and victims that the extender keeps, or the error."""
        ...


class FilterReads(IntEnum):
    """What Filter reads of a NodeInfo, for one pod. Dry runs repeat only the plugins whose result can change."""

    #: Only the Node object.
    NODE = 0
    #: Also the sums of the pods' requests and their number; larger sums never make a pod fit.
    SUMS = 1
    #: Anything; the default for plugins that do not declare it.
    PODS = 2


class PodGroupDryRun(Protocol):
    """v1.36: a dry run of a pod group on a copy of the snapshot from which pods are removed."""

    def pods(self) -> Iterable[PodInfo]:
        """The pods of all nodes, node by node."""
        ...

    def remove(self, pod: PodInfo) -> None: ...

    def add(self, pod: PodInfo) -> None: ...

    def try_pods(self) -> Status:
        """Success if the group can be scheduled; otherwise why not. No PostFilter plugin runs."""
        ...


class AsyncPreemptions(Protocol):
    """The asynchronous preemptions of a scheduler, as its plugins see them (gate SchedulerAsyncPreemption)."""

    def start(self, preemptor: Preemptor, node: str, victims: Sequence[PodInfo], *, profile: str, plugin: str) -> None:
        """Evict the victims while scheduling cycles go on. There is at least one, and none is terminating."""
        ...

    def is_running_for(self, uid: str) -> bool:
        """Whether the pod or pod group with this uid waits for its victims to be evicted."""
        ...


class DeviceTotals(NamedTuple):
    """v1.36: how many devices a node has of a class, and how many of them are allocated."""

    devices: int
    allocated: int


class SharedDRAManager(Protocol):
    """v1.36: claims, slices and classes of devices, which all profiles share. Upstream: framework/interface.go SharedDRAManager"""

    def class_name_for(self, resource: str) -> str | None:
        """The device class that provides an extended resource; None: no class does. Upstream: DeviceClassResolver.GetDeviceClass"""
        ...

    def device_totals(self, resources: Iterable[str], nodes: Sequence[Node]) -> dict[str, dict[str, DeviceTotals]]:
        """The devices behind each of these resources, by node name. Resources without a class, and nodes without a device, are absent."""
        ...

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Take a change of a claim or a class. The versions are the informer's, None where there is none."""
        ...

    def to_state(self, number: Callable[[KubeObject], int], running: tuple[str, CycleState] | None) -> Any:
        """Plain data, for a checkpoint. `running`: the uid of the pod that is being scheduled, and the state of its cycle."""
        ...

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        """Load the data of `to_state` into a new manager."""
        ...


class Handle(Protocol):
    """The parts of the scheduler that a plugin may use. Upstream: framework/interface.go Handle"""

    @property
    def profile_name(self) -> str: ...

    @property
    def features(self) -> Features:
        """The session's feature gates."""
        ...

    @property
    def snapshot(self) -> SharedLister: ...

    @property
    def objects(self) -> ObjectLister: ...

    @property
    def nominator(self) -> PodNominator: ...

    @property
    def client(self) -> Client: ...

    @property
    def extenders(self) -> Sequence[PreemptionExtender]: ...

    @property
    def clock(self) -> Callable[[], int]:
        """Returns the virtual time in nanoseconds."""
        ...

    @property
    def seed(self) -> int:
        """The session's seed, for plugins that draw: derive a generator from it and the pod, so that a replay draws the same."""
        ...

    @property
    def keeps_details(self) -> bool:
        """Whether plugins must keep the details that full records show."""
        ...

    @property
    def preemptions(self) -> AsyncPreemptions:
        """v1.36: the asynchronous preemptions."""
        ...

    @property
    def pod_groups(self) -> PodGroups:
        """v1.36: the pod groups of the cache. Upstream: PodGroupManager"""
        ...

    def activate(self, keys: Iterable[str]) -> None:
        """v1.36: move pending pods to activeQ."""
        ...

    def allow_waiting_pod(self, uid: str, plugin: str) -> None:
        """v1.36: allow a pod for a plugin, if it waits at Permit for it."""
        ...

    @property
    def dra_manager(self) -> SharedDRAManager | None:
        """v1.36: what is known of devices; None: the release has no dynamic resource allocation."""
        ...

    def preempt_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """v1.36: make the binding of a pod that waits at Permit fail. False: the pod does not wait."""
        ...

    def cancel_pre_bind(self, uid: str, message: str) -> bool:
        """v1.36: make a pod's PreBind fail. False: the pod is not in PreBind."""
        ...

    def reject_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """Reject a pod that waits at Permit. False: it does not wait."""
        ...

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        """The part of a NodeInfo that the Filter plugins together read."""
        ...

    def filter_sums_key(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """What the Filter plugins that read sums compare with them: for pods with equal keys they return the same. None: unknown."""
        ...

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, rows: Rows, *, reading: FilterReads = FilterReads.NODE) -> Verdicts:
        """Filter's verdict for each row, without nominated pods, from the plugins that read at least this part of a NodeInfo."""
        ...

    def relevant_nominated_pods(self, pod: PodInfo, node_info: NodeInfo) -> list[PodInfo]:
        """Other pods of the same or a higher priority that are nominated to the node."""
        ...

    def run_filter_plugins_with_nominated_pods(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status: ...

    def run_pre_filter_extension_add_pod(
        self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo
    ) -> Status: ...

    def run_pre_filter_extension_remove_pod(
        self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo
    ) -> Status: ...


@runtime_checkable
class Plugin(Protocol):
    @property
    def name(self) -> str: ...


#: Creates a plugin from its arguments (a struct of `engine.config`, None: it takes none). Raises `ValueError`.
PluginFactory = Callable[[Any, Handle], Plugin]


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Runs before a pod enters activeQ."""

    def pre_enqueue(self, pod: PodInfo) -> Status: ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Orders activeQ; a profile has exactly one."""

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool: ...


@runtime_checkable
class EnqueueExtensions(Protocol):
    """Returns the cluster events that can make a pod schedulable that this plugin rejected. Without it, a plugin gets all events."""

    def events_to_register(self) -> Sequence[RegisteredEvent]: ...


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Runs once for each pod, before Filter. Skip skips the plugin's Filter, AddPod and RemovePod."""

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]: ...


@runtime_checkable
class PreFilterExtensions(Protocol):
    """Updates PreFilter's data while pods are added to and removed from a node for a dry run."""

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status: ...

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status: ...


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Returns the verdict for each row; None: all rows pass."""

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None: ...


@runtime_checkable
class DeclaresFilterReads(Plugin, Protocol):
    """A Filter plugin that does not always read the pods of a node. If it does not, its AddPod and RemovePod have no effect."""

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        """What the plugin reads; `state` is PreFilter's."""
        ...


@runtime_checkable
class HasSumsKey(DeclaresFilterReads, Protocol):
    """A Filter plugin whose verdict on sums depends on little of the pod, so that preemption need not try equal pods again."""

    def sums_key(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """What is compared with a node's sums; `state` is PreFilter's. None: the verdict depends on more."""
        ...


@runtime_checkable
class NodeFilterPlugin(Plugin, Protocol):
    """Filter for one node."""

    def filter_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status: ...


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """Runs if no node fits."""

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]: ...


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Runs once for each pod, with the feasible rows, before Score."""

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status: ...


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """Scores rows; a Status instead of scores is an error."""

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status: ...


@runtime_checkable
class NodeScorePlugin(Plugin, Protocol):
    """Score for one node."""

    def score_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> int | Status: ...


@runtime_checkable
class ScoreExtensions(Protocol):
    """Normalizes a plugin's scores to 0..100."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status: ...


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Called when the pod is assumed on a node, and when that is undone (also if its own `reserve` never ran)."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status: ...

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None: ...


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """Allows the pod, rejects it, or makes it wait for at most this many nanoseconds."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]: ...


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Prepares the binding. None: it has to wait and is called again; `PRE_BIND_WAIT_KEY` has the deadline."""

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None: ...


@runtime_checkable
class PreBindPreFlightPlugin(Plugin, Protocol):
    """v1.36: returns before the binding cycle whether PreBind will do something (Success) or nothing (Skip).

    Upstream: kube-scheduler/framework/interface.go PreBindPlugin.PreBindPreFlight
    """

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status: ...


@runtime_checkable
class SignPlugin(Plugin, Protocol):
    """v1.36: everything that this plugin reads of a pod, so that equal pods get equal signatures; None: the pod cannot be signed.

    Upstream: kube-scheduler/framework/interface.go SignPlugin
    """

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None: ...


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Binds the pod; Skip leaves it to the next plugin."""

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status: ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None: ...


@runtime_checkable
class PodGroupPostFilterPlugin(Plugin, Protocol):
    """v1.36: runs if a pod group cannot be scheduled. Returns also the pods that it evicts. Upstream: framework/interface.go"""

    def pod_group_post_filter(self, group: PodGroup, pods: Sequence[PodInfo], dry_run: PodGroupDryRun) -> tuple[Status, list[PodInfo]]: ...


@runtime_checkable
class PlacementGeneratePlugin(Plugin, Protocol):
    """v1.36: the placements in which a pod group is tried, each within the nodes of the parent. A Status instead is an error."""

    def generate_placements(self, group: PodGroupInfo, parent: Placement) -> Sequence[Placement] | Status: ...


@runtime_checkable
class PlacementScorePlugin(Plugin, Protocol):
    """v1.36: scores what a pod group got in one placement."""

    def score_placement(self, group: PodGroupInfo, assignments: PodGroupAssignments) -> int | Status: ...


@runtime_checkable
class PlacementScoreExtensions(Protocol):
    """Normalizes a plugin's scores of all placements to 0..100."""

    def normalize_placement_score(self, group: PodGroupInfo, scores: Sequence[int]) -> Sequence[int] | Status: ...


@runtime_checkable
class ObjectWatcher(Plugin, Protocol):
    """A plugin that watches objects: it gets every change after the informer's store, before cache and queue."""

    @property
    def watched_kinds(self) -> Sequence[str]: ...

    def object_changed(self, verb: ObjectVerb, obj: KubeObject) -> None: ...


@runtime_checkable
class StatefulPlugin(Plugin, Protocol):
    """A plugin that keeps state between pods; every checkpoint stores it.

    If only Reserve, Unreserve, PostBind and `object_changed` change the state, the plugin sets `is_dry_run_safe = True`, and dry runs on a
    live engine may call it.
    """

    def to_state(self, number: Callable[[KubeObject], int]) -> Any:
        """Plain data. Objects are stored as the numbers that `number` returns."""
        ...

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        """Load the data of `to_state` into a new plugin. `find` takes a kind and a number."""
        ...
