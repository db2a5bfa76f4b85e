"""What a plugin is: one protocol for each extension point, and what travels through them.

A plugin has a `name`, is made by its factory from its arguments and a `Handle`, and takes part in every extension point whose
methods it has. Filter and Score come in two forms: for many rows at once (`filter`, `score`), or for one node
(`filter_node`, `score_node`), which the framework lifts. A plugin is written in one of them.

Upstream: framework/interface.go
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.listers import Client, ObjectLister, PodNominator, SharedLister
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import ClusterEvent, NodeInfo, PodInfo, QueuedPodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.meta import KubeObject

if TYPE_CHECKING:
    from schedviz.engine.framework.preemption.importance import NodeVictims

MAX_NODE_SCORE: Final = 100
MIN_NODE_SCORE: Final = 0
MAX_TOTAL_SCORE: Final = 2**63 - 1

#: One score for each row.
Scores = npt.NDArray[np.int64]


class PreFilterResult(msgspec.Struct, frozen=True):
    """Which nodes are worth looking at; None: all. Upstream: framework/interface.go PreFilterResult"""

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


#: A PreFilterResult that leaves all nodes in.
ALL_NODES: Final = PreFilterResult()


class NominatingMode(Enum):
    """What to do with an earlier nomination. Upstream: framework/interface.go NominatingMode"""

    NOOP = "noop"
    OVERRIDE = "override"


class NominatingInfo(msgspec.Struct, frozen=True):
    """Where a pod is nominated to run; an override with "" clears it. Upstream: framework/interface.go NominatingInfo"""

    mode: NominatingMode = NominatingMode.NOOP
    nominated_node_name: str = ""


class Reprieve(msgspec.Struct, frozen=True):
    """A pod of lower priority, taken off a node in a dry run: whether it fits back beside the one that preempts."""

    pod: str
    stays: bool
    #: Its eviction would violate a disruption budget: such pods are tried first.
    violates_budget: bool = False


class Candidate(msgspec.Struct, frozen=True):
    """A node on which preemption would help, and the pods that would have to go."""

    node: str
    victims: tuple[str, ...]
    num_pdb_violations: int = 0
    #: In the order in which they were tried.
    reprieves: tuple[Reprieve, ...] = ()


class PreemptionRecord(msgspec.Struct, frozen=True):
    """What a PostFilter plugin looked at on its way, for whoever watches. `after_extenders` is None without an extender that preempts."""

    candidates: tuple[Candidate, ...] = ()
    after_extenders: tuple[Candidate, ...] | None = None
    chosen: str = ""
    victims: tuple[str, ...] = ()
    #: The rule of pickOneNodeForPreemption that left no other candidate (`preemption.RULES`); "" where none was asked.
    rule: str = ""


class PostFilterResult(msgspec.Struct, frozen=True):
    """What PostFilter decided. Upstream's nil result is one without `nominating_info`. Upstream: framework/interface.go PostFilterResult"""

    nominating_info: NominatingInfo | None = None
    record: PreemptionRecord = PreemptionRecord()

    @property
    def mode(self) -> NominatingMode:
        return NominatingMode.NOOP if self.nominating_info is None else self.nominating_info.mode


class PodsToActivate(msgspec.Struct):
    """Pods (`namespace/name`) that a plugin wants moved to activeQ when the cycle ends.

    Upstream: framework/interface.go PodsToActivate
    """

    pods: dict[str, None] = {}

    def clone(self) -> PodsToActivate:
        """The same object: all clones add to one list."""
        return self


PODS_TO_ACTIVATE_KEY: Final = StateKey("kubernetes.io/pods-to-activate", PodsToActivate)


class PreBindWait(msgspec.Struct, frozen=True):
    """A PreBind plugin has to wait, and gives up at `deadline` (nanoseconds). Ours: upstream's plugin blocks its binding cycle."""

    deadline: int

    def clone(self) -> PreBindWait:
        return self


PRE_BIND_WAIT_KEY: Final = StateKey("schedviz/pre-bind-wait", PreBindWait)

#: What happened to an object, as a watch says it.
ObjectVerb = Literal["ADDED", "MODIFIED", "DELETED"]


class PreemptionExtender(Protocol):
    """An extender, as preemption asks it. Upstream: framework/extender.go Extender"""

    @property
    def is_ignorable(self) -> bool: ...

    @property
    def supports_preemption(self) -> bool: ...

    def is_interested(self, pod: PodInfo) -> bool: ...

    def process_preemption(self, pod: PodInfo, candidates: Sequence[NodeVictims], snapshot: SharedLister) -> tuple[list[NodeVictims], str]:
        """The candidates that it leaves, with the victims that it leaves on them; or what went wrong."""
        ...


class FilterReads(IntEnum):
    """What a Filter looks at of a NodeInfo, for one pod. Dry runs ask only those that can change their mind."""

    #: The Node object alone.
    NODE = 0
    #: Also what the pods request together and how many they are; and more of them never makes room.
    SUMS = 1
    #: Anything. So is a plugin taken that does not say.
    PODS = 2


class Handle(Protocol):
    """What a plugin may use of the scheduler around it. Upstream: framework/interface.go Handle"""

    @property
    def profile_name(self) -> str: ...

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
        """Says the virtual time in nanoseconds."""
        ...

    @property
    def keeps_details(self) -> bool:
        """Whether somebody looks closely: what plugins tell of their way is to be whole."""
        ...

    def reject_waiting_pod(self, uid: str, plugin: str, message: str) -> bool:
        """Stop a pod that waits at Permit; False where it does not wait."""
        ...

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        """What the Filter plugins together look at."""
        ...

    def run_filter_plugins(self, state: CycleState, pod: PodInfo, rows: Rows, *, reading: FilterReads = FilterReads.NODE) -> Verdicts:
        """What Filter says of each row, nominated pods not counted; of its plugins those that read at least so much."""
        ...

    def nominated_pods_that_matter(self, pod: PodInfo, node_info: NodeInfo) -> list[PodInfo]:
        """Other pods of the same or a higher priority that are nominated to run there."""
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


#: Makes a plugin from its arguments (a struct of `engine.config`, None where it takes none). Raises `ValueError`.
PluginFactory = Callable[[Any, Handle], Plugin]


@runtime_checkable
class PreEnqueuePlugin(Plugin, Protocol):
    """Asked before a pod enters activeQ."""

    def pre_enqueue(self, pod: PodInfo) -> Status: ...


@runtime_checkable
class QueueSortPlugin(Plugin, Protocol):
    """Orders activeQ; a profile has exactly one."""

    def less(self, first: QueuedPodInfo, second: QueuedPodInfo) -> bool: ...


@runtime_checkable
class EnqueueExtensions(Protocol):
    """Says which cluster events can make a pod schedulable that this plugin rejected; a plugin without it hears all of them."""

    def events_to_register(self) -> Sequence[ClusterEvent]: ...


@runtime_checkable
class PreFilterPlugin(Plugin, Protocol):
    """Asked once for each pod, before Filter. Skip leaves out the plugin's Filter and its AddPod and RemovePod."""

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]: ...


@runtime_checkable
class PreFilterExtensions(Protocol):
    """Keeps PreFilter's data right while pods are tried on and off a node."""

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status: ...

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status: ...


@runtime_checkable
class FilterPlugin(Plugin, Protocol):
    """Says which rows can run the pod; None: all of them."""

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None: ...


@runtime_checkable
class SaysWhatFilterReads(Plugin, Protocol):
    """A Filter plugin that does not always look at the pods of a node. Where it does not, its AddPod and RemovePod change nothing."""

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        """What it would look at; `state` is as PreFilter left it."""
        ...


@runtime_checkable
class NodeFilterPlugin(Plugin, Protocol):
    """Filter for one node."""

    def filter_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> Status: ...


@runtime_checkable
class PostFilterPlugin(Plugin, Protocol):
    """Asked when no node fits."""

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]: ...


@runtime_checkable
class PreScorePlugin(Plugin, Protocol):
    """Asked once for each pod, with the rows that fit, before Score."""

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status: ...


@runtime_checkable
class ScorePlugin(Plugin, Protocol):
    """Ranks rows; a Status instead of scores is an error."""

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status: ...


@runtime_checkable
class NodeScorePlugin(Plugin, Protocol):
    """Score for one node."""

    def score_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> int | Status: ...


@runtime_checkable
class ScoreExtensions(Protocol):
    """Brings a plugin's scores into 0..100."""

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status: ...


@runtime_checkable
class ReservePlugin(Plugin, Protocol):
    """Told when the pod is assumed on a node, and when that is undone (also if its own `reserve` never ran)."""

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status: ...

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None: ...


@runtime_checkable
class PermitPlugin(Plugin, Protocol):
    """Lets the pod go on, stops it, or makes it wait for at most so many nanoseconds."""

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]: ...


@runtime_checkable
class PreBindPlugin(Plugin, Protocol):
    """Prepares the binding. None: it has to wait for something, and is asked again; `PRE_BIND_WAIT_KEY` says until when."""

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None: ...


@runtime_checkable
class BindPlugin(Plugin, Protocol):
    """Binds the pod; Skip leaves it to the next one."""

    def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status: ...


@runtime_checkable
class PostBindPlugin(Plugin, Protocol):
    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None: ...


@runtime_checkable
class ObjectWatcher(Plugin, Protocol):
    """A plugin that keeps something of objects: it hears of every change after the informer's store has, before cache and queue."""

    @property
    def watched_kinds(self) -> Sequence[str]: ...

    def object_changed(self, verb: ObjectVerb, obj: KubeObject) -> None: ...


@runtime_checkable
class StatefulPlugin(Plugin, Protocol):
    """A plugin that remembers something from one pod to the next; it is in every checkpoint.

    One that is not changed by Filter and Score says so with `asking_changes_nothing = True`: then it can be asked beside the cycles, too.
    """

    def to_state(self, number: Callable[[KubeObject], int]) -> Any:
        """Plain data. Objects are written as the numbers that `number` gives them."""
        ...

    def load(self, state: Any, find: Callable[[str, int], KubeObject]) -> None:
        """The reverse, into a plugin that was just made. `find` takes a kind and a number."""
        ...
