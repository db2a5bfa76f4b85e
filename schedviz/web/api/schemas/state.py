"""The state of the scheduler at a moment."""

from __future__ import annotations

import msgspec

from schedviz.trace.view import (
    ApiCallView,
    ApiView,
    BindingView,
    CycleView,
    ImageState,
    NodeTree,
    PodGroupCycleView,
    PodGroupMembers,
    PodState,
    PreemptionView,
    Resources,
    View,
)
from schedviz.web.api.schemas.body import Body
from schedviz.web.api.schemas.sessions import Progress, SessionStatus


class NodeItemBody(Body, frozen=True):
    """One item of the cache's linked list."""

    name: str
    generation: int
    has_node: bool
    pods: list[str]
    pod_order: list[str]
    pods_with_affinity: list[str]
    pods_with_required_anti_affinity: list[str]
    requested: Resources
    non_zero_requested: Resources
    allocatable: Resources
    used_ports: dict[str, list[str]]
    image_states: dict[str, ImageState]
    pvc_ref_counts: dict[str, int]
    #: v1.36: what the node's kubelet declares that it can do, sorted.
    declared_features: list[str] | msgspec.UnsetType = msgspec.UNSET


class CacheImageBody(Body, frozen=True):
    """An image in the cache."""

    size: int
    nodes: list[str]


class CacheBody(Body, frozen=True):
    """The scheduler's cache; `list` starts with headNode, `podStates` is by uid."""

    items: list[NodeItemBody] = msgspec.field(name="list")
    assumed_pods: list[str]
    pod_states: dict[str, PodState]
    node_tree: NodeTree
    image_states: dict[str, CacheImageBody]
    #: v1.36 with the gate GenericWorkload: `namespace/name` of a pod group -> its pods. Absent if there is none.
    pod_groups: dict[str, PodGroupMembers] | msgspec.UnsetType = msgspec.UNSET


class SnapshotBody(Body, frozen=True):
    """The scheduler's snapshot."""

    generation: int
    node_info_list: list[str]
    node_generations: dict[str, int]
    have_pods_with_affinity: list[str]
    have_pods_with_required_anti_affinity: list[str]
    used_pvc_set: list[str] = msgspec.field(name="usedPVCSet")
    #: As in `cache`, at the time of the last update and with the pods that the cycle of their group has placed.
    pod_groups: dict[str, PodGroupMembers] | msgspec.UnsetType = msgspec.UNSET


class QueuedPodBody(Body, frozen=True):
    """A pod in the queue. Pods in activeQ have no `backoffExpirySeconds`."""

    pod: str
    priority: int
    attempts: int
    #: When it was created or its last attempt failed. Moves between queues keep it.
    timestamp_seconds: float
    #: v1.27.1: when it was first added. v1.36: when it first entered activeQ; 0: it has not.
    initial_attempt_timestamp_seconds: float
    unschedulable_plugins: list[str]
    gated: bool
    backoff_expiry_seconds: float | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: the plugins that returned Pending in its last attempt: they wait for something, and are not in `unschedulablePlugins`.
    pending_plugins: list[str] | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: the PreEnqueue plugin that gates it; "": none.
    gating_plugin: str | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: how often plugins rejected it.
    unschedulable_count: int | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: how often it failed with an error since a plugin rejected it last.
    consecutive_errors_count: int | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: it had been in unschedulablePods for too long since its last attempt, so a flush tried to move it.
    was_flushed_from_unschedulable: bool | msgspec.UnsetType = msgspec.UNSET


class InFlightEventBody(Body, frozen=True):
    """v1.36: an entry of the list of what happened since the oldest pod in flight was popped: a popped `pod`, or a cluster `event` with
    the objects that it is about.
    """

    pod: str | msgspec.UnsetType = msgspec.UNSET
    event: str | msgspec.UnsetType = msgspec.UNSET
    #: Such as `Node node-1`; null: there is none.
    old: str | msgspec.UnsetType | None = msgspec.UNSET
    new: str | msgspec.UnsetType | None = msgspec.UNSET


class QueueBody(Body, frozen=True):
    """The scheduling queue: activeQ and backoffQ in the order of popping, unschedulable pods by name. Sessions of v1.27.1 have no
    `errorBackoffQ`, `inFlightPods` and `inFlightEvents`.
    """

    active_q: list[QueuedPodBody] = msgspec.field(name="activeQ")
    backoff_q: list[QueuedPodBody] = msgspec.field(name="backoffQ")
    #: unschedulablePods, with the `gated` pods.
    unschedulable: list[QueuedPodBody]
    #: Node -> its nominated pods in the order of nomination, also those in a cycle. `""` is no node: it has
    #: the pods whose preemption found no node, or whose attempt or binding ended with an error.
    nominated: dict[str, list[str]]
    scheduling_cycle: int
    move_request_cycle: int
    #: v1.36: pods in backoff after an error, in the order of popping.
    error_backoff_q: list[QueuedPodBody] | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="errorBackoffQ")
    #: v1.36: pods that were popped and are not scheduled, bound or back in the queue yet; oldest first.
    in_flight_pods: list[str] | msgspec.UnsetType = msgspec.UNSET
    #: v1.36: these pods and the cluster events since the oldest was popped, in order.
    in_flight_events: list[InFlightEventBody] | msgspec.UnsetType = msgspec.UNSET


class StateBody(Body, frozen=True):
    """The state of a session at a moment: `cache`, `snapshot` and `queue` as in a schedviz-trace/1 `observed`, empty while importing.

    `podStates` have all members in every release.
    """

    id: str
    status: SessionStatus
    message: str
    progress: Progress | None
    clock_seconds: float
    #: The number of the last trace event.
    event: int
    #: The number of the last scheduling cycle.
    cycle: int
    #: The number of the last stored chunk.
    chunk: int
    applied_seq: int
    last_seq: int
    cache: CacheBody
    snapshot: SnapshotBody
    queue: QueueBody
    #: The running cycle, or else the last one.
    last_cycle: CycleView | None
    #: v1.36: the cycle of a pod group of which `lastCycle` is a part.
    pod_group: PodGroupCycleView | None
    #: Binding cycles that are running or held, and unconfirmed bindings; oldest first.
    bindings: list[BindingView]
    #: v1.36: asynchronous preemptions that have not ended; oldest first.
    preemptions: list[PreemptionView]
    #: v1.36 with SchedulerAsyncAPICalls: pending API calls, in the order in which they will be made.
    api_calls: list[ApiCallView]
    api: ApiView
    next_start_node_index: int


class ViewBody(Body, frozen=True):
    """The view after `event`, as on the wire. `chunk`: the last stored chunk that it contains completely. Moments from `firstEvent` on can
    be opened.
    """

    event: int
    chunk: int
    first_event: int
    view: View
