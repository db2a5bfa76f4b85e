"""The state of a session as a page draws it: plain structs with the shapes of a schedviz-trace/1 `observed`.

Two members differ from that format because they are larger there than what they say: a NodeInfo has no sorted `pods` (it is
`podOrder` sorted), and `activeQ`/`backoffQ` are the heap's array (the format's pop order is derived, see `fold.pop_order`).
What the format has not, and a page draws, is added: time, cycle, watch events in flight, the snapshot's own
values where they are not the cache's.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Part(msgspec.Struct, rename="camel", omit_defaults=False, gc=False):
    """A piece of a view. Written in camelCase, as Kubernetes writes JSON. `gc=False`: a view is a tree, so the collector need not look."""


class Value(msgspec.Struct, frozen=True, rename="camel", omit_defaults=False, gc=False):
    """A piece of a view that never changes."""


class Resources(Value, frozen=True, omit_defaults=True):
    """Amounts on one node: milli-cpus, bytes, and counts of scalar resources."""

    milli_cpu: int = msgspec.field(default=0, name="milliCPU")
    memory: int = 0
    ephemeral_storage: int = 0
    allowed_pod_number: int = 0
    scalar: dict[str, int] = {}


class ImageState(Value, frozen=True):
    """An image on a node: its size in bytes, and on how many nodes it was when the node was last seen."""

    size: int
    num_nodes: int


class NodeItem(Part, omit_defaults=True):
    """A NodeInfo: one item of the cache's linked list, or its copy in the snapshot."""

    name: str
    generation: int = 0
    #: False for a ghost: the node is deleted and pods are still on it.
    has_node: bool = False
    unschedulable: bool = False
    zone: str = ""
    #: Keys of the pods as NodeInfo.Pods has them (removal swaps the last one in).
    pod_order: list[str] = []
    pods_with_affinity: list[str] = []
    pods_with_required_anti_affinity: list[str] = []
    requested: Resources = Resources()
    non_zero_requested: Resources = Resources()
    allocatable: Resources = Resources()
    #: ip -> sorted ["TCP/80"].
    used_ports: dict[str, list[str]] = {}
    image_states: dict[str, ImageState] = {}
    #: "ns/claim" -> how many pods use it.
    pvc_ref_counts: dict[str, int] = {}


class PodState(Part, omit_defaults=True):
    """What the cache knows of one pod, by uid."""

    pod: str
    node: str
    assumed: bool = False
    binding_finished: bool = False
    deadline_seconds: float | None = None


class NodeTree(Part):
    """Nodes by zone, zones in the order in which they are walked."""

    num_nodes: int = 0
    zones: list[str] = []
    tree: dict[str, list[str]] = {}


class CacheImage(Part):
    """An image that the cache knows of: its size in bytes and the nodes that have it, sorted."""

    size: int
    nodes: list[str]


#: Named here because inside `CacheView` the word `list` is its member.
NodeItems = list[NodeItem]
Names = list[str]


class CacheView(Part):
    """The scheduler's cache. `list` has headNode first."""

    list: NodeItems = []
    assumed_pods: Names = []
    pod_states: dict[str, PodState] = {}
    node_tree: NodeTree = msgspec.field(default_factory=NodeTree)
    image_states: dict[str, CacheImage] = {}


class SnapshotView(Part):
    """The scheduler's snapshot: what the current cycle sees."""

    generation: int = 0
    node_info_list: list[str] = []
    node_generations: dict[str, int] = {}
    have_pods_with_affinity: list[str] = []
    have_pods_with_required_anti_affinity: list[str] = []
    used_pvc_set: list[str] = msgspec.field(default_factory=list, name="usedPVCSet")
    #: The snapshot's value of those NodeInfos of which the cache has another generation, or none.
    stale: dict[str, NodeItem] = {}


class QueuedPod(Part, omit_defaults=True):
    """A QueuedPodInfo."""

    pod: str
    priority: int = 0
    attempts: int = 0
    timestamp_seconds: float = 0.0
    initial_attempt_timestamp_seconds: float = 0.0
    backoff_expiry_seconds: float = 0.0
    unschedulable_plugins: list[str] = []
    gated: bool = False


class QueueView(Part):
    """The scheduling queue. The two heaps are arrays as container/heap lays them out."""

    active_q: list[QueuedPod] = msgspec.field(default_factory=list, name="activeQ")
    backoff_q: list[QueuedPod] = msgspec.field(default_factory=list, name="backoffQ")
    #: In the order of arrival; gated pods are among them.
    unschedulable: list[QueuedPod] = []
    #: node name ("" too, see FORMAT.md behaviour 1) -> pods in order of nomination.
    nominated: dict[str, list[str]] = {}
    scheduling_cycle: int = 0
    move_request_cycle: int = -1


class WatchInFlight(Value, frozen=True):
    """A watch event on its way from the API server to the scheduler."""

    id: int
    verb: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    due_seconds: float


class WatchView(Value, frozen=True):
    """A watch that is not as it should be."""

    connected: bool = True
    #: Events that it missed since its connection broke.
    unseen: int = 0
    #: So many of the next events get lost.
    drops: int = 0


class ApiView(Part):
    """The simulated API server."""

    #: Kind -> how many objects.
    objects: dict[str, int] = {}
    #: The one that arrives next is first.
    in_flight: list[WatchInFlight] = []
    #: Kind -> seconds of watch latency, where it is not 0.
    latencies: dict[str, float] = {}
    #: Kind -> its watch, where it is disconnected or is to lose events.
    watches: dict[str, WatchView] = {}
    #: Helpers that are on -> their delay in seconds.
    helpers: dict[str, float] = {}


class StatusView(Value, frozen=True, omit_defaults=True):
    """What one plugin answered at one extension point."""

    plugin: str
    code: str
    reasons: list[str] = []


class RejectionView(Value, frozen=True):
    """How many nodes one plugin rejected with one set of reasons."""

    plugin: str
    code: str
    reasons: list[str]
    nodes: int
    #: The first few of them, for a label.
    first: list[str] = []


class ScoreView(Value, frozen=True):
    """What one plugin gave to one node: raw, after NormalizeScore, and times its weight."""

    plugin: str
    weight: int
    raw: int
    normalized: int
    weighted: int


class ScoredNodeView(Value, frozen=True):
    """A node with its total and the shares of the plugins."""

    node: str
    total: int
    scores: list[ScoreView] = []


class StageView(Value, frozen=True, omit_defaults=True):
    """One stage of a cycle that has ended."""

    stage: str
    statuses: list[StatusView] = []
    #: Filter and ExtenderFilter: who was turned away, by whom and why.
    rejections: list[RejectionView] = []
    #: Anything else that the stage found, in words that the docs define (docs/wire.md, "stage facts").
    facts: dict[str, Any] = {}


class CycleView(Part, omit_defaults=True):
    """A scheduling cycle, running or ended, as its summary is recorded."""

    cycle: int
    pod: str
    profile: str = ""
    attempts: int = 0
    at_seconds: float = 0.0
    #: The stage that comes next; empty when the cycle has ended.
    next_stage: str = ""
    stages: list[StageView] = []
    #: "", or scheduled | unschedulable | error | skipped.
    outcome: str = ""
    node: str = ""
    message: str = ""
    condition_reason: str = ""
    evaluated_nodes: int = 0
    feasible_nodes: int = 0
    #: Nodes that were in the snapshot, so that a page can say how many were never looked at.
    all_nodes: int = 0
    num_feasible_nodes_to_find: int = 0
    start_node_index: int = 0
    next_start_node_index: int = 0
    #: How many nodes share the highest total, and the first 8 of them.
    tied_nodes: int = 0
    tied: list[str] = []
    winner: ScoredNodeView | None = None
    runner_up: ScoredNodeView | None = None
    unschedulable_plugins: list[str] = []


class BindingView(Part, omit_defaults=True):
    """A binding cycle in flight."""

    pod: str
    node: str
    cycle: int
    #: The stage that comes next: WaitOnPermit | PreBind | Bind | FinishBinding | PostBind, or Confirm (bound, watch event to come).
    next_stage: str = ""
    stages: list[StageView] = []
    #: Held until a `bind` command: FORMAT.md's `schedule`.
    held: bool = False
    #: Permit plugins that have not allowed the pod yet, sorted.
    waiting_for: list[str] = []


class View(Part):
    """Everything that a page draws of one moment."""

    #: The number of the last event that is in this view.
    event: int = 0
    clock_seconds: float = 0.0
    cache: CacheView = msgspec.field(default_factory=CacheView)
    snapshot: SnapshotView = msgspec.field(default_factory=SnapshotView)
    queue: QueueView = msgspec.field(default_factory=QueueView)
    #: The cycle that runs, else the last one.
    cycle: CycleView | None = None
    #: Oldest first: binding cycles that run or are held, and bindings that are not confirmed.
    bindings: list[BindingView] = []
    api: ApiView = msgspec.field(default_factory=ApiView)
    next_start_node_index: int = 0
    #: Why the scheduler ended its process and waits for a restart; "": it runs.
    exited: str = ""
    #: The scheduler's KubeSchedulerConfiguration as it was given; None: the default one.
    config: dict[str, Any] | None = None
