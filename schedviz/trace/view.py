"""The state of a session as a page draws it: plain structs with the shapes of a schedviz-trace/1 `observed`.

Two members differ from that format, where they would be redundant: a NodeInfo has no sorted `pods` (it is `podOrder` sorted), and
`activeQ`/`backoffQ` are the heap's array (the format's pop order is derived, see `queue_fold.pop_order`). Members that the format lacks
and a page draws are added: time, cycle, watch events in flight, and the snapshot's values where they differ from the cache's.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Part(msgspec.Struct, rename="camel", omit_defaults=False, gc=False):
    """A part of a view, in camelCase JSON like Kubernetes objects. `gc=False`: a view is a tree, so the garbage collector can skip it."""


class Value(msgspec.Struct, frozen=True, rename="camel", omit_defaults=False, gc=False):
    """An immutable part of a view."""


class Resources(Value, frozen=True, omit_defaults=True):
    """Amounts on one node: milli-cpus, bytes, and counts of scalar resources."""

    milli_cpu: int = msgspec.field(default=0, name="milliCPU")
    memory: int = 0
    ephemeral_storage: int = 0
    allowed_pod_number: int = 0
    scalar: dict[str, int] = {}


class ImageState(Value, frozen=True):
    """An image on a node: its size in bytes, and the number of nodes that had it when this node was last set.

    In v1.36 `num_nodes` is 0: the number of the image's `CacheImage` applies to all nodes.
    """

    size: int
    num_nodes: int


class NodeItem(Part, omit_defaults=True):
    """A NodeInfo: one item of the cache's linked list, or its copy in the snapshot."""

    name: str
    generation: int = 0
    #: False for a ghost: the node was deleted and still has pods.
    has_node: bool = False
    unschedulable: bool = False
    #: `key=value:effect`, or `key:effect`, in the order of the Node object.
    taints: list[str] = []
    zone: str = ""
    #: Keys of the pods in the order of NodeInfo.Pods (removal moves the last one to the gap).
    pod_order: list[str] = []
    pods_with_affinity: list[str] = []
    pods_with_required_anti_affinity: list[str] = []
    requested: Resources = Resources()
    non_zero_requested: Resources = Resources()
    allocatable: Resources = Resources()
    #: IP -> sorted ["TCP/80"].
    used_ports: dict[str, list[str]] = {}
    image_states: dict[str, ImageState] = {}
    #: "ns/claim" -> number of pods that use it.
    pvc_ref_counts: dict[str, int] = {}
    #: v1.36: what the node's kubelet declares that it can do, sorted.
    declared_features: list[str] = []


class PodState(Part, omit_defaults=True):
    """The cache's data of one pod, by uid."""

    pod: str
    node: str
    assumed: bool = False
    #: v1.27.1: the binding of the assumed pod is written, so the pod can expire. v1.36, where no assumed pod expires: always false.
    binding_finished: bool = False
    #: When the assumed pod expires; None: never.
    deadline_seconds: float | None = None


class NodeTree(Part):
    """Nodes by zone; zones in the order of the tree's walk."""

    num_nodes: int = 0
    zones: list[str] = []
    tree: dict[str, list[str]] = {}


class CacheImage(Part):
    """An image in the cache: its size in bytes and the nodes that have it, sorted."""

    size: int
    nodes: list[str]


class PodGroupMembers(Value, frozen=True):
    """v1.36: the pods of a group that the scheduler knows, each list sorted."""

    all_pods: list[str] = []
    #: Neither assumed nor assigned.
    unscheduled_pods: list[str] = []
    assumed_pods: list[str] = []
    assigned_pods: list[str] = []


#: Defined here because inside `CacheView` the name `list` is a member.
NodeItems = list[NodeItem]
Names = list[str]


class CacheView(Part):
    """The scheduler's cache. `list` starts with headNode."""

    list: NodeItems = []
    assumed_pods: Names = []
    pod_states: dict[str, PodState] = {}
    node_tree: NodeTree = msgspec.field(default_factory=NodeTree)
    image_states: dict[str, CacheImage] = {}
    #: v1.36 with the gate GenericWorkload: `namespace/name` of a pod group -> its pods.
    pod_groups: dict[str, PodGroupMembers] = {}


class SnapshotView(Part):
    """The scheduler's snapshot, which the current cycle reads."""

    generation: int = 0
    node_info_list: list[str] = []
    node_generations: dict[str, int] = {}
    have_pods_with_affinity: list[str] = []
    have_pods_with_required_anti_affinity: list[str] = []
    used_pvc_set: list[str] = msgspec.field(default_factory=list, name="usedPVCSet")
    #: The snapshot's NodeInfos whose generation differs from the cache's, or that the cache does not have.
    stale: dict[str, NodeItem] = {}
    #: v1.36: the pods of a group that its scheduling cycle has placed in the snapshot alone -> their nodes. The NodeInfos above are without
    #: them.
    assumed_pods: dict[str, str] = {}
    #: v1.36: as in the cache, at the time of the last update and with `assumed_pods`.
    pod_groups: dict[str, PodGroupMembers] = {}


class QueuedPod(Part, omit_defaults=True):
    """A QueuedPodInfo."""

    pod: str
    priority: int = 0
    attempts: int = 0
    #: When it was created or its last attempt failed. Moves between queues keep it.
    timestamp_seconds: float = 0.0
    #: v1.27.1: when it was first added. v1.36: when it first entered activeQ; 0: it has not.
    initial_attempt_timestamp_seconds: float = 0.0
    backoff_expiry_seconds: float = 0.0
    unschedulable_plugins: list[str] = []
    gated: bool = False
    # The rest is v1.36's.
    #: The plugins that answered Pending in its last attempt.
    pending_plugins: list[str] = []
    #: The PreEnqueue plugin that gates it.
    gating_plugin: str = ""
    #: How often plugins rejected it; its backoff grows with this.
    unschedulable_count: int = 0
    #: How often it failed with an error since a plugin rejected it last; while above 0, its backoff grows with this.
    consecutive_errors_count: int = 0
    #: It had been in unschedulablePods for too long since its last attempt, so a flush tried to move it.
    was_flushed_from_unschedulable: bool = False


class InFlightEntry(Value, frozen=True, omit_defaults=True):
    """An entry of v1.36's list of what happened since the oldest pod in flight was popped: a popped pod, or a cluster event with the
    objects that it is about (`Node n1`).
    """

    pod: str = ""
    #: The pod's: two pods of one name can be in flight.
    uid: str = ""
    event: str = ""
    old: str = ""
    new: str = ""


class QueueView(Part):
    """The scheduling queue. activeQ, backoffQ and errorBackoffQ are container/heap's arrays."""

    active_q: list[QueuedPod] = msgspec.field(default_factory=list, name="activeQ")
    backoff_q: list[QueuedPod] = msgspec.field(default_factory=list, name="backoffQ")
    #: In the order in which they were added; includes gated pods.
    unschedulable: list[QueuedPod] = []
    #: Node name ("" too, see FORMAT.md behaviour 1) -> pods in order of nomination.
    nominated: dict[str, list[str]] = {}
    scheduling_cycle: int = 0
    move_request_cycle: int = -1
    #: v1.36: the pods in backoffQ whose attempt ended in an error; container/heap's array. `backoff_q` has those that plugins rejected.
    error_backoff_q: list[QueuedPod] = msgspec.field(default_factory=list, name="errorBackoffQ")
    #: v1.36: pods in flight and the events since, oldest first.
    in_flight: list[InFlightEntry] = []
    #: v1.36 with SchedulerPopFromBackoffQ: when activeQ is empty, pods are popped from backoffQ, and of pods whose backoff ends at the
    #: same time the one that activeQ would pop first is first.
    pops_from_backoff_q: bool = False


class WatchInFlight(Value, frozen=True):
    """A watch event on its way from the API server to the scheduler."""

    id: int
    verb: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    due_seconds: float


class WatchView(Value, frozen=True):
    """A watch that is disconnected, or will drop events."""

    connected: bool = True
    #: Number of events missed since its connection broke.
    unseen: int = 0
    #: Number of next events that will be dropped.
    drops: int = 0


class ApiView(Part):
    """The simulated API server."""

    #: Kind -> number of objects.
    objects: dict[str, int] = {}
    #: The next one to arrive comes first.
    in_flight: list[WatchInFlight] = []
    #: Kind -> seconds of watch latency, where it is not 0.
    latencies: dict[str, float] = {}
    #: Kind -> its watch, if it is disconnected or will drop events.
    watches: dict[str, WatchView] = {}
    #: Enabled controllers -> their delay in seconds.
    helpers: dict[str, float] = {}


class StatusView(Value, frozen=True, omit_defaults=True):
    """The status that one plugin returned at one extension point."""

    plugin: str
    code: str
    reasons: list[str] = []


class RejectionView(Value, frozen=True):
    """How many nodes one plugin rejected for one set of reasons."""

    plugin: str
    code: str
    reasons: list[str]
    nodes: int
    #: The first few nodes, for a label.
    first: list[str] = []


class ScoreView(Value, frozen=True):
    """The scores of one plugin for one node: raw, after NormalizeScore, and weighted."""

    plugin: str
    weight: int
    raw: int
    normalized: int
    weighted: int


class ScoredNodeView(Value, frozen=True):
    """A node with its total and the scores of the plugins."""

    node: str
    total: int
    scores: list[ScoreView] = []


class StageView(Value, frozen=True, omit_defaults=True):
    """One stage of a cycle that has ended."""

    stage: str
    statuses: list[StatusView] = []
    #: Filter and ExtenderFilter: the rejected nodes, by plugin and reasons.
    rejections: list[RejectionView] = []
    #: Other results of the stage (docs/wire.md, "stage facts").
    facts: dict[str, Any] = {}


class CycleView(Part, omit_defaults=True):
    """A scheduling cycle, running or ended; also its stored summary."""

    cycle: int
    pod: str
    #: v1.36: the pod group in whose scheduling cycle this pod was tried; "": the pod was scheduled alone.
    pod_group: str = ""
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
    #: The number of nodes in the snapshot; a page shows how many were not evaluated.
    all_nodes: int = 0
    num_feasible_nodes_to_find: int = 0
    start_node_index: int = 0
    next_start_node_index: int = 0
    #: The number of nodes with the highest total, and the first 8 of them.
    tied_nodes: int = 0
    tied: list[str] = []
    winner: ScoredNodeView | None = None
    runner_up: ScoredNodeView | None = None
    unschedulable_plugins: list[str] = []


class PodGroupPodView(Value, frozen=True, omit_defaults=True):
    """A pod of a group in the group's scheduling cycle."""

    pod: str
    #: The number of its part of the cycle; 0: it was not tried yet.
    cycle: int = 0
    #: The node on which it was placed in the snapshot; "": none.
    node: str = ""
    #: The code of the scheduling algorithm's status, such as Success; "": it was not tried yet.
    code: str = ""
    message: str = ""
    #: The code of Permit's status for a pod that has a node: Success or Wait.
    permit: str = ""
    #: It fits only after victims have gone.
    requires_preemption: bool = False
    #: scheduled | unschedulable | error: what the group's result meant for this pod; "": the cycle runs.
    outcome: str = ""


class PodGroupCycleView(Part, omit_defaults=True):
    """v1.36: the scheduling cycle of a pod group, running or ended. Each of its pods has a CycleView of its own."""

    group: str
    profile: str = ""
    at_seconds: float = 0.0
    #: The stage of the group that comes next; empty when the cycle has ended.
    next_stage: str = ""
    stages: list[StageView] = []
    #: In the order in which they are tried.
    pods: list[PodGroupPodView] = []
    #: The cycles of the pods that were tried.
    cycles: list[CycleView] = []
    #: With topology constraints: the placement that is being tried, or that was chosen.
    placement: str = ""
    #: "", or scheduled | unschedulable | error | skipped.
    outcome: str = ""
    message: str = ""
    waiting_on_preemption: bool = False


class BindingView(Part, omit_defaults=True):
    """A binding cycle in flight."""

    pod: str
    node: str
    cycle: int
    #: The next stage: WaitOnPermit | PreBind | Bind | FinishBinding | PostBind, or Confirm (bound, watch event pending).
    next_stage: str = ""
    stages: list[StageView] = []
    #: Held until a `bind` command: FORMAT.md's `schedule`.
    held: bool = False
    #: Permit plugins that have not allowed the pod yet, sorted.
    waiting_for: list[str] = []


class PreemptionView(Value, frozen=True, omit_defaults=True):
    """v1.36: an asynchronous preemption that has not ended."""

    #: The pod, or the pod group, that preempts, and its pods.
    preemptor: str
    pods: list[str]
    node: str
    #: The pods to evict, in this order.
    victims: list[str]
    #: The scheduling cycle that began it.
    cycle: int = 0
    plugin: str = ""
    #: The next stage: ClearNominations | EvictVictims | EvictLastVictim.
    next_stage: str = ""
    #: How many of the victims were evicted.
    evicted: int = 0


class ApiCallView(Value, frozen=True, omit_defaults=True):
    """v1.36 with SchedulerAsyncAPICalls: an API call that the scheduler has not made yet."""

    pod: str
    uid: str
    type: Literal["pod_status_patch", "pod_binding"]
    #: Of a binding: the node.
    node: str = ""
    #: Of a patch: the reason of the condition that it sets, and the nomination ("": it clears it, None: it does not change it).
    reason: str = ""
    nominated_node_name: str | None = None


class View(Part):
    """The whole state of one moment."""

    #: The number of the last event in this view.
    event: int = 0
    clock_seconds: float = 0.0
    cache: CacheView = msgspec.field(default_factory=CacheView)
    snapshot: SnapshotView = msgspec.field(default_factory=SnapshotView)
    queue: QueueView = msgspec.field(default_factory=QueueView)
    #: The running cycle, or the last one.
    cycle: CycleView | None = None
    #: v1.36: the running cycle of a pod group, or the last one, if `cycle` is part of it.
    pod_group: PodGroupCycleView | None = None
    #: Oldest first: binding cycles that run or are held, and unconfirmed bindings.
    bindings: list[BindingView] = []
    #: v1.36: asynchronous preemptions that have not ended, oldest first.
    preemptions: list[PreemptionView] = []
    #: v1.36: pending API calls, in the order in which they will be made.
    api_calls: list[ApiCallView] = []
    api: ApiView = msgspec.field(default_factory=ApiView)
    next_start_node_index: int = 0
    #: Why the scheduler ended its process and waits for a restart; "": it is running.
    exited: str = ""
    #: The scheduler's KubeSchedulerConfiguration as it was given; None: the default one.
    config: dict[str, Any] | None = None
