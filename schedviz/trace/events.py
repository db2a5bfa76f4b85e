"""Trace events: what the scheduler did, one typed event for every call that changed something, in order.

An event has enough data to apply it to a `View` without the engine (`fold.Fold`): new values, not differences, except for long lists, for
which it has what was added and removed. Members are camelCase in JSON; the member `t` has the type.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from schedviz.trace.view import (
    ApiCallView,
    ImageState,
    InFlightEntry,
    PodGroupMembers,
    PodState,
    QueuedPod,
    RejectionView,
    Resources,
    ScoredNodeView,
    StatusView,
)


class Piece(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A part of an event. `gc=False`: events contain no reference cycles, so the garbage collector can skip them."""


class TraceEvent(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="t", gc=False):
    """Base of all events. `event` numbers them from 1 without gaps, `at` is the virtual clock in seconds, `cycle` is the
    scheduling cycle that was running (0: none).

    These three members can be passed by position; `Recorder.record` does so, which lets mypy check the other members by event.
    """

    event: int
    at: float
    cycle: int = 0


class PodOnNode(Piece, frozen=True):
    """A pod that was added to a NodeInfo."""

    pod: str
    affinity: bool = False
    required_anti_affinity: bool = False


class NodeChange(Piece, frozen=True):
    """The changes of one NodeInfo, which moved to the head of the list, unless it was `dropped` from it.

    A member that is None is unchanged. Removals come before additions, in order; a removal moves the last pod to the gap.
    """

    node: str
    generation: int
    dropped: bool = False
    has_node: bool | None = None
    unschedulable: bool | None = None
    taints: list[str] | None = None
    zone: str | None = None
    removed: list[str] = []
    added: list[PodOnNode] = []
    requested: Resources | None = None
    non_zero_requested: Resources | None = None
    allocatable: Resources | None = None
    used_ports: dict[str, list[str]] | None = None
    image_states: dict[str, ImageState] | None = None
    pvc_ref_counts: dict[str, int] | None = None
    declared_features: list[str] | None = None
    #: The present lists of pods, if they do not follow from `removed` and `added`: two pods with one name are on the node, or an update
    #: that changed a pod's affinity was missed.
    pod_order: list[str] | None = None
    pods_with_affinity: list[str] | None = None
    pods_with_required_anti_affinity: list[str] | None = None


PodOperation = Literal["assume", "finishBinding", "forget", "add", "update", "remove", "expire"]


class CachePod(TraceEvent, frozen=True, kw_only=True, tag="cachePod"):
    """The cache added, changed or removed a pod."""

    op: PodOperation
    pod: str
    uid: str
    #: The uid of an older pod of this name that this pod replaced, because its Delete was missed.
    instead_of: str = ""
    #: In order; if a pod is confirmed on another node, the node on which it was assumed comes first.
    nodes: list[NodeChange] = []
    #: The pod's state afterwards; None: the cache no longer has it.
    state: PodState | None = None


#: The state of a pod in v1.14's cache, which has no data of pods in Initial, Expired and Deleted.
PodStateName = Literal["Initial", "Assumed", "Added", "Expired", "Deleted"]


#: A method of upstream's v1.14 cache.
CacheMethod = Literal["AssumePod", "FinishBinding", "ForgetPod", "AddPod", "UpdatePod", "RemovePod", "ExpirePod"]


class CacheCall(TraceEvent, frozen=True, kw_only=True, tag="cacheCall"):
    """A call of a method of the v1.14 cache (policy `cache`) for one pod: the states before and after, and the returned error.

    It follows the CachePod event of the change, and is recorded even if nothing changed.
    """

    call: CacheMethod
    pod: str
    uid: str
    source: PodStateName
    target: PodStateName
    error: str = ""


class ImageChange(Piece, frozen=True):
    """A node has, or no longer has, an image. The cache drops an image that no node has."""

    image: str
    size: int
    on_node: bool


class TreeChange(Piece, frozen=True):
    """The node left a zone of the node tree (an empty zone is removed), and was then appended to another."""

    left: str | None = None
    joined: str | None = None


NodeOperation = Literal["add", "update", "remove"]


class CacheNode(TraceEvent, frozen=True, kw_only=True, tag="cacheNode"):
    """The cache added, changed or removed a node."""

    op: NodeOperation
    node: str
    nodes: list[NodeChange] = []
    tree: TreeChange | None = None
    images: list[ImageChange] = []


class SnapshotUpdated(TraceEvent, frozen=True, kw_only=True, tag="snapshotUpdated"):
    """UpdateSnapshot walked the list from its head."""

    generation: int
    #: Visited items, head first; those with a node were cloned.
    visited: list[str] = []
    cloned: list[str] = []
    #: Nodes that are no longer in the snapshot.
    removed: list[str] = []
    update_all_lists: bool = False
    update_nodes_have_pods_with_affinity: bool = False
    update_nodes_have_pods_with_required_anti_affinity: bool = False
    update_used_pvc_set: bool = msgspec.field(default=False, name="updateUsedPVCSet")
    #: The rebuilt lists; None: not rebuilt.
    node_info_list: list[str] | None = None
    have_pods_with_affinity: list[str] | None = None
    have_pods_with_required_anti_affinity: list[str] | None = None
    used_pvc_set: list[str] | None = msgspec.field(default=None, name="usedPVCSet")
    #: v1.36: the pod groups that changed; None: the group was removed.
    pod_groups: dict[str, PodGroupMembers | None] = {}
    error: str = ""


class PodGroupChanged(TraceEvent, frozen=True, kw_only=True, tag="podGroupChanged"):
    """v1.36's cache changed what it knows of a pod group; None: no pod of the group is left."""

    group: str
    members: PodGroupMembers | None = None


class SnapshotPod(TraceEvent, frozen=True, kw_only=True, tag="snapshotPod"):
    """v1.36: the scheduling cycle of a pod group placed a pod on a node in the snapshot alone (`assume`), or undid that (`forget`)."""

    op: Literal["assume", "forget"]
    pod: str
    node: str
    group: str
    #: The group's state in the snapshot afterwards; None: the snapshot does not have the group.
    members: PodGroupMembers | None = None


#: The queue that holds a pod. errorBackoffQ is v1.36's. Members with `QueueName | None` have None if no queue holds it.
QueueName = Literal["activeQ", "backoffQ", "unschedulable", "errorBackoffQ"]


#: The causes of a move from a queue to a scheduling cycle; the second is v1.36's, for a pod that is popped from backoffQ.
POP_CAUSES: Final = frozenset(("Pop", "PopFromBackoffQ"))


class QueueMove(Piece, frozen=True):
    """One pod entered or left a queue, moved between two, or changed in place (`source` is `target`); None: in no queue.

    `entry` is its QueuedPodInfo afterwards, None: unchanged. In a heap (all queues but unschedulablePods), a pod that leaves is removed
    with container/heap's Remove (`popped`: Pop), one that enters is pushed, one that changes in place is fixed.
    """

    pod: str
    source: QueueName | None = None
    target: QueueName | None = None
    popped: bool = False
    entry: QueuedPod | None = None


class QueueMoved(TraceEvent, frozen=True, kw_only=True, tag="queueMoved"):
    """Pods entered, left or changed in the queue, because of `cause`: upstream's label of the event (`NodeAdd`, `ScheduleAttemptFailure`,
    `BackoffComplete`, ...), one of `POP_CAUSES`, or `PodDelete`, `Configure`. docs/wire.md lists them.
    """

    cause: str
    moves: list[QueueMove] = []
    scheduling_cycle: int = 0
    move_request_cycle: int = 0


class HintAnswer(Piece, frozen=True):
    """What one plugin's hint answered: `on` is the event that the plugin registered for. An error counts as Queue."""

    on: str
    plugin: str
    hint: Literal["Queue", "QueueSkip"]
    error: str = ""


#: What the queue does with a pod after its hints: nothing (no hint was called, or each returned QueueSkip), requeue it after its backoff,
#: or requeue it at once.
RequeueStrategy = Literal["skip", "afterBackoff", "immediately"]


class RequeueDecision(Piece, frozen=True):
    """What the queue decided about pods with equal hints, in order of full name.

    `queue`: where it put them, also if their own update left them in unschedulablePods. None: they stay, or a later event that they missed
    during their cycle decides (see `in_flight`).
    """

    pods: list[str]
    hints: list[HintAnswer] = []
    strategy: RequeueStrategy | None = None
    queue: QueueName | None = None
    #: The event arrived while the pod was in flight, and was evaluated when it came back. Only the last such event that was evaluated has
    #: it, with the strategy of all of them; earlier ones have neither this nor a queue.
    in_flight: bool = False
    #: Not evaluated: the plugin that gates them does not wait for this event.
    gated: bool = False


class RequeueConsidered(TraceEvent, frozen=True, kw_only=True, tag="requeueConsidered"):
    """v1.36's queue handled a cluster event and evaluated the queueing hints of the plugins that rejected pods.

    `moves_all`: a call of MoveAllToActiveOrBackoffQueue; otherwise a pod's own update, its return from a cycle, Activate, or the flush of
    pods that have been in unschedulablePods too long.
    """

    event_label: str
    #: The objects of the event, such as `Node n1`; "": there is none.
    old: str = ""
    new: str = ""
    moves_all: bool = False
    decisions: list[RequeueDecision] = []


class PreEnqueueRan(TraceEvent, frozen=True, kw_only=True, tag="preEnqueueRan"):
    """v1.36's queue ran the PreEnqueue plugins of a pod, until one of them rejected it."""

    pod: str
    passed: list[str] = []
    rejected: StatusView | None = None


class InFlightChanged(TraceEvent, frozen=True, kw_only=True, tag="inFlightChanged"):
    """v1.36's list of pods in flight, and of the events since the oldest was popped, changed: `added` was appended, or the pod with the
    uid `done` was removed, and with it the events that no other pod needs.
    """

    added: list[InFlightEntry] = []
    done: str = ""


class PodNominated(TraceEvent, frozen=True, kw_only=True, tag="podNominated"):
    """The nominator assigned a pod to a node (or to ""), after removing its earlier entry; None: it only removed it."""

    pod: str
    node: str | None = None


class CycleStarted(TraceEvent, frozen=True, kw_only=True, tag="cycleStarted"):
    """A pod was popped and its scheduling cycle began."""

    pod: str
    #: Distinguishes pods with one name.
    uid: str = ""
    profile: str = ""
    attempts: int = 0
    all_nodes: int = 0
    #: v1.36: the pod group in whose scheduling cycle this is; it began before, and its pods are tried one after the other.
    pod_group: str = ""


class StageEnded(TraceEvent, frozen=True, kw_only=True, tag="stageEnded"):
    """One stage of the scheduling cycle ended. `facts` are defined in docs/wire.md."""

    stage: str
    next_stage: str = ""
    statuses: list[StatusView] = []
    rejections: list[RejectionView] = []
    facts: dict[str, Any] = {}


class CycleEnded(TraceEvent, frozen=True, kw_only=True, tag="cycleEnded"):
    """The scheduling cycle of `pod` ended; other members as in `view.CycleView`."""

    #: "" in events of older versions: the pod is that of the `cycleStarted` with this `cycle`.
    pod: str = ""
    outcome: str
    node: str
    message: str = ""
    condition_reason: str = ""
    evaluated_nodes: int = 0
    feasible_nodes: int = 0
    num_feasible_nodes_to_find: int = 0
    start_node_index: int = 0
    next_start_node_index: int = 0
    tied_nodes: int = 0
    tied: list[str] = []
    winner: ScoredNodeView | None = None
    runner_up: ScoredNodeView | None = None
    unschedulable_plugins: list[str] = []


#: The members of a CycleEnded that a CycleView has too, by the same names. The `pod` of a CycleView comes from `cycleStarted`.
CYCLE_RESULTS: Final = tuple(
    member for member in CycleEnded.__struct_fields__ if member not in TraceEvent.__struct_fields__ and member != "pod"
)


def cycle_results(source: object) -> dict[str, Any]:
    """The results of a cycle by member name, from a CycleEnded or from the engine's CycleResults, as arguments for a CycleView."""
    return {member: getattr(source, member) for member in CYCLE_RESULTS}


class PodGroupStarted(TraceEvent, frozen=True, kw_only=True, tag="podGroupStarted"):
    """v1.36: all pods of a group that can be scheduled were popped, and the group's scheduling cycle began. `pods` are in the order in
    which they will be tried. The cycles of the pods follow, numbered from `cycle` on.
    """

    group: str
    profile: str = ""
    pods: list[str] = []


class PodGroupStageEnded(TraceEvent, frozen=True, kw_only=True, tag="podGroupStageEnded"):
    """One stage of a pod group's scheduling cycle ended. `facts` are defined in docs/wire.md."""

    group: str
    stage: str
    next_stage: str = ""
    statuses: list[StatusView] = []
    facts: dict[str, Any] = {}


class PodGroupPodTried(TraceEvent, frozen=True, kw_only=True, tag="podGroupPodTried"):
    """The scheduling algorithm ended for one pod of a group (`cycle`); members as in `view.PodGroupPodView`. What it means for the pod
    follows from the results of all pods, and is in the pod's `cycleEnded`.
    """

    group: str
    pod: str
    node: str = ""
    code: str = ""
    message: str = ""
    permit: str = ""
    requires_preemption: bool = False


class PodGroupEnded(TraceEvent, frozen=True, kw_only=True, tag="podGroupEnded"):
    """The scheduling cycle of a pod group ended; members as in `view.PodGroupCycleView`."""

    group: str
    outcome: str
    message: str = ""
    waiting_on_preemption: bool = False


class BindingStarted(TraceEvent, frozen=True, kw_only=True, tag="bindingStarted"):
    """A binding cycle began; `held`: it waits for a `bind` command. `cycle` is the pod's scheduling cycle."""

    pod: str
    node: str
    held: bool = False
    next_stage: str = ""
    #: Permit plugins that have not allowed the pod yet, sorted.
    waiting_for: list[str] = []


class BindingReleased(TraceEvent, frozen=True, kw_only=True, tag="bindingReleased"):
    """A held binding cycle was released and waits at Permit now. `cycle` is the pod's scheduling cycle."""

    pod: str


class PermitAnswered(TraceEvent, frozen=True, kw_only=True, tag="permitAnswered"):
    """A user allowed or rejected a pod that waits at Permit for `plugins`; `waiting_for` are the plugins that have not allowed it yet.
    `cycle` is the pod's scheduling cycle.
    """

    pod: str
    action: Literal["allow", "reject"]
    plugins: list[str] = []
    waiting_for: list[str] = []
    message: str = ""


class BindingStageEnded(TraceEvent, frozen=True, kw_only=True, tag="bindingStageEnded"):
    """One stage of a binding cycle ended; the next is `Confirm` if only the watch event is missing."""

    pod: str
    stage: str
    next_stage: str = ""
    statuses: list[StatusView] = []
    facts: dict[str, Any] = {}


class BindingEnded(TraceEvent, frozen=True, kw_only=True, tag="bindingEnded"):
    """A binding cycle ended: it `failed`, the watch event of its binding arrived (`confirmed`), or is no longer awaited (`lost`)."""

    pod: str
    node: str
    outcome: Literal["confirmed", "failed", "lost"]
    message: str = ""


class PreemptionStarted(TraceEvent, frozen=True, kw_only=True, tag="preemptionStarted"):
    """v1.36: PostFilter began an asynchronous preemption, which evicts victims while cycles go on; members as in `view.PreemptionView`."""

    preemptor: str
    pods: list[str]
    node: str
    victims: list[str]
    plugin: str
    next_stage: str


class PreemptionStageEnded(TraceEvent, frozen=True, kw_only=True, tag="preemptionStageEnded"):
    """One stage of an asynchronous preemption ended, or the eviction of one victim; "" as `next_stage`: the preemption ended.

    `cycle` is the scheduling cycle that began it.
    """

    preemptor: str
    node: str
    stage: str
    next_stage: str = ""
    #: The victim of this stage; "": the stage evicts none.
    victim: str = ""
    evicted: int = 0
    #: The API server's error; the preemptor is activated when the preemption has ended.
    error: str = ""


class ApiCallChanged(TraceEvent, frozen=True, kw_only=True, tag="apiCallChanged"):
    """v1.36 with SchedulerAsyncAPICalls: a pending API call for the pod was added or changed in its place, or is no longer pending.

    `outcome`: it is `pending`, was `made`, or is `unnecessary` since it would change nothing.
    """

    pod: str
    uid: str
    outcome: Literal["pending", "made", "unnecessary"]
    #: The call; None: the pod has no pending call any more.
    call: ApiCallView | None = None
    #: The API server's error, if the call was made.
    error: str = ""


WriteVerb = Literal["create", "update", "patch", "delete"]


class ApiWritten(TraceEvent, frozen=True, kw_only=True, tag="apiWritten"):
    """An object was written at the API server, by the scheduler if `by_scheduler`. `count`: objects of the kind afterwards."""

    verb: WriteVerb
    resource: str
    kind: str
    key: str
    #: For a pod that was created or deleted: distinguishes pods with one name.
    uid: str = ""
    subresource: str = ""
    detail: str = ""
    error: str = ""
    by_scheduler: bool = False
    #: The simulated controller that wrote it.
    helper: str = ""
    count: int = 0


class WatchSent(TraceEvent, frozen=True, kw_only=True, tag="watchSent"):
    """A watch event left the API server and arrives at `due_seconds`. Without latency it is delivered at once, and has no `watchSent`."""

    id: int = 0
    verb: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    due_seconds: float = 0.0


class WatchDelivered(TraceEvent, frozen=True, kw_only=True, tag="watchDelivered"):
    """An event reached the informers, unless it was `lost`: `watch` (dropped), `disconnected`, or `handlers` (it reached only their
    stores). `final_state_unknown`: a list no longer had the object, and its last state was not seen.
    """

    id: int = 0
    verb: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: str
    key: str
    lost: str = ""
    final_state_unknown: bool = False


class WatchChanged(TraceEvent, frozen=True, kw_only=True, tag="watchChanged"):
    """The watch of a kind was disconnected or reconnected, missed an event (`unseen` so far), or will drop its next `drops` events."""

    kind: str
    connected: bool = True
    unseen: int = 0
    drops: int = 0


class HelperSet(TraceEvent, frozen=True, kw_only=True, tag="helperSet"):
    """A simulated controller was enabled or disabled; `seconds` is its delay."""

    name: str
    on: bool = True
    seconds: float = 0.0


class Configured(TraceEvent, frozen=True, kw_only=True, tag="configured"):
    """The scheduler uses another KubeSchedulerConfiguration from now on, as it was given (null: the default one)."""

    config: dict[str, Any] | None = None


class SchedulerExited(TraceEvent, frozen=True, kw_only=True, tag="schedulerExited"):
    """The scheduler ended its process, as upstream does if its cache is corrupted. The API server keeps running, and the scheduler's last
    state is shown until a `restarted`.
    """

    message: str


class LatencySet(TraceEvent, frozen=True, kw_only=True, tag="latencySet"):
    """Watch events of a kind (`*`: every kind) have this latency from now on."""

    kind: str
    seconds: float = 0.0


class EventRecorded(TraceEvent, frozen=True, kw_only=True, tag="eventRecorded"):
    """The scheduler recorded a Kubernetes Event about a pod. Not to be confused with a trace event."""

    type: str = ""
    reason: str = ""
    action: str = ""
    note: str = ""
    pod: str
    related: str = ""
    component: str = ""


class ExtenderAnswered(TraceEvent, frozen=True, kw_only=True, tag="extenderAnswered"):
    """An extender answered a call, or failed (`error`). An answer is an input: the session stores it whole, this event has its digest, and
    a replay does not call the extender. `answer` is its beginning, `size` its length in bytes.
    """

    extender: str
    verb: str
    size: int = 0
    digest: str = ""
    answer: str = ""
    error: str = ""


class ClockAdvanced(TraceEvent, frozen=True, kw_only=True, tag="clockAdvanced"):
    """Virtual time passed and nothing else happened; `at` is the new time."""


class Restarted(TraceEvent, frozen=True, kw_only=True, tag="restarted"):
    """The scheduler restarted: cache, queue, snapshot, nominator and cycles are empty.

    `reason`: why it had exited; `reset`: the session was reset to the state after its import; "": it had not.
    """

    reason: str = ""


class CommandDone(TraceEvent, frozen=True, kw_only=True, tag="commandDone"):
    """The command with this number ended; `result` says why it had no effect, `error` why it was invalid."""

    seq: int = 0
    op: str = ""
    result: str = ""
    error: str = ""


AnyEvent = (
    CachePod
    | CacheCall
    | CacheNode
    | SnapshotUpdated
    | QueueMoved
    | RequeueConsidered
    | PreEnqueueRan
    | InFlightChanged
    | PodNominated
    | CycleStarted
    | StageEnded
    | CycleEnded
    | PodGroupChanged
    | SnapshotPod
    | PodGroupStarted
    | PodGroupStageEnded
    | PodGroupPodTried
    | PodGroupEnded
    | BindingStarted
    | BindingReleased
    | PermitAnswered
    | BindingStageEnded
    | BindingEnded
    | PreemptionStarted
    | PreemptionStageEnded
    | ApiCallChanged
    | ApiWritten
    | WatchSent
    | WatchDelivered
    | WatchChanged
    | HelperSet
    | LatencySet
    | EventRecorded
    | ExtenderAnswered
    | ClockAdvanced
    | Configured
    | SchedulerExited
    | Restarted
    | CommandDone
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(list[AnyEvent])


def encode_events(events: list[AnyEvent]) -> bytes:
    """Events as a JSON array: what a chunk stores and a frame carries."""
    return _encoder.encode(events)


def decode_events(data: bytes) -> list[AnyEvent]:
    """Events from `encode_events`."""
    return _decoder.decode(data)
