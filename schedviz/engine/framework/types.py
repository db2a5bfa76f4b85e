"""The scheduler's data of pods and nodes: PodInfo, NodeInfo, QueuedPodInfo, and the events that move pods.

Times are whole nanoseconds of virtual time since the start of the session (Go's time.Duration), so that sums compare exactly. Views and
trace events use seconds.

Upstream: framework/types.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, IntFlag
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import msgspec

from schedviz.engine.framework.affinity_terms import AffinityTerm, AffinityTerms, WeightedAffinityTerm, affinity_terms
from schedviz.engine.framework.resource import PodRequests, Resource, pod_requests
from schedviz.kube.core import Container, Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.quantity import as_int64

NANOS_PER_SECOND: Final = 1_000_000_000


def nanos_to_seconds(nanos: int) -> float:
    """Nanoseconds as seconds, for views."""
    return nanos / NANOS_PER_SECOND


class Generations:
    """The generation counter that all NodeInfos of one engine share. Upstream: framework/types.go nextGeneration"""

    __slots__ = ("last",)

    def __init__(self, last: int = 0) -> None:
        #: The last generation.
        self.last = last

    def next(self) -> int:
        """A new generation."""
        self.last += 1
        return self.last


class ActionType(IntFlag):
    """The action of an event. Members combine. Upstream: framework/types.go ActionType"""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    # The rest is v1.36's. v1.27.1 has no event with these bits, and matches by overlap.
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096
    ALL = 8191
    UPDATE = ALL & ~(ADD | DELETE)


class GVK:
    """Names of the resources in cluster events. Upstream: framework/types.go GVK"""

    POD: Final = "Pod"
    NODE: Final = "Node"
    PERSISTENT_VOLUME: Final = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM: Final = "PersistentVolumeClaim"
    RESOURCE_CLAIM: Final = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE: Final = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS: Final = "resource.k8s.io/DeviceClass"
    POD_GROUP: Final = "scheduling.k8s.io/PodGroup"
    VOLUME_ATTACHMENT: Final = "storage.k8s.io/VolumeAttachment"
    STORAGE_CLASS: Final = "storage.k8s.io/StorageClass"
    CSI_NODE: Final = "storage.k8s.io/CSINode"
    CSI_DRIVER: Final = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY: Final = "storage.k8s.io/CSIStorageCapacity"
    WILD_CARD: Final = "*"


class ClusterEvent(msgspec.Struct, frozen=True):
    """A change of a kind of resource: plugins register for it, and it moves unschedulable pods.

    Not to be confused with a TraceEvent, which is schedviz's. Upstream: framework/types.go ClusterEvent
    """

    resource: str
    action_type: ActionType
    label: str = ""

    @property
    def is_wild_card(self) -> bool:
        return self.resource == GVK.WILD_CARD and self.action_type == ActionType.ALL


class QueueingHint(Enum):
    """The result of a plugin's hint: whether an event may make a pod schedulable that the plugin rejected. Upstream:
    kube-scheduler/framework/types.go QueueingHint
    """

    #: The event cannot make the pod schedulable.
    QUEUE_SKIP = "QueueSkip"
    #: It may.
    QUEUE = "Queue"


class QueueingHintError(Exception):
    """A QueueingHintFn failed; the event counts as one that may help."""


class ClusterEventWithHint(msgspec.Struct, frozen=True):
    """An event that a plugin registers for, and what decides for each pod and object; None: every such event may help.

    Upstream: kube-scheduler/framework/types.go ClusterEventWithHint
    """

    event: ClusterEvent
    queueing_hint_fn: QueueingHintFn | None = None


#: What a plugin registers for. A plain event is one without a hint; v1.27.1 ignores hints.
RegisteredEvent = ClusterEvent | ClusterEventWithHint


class ImageStateSummary(msgspec.Struct, frozen=True):
    """An image on a node: its size in bytes, and how many nodes had it when this node was last set."""

    size: int
    num_nodes: int


class SharedImages(dict[str, ImageStateSummary]):
    """v1.36: the images of a node in the snapshot. The cache keeps one count for all nodes, and this has the counts at the time of the
    copy.
    """

    def current(self) -> SharedImages:
        """The images with the present counts."""
        return self


Item = TypeVar("Item")


class HostPort(NamedTuple):
    """A host port. An empty IP has become 0.0.0.0, an empty protocol TCP."""

    ip: str
    protocol: str
    port: int


#: The IP that stands for all IPs of a node. Upstream: framework/types.go DefaultBindAllHostIP
DEFAULT_BIND_ALL_HOST_IP: Final = "0.0.0.0"  # noqa: S104 - compared, never bound.


class HostPortInfo:
    """The used host ports of a node, by IP. Upstream: framework/types.go HostPortInfo"""

    __slots__ = ("by_ip",)

    def __init__(self, by_ip: Mapping[str, Iterable[tuple[str, int]]] | None = None) -> None:
        #: IP -> (protocol, port).
        self.by_ip: dict[str, set[tuple[str, int]]] = {ip: set(ports) for ip, ports in (by_ip or {}).items()}

    def __len__(self) -> int:
        return sum(map(len, self.by_ip.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostPortInfo) and self.by_ip == other.by_ip

    __hash__ = None  # type: ignore[assignment]

    def add(self, port: HostPort) -> None:
        """Mark a port as used."""
        self.by_ip.setdefault(port.ip, set()).add((port.protocol, port.port))

    def remove(self, port: HostPort) -> None:
        """Mark a port as free, whatever the number of pods that use it."""
        used_ports = self.by_ip.get(port.ip)
        if used_ports is not None:
            used_ports.discard((port.protocol, port.port))
            if not used_ports:
                del self.by_ip[port.ip]

    def check_conflict(self, port: HostPort) -> bool:
        """Whether the port is in use; 0.0.0.0 is every IP. Upstream: framework/types.go HostPortInfo.CheckConflict"""
        protocol_port = (port.protocol, port.port)
        if port.ip == DEFAULT_BIND_ALL_HOST_IP:
            return any(protocol_port in used_ports for used_ports in self.by_ip.values())
        return protocol_port in self.by_ip.get(DEFAULT_BIND_ALL_HOST_IP, ()) or protocol_port in self.by_ip.get(port.ip, ())

    def clone(self) -> HostPortInfo:
        """A copy."""
        return HostPortInfo(self.by_ip)

    def items(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """IPs and their ports, both sorted."""
        for ip in sorted(self.by_ip):
            yield ip, sorted(self.by_ip[ip])


#: A pod's namespace and labels, and whether it is terminating.
SelectionKey = tuple[str, frozenset[tuple[str, str]], bool]
#: Recent keys, so that pods with equal ones share one object: a lookup by the same object is three times as fast.
_selection_keys: dict[SelectionKey, SelectionKey] = {}
_MAX_SELECTION_KEYS: Final = 4096


class PodInfo:
    """A pod with the data that the scheduler computes from it, once. Immutable, and shared by all holders of the pod.

    Upstream: framework/types.go PodInfo
    """

    __slots__ = (
        "_claims",
        "_host_ports",
        "_requests",
        "_terms",
        "computed_selection_key",
        "has_affinity",
        "has_required_anti_affinity",
        "key",
        "pod",
        "priority",
        "terms_of",
        "uid",
    )

    #: v1.36: removing the pod from its node subtracts what was added for it, not what this version of it requests.
    is_removed_as_added: ClassVar[bool] = False

    def __init__(self, pod: Pod, *, terms_of: Pod | None = None) -> None:
        self.pod = pod
        #: `namespace/name`.
        self.key = pod.key
        self.uid = pod.uid
        #: 0 if the pod has none. Upstream: component-helpers/scheduling/corev1/helpers.go PodPriority
        self.priority = pod.spec.priority or 0
        affinity = pod.spec.affinity
        anti_affinity = affinity.pod_anti_affinity if affinity else None
        self.has_affinity = affinity is not None and (affinity.pod_affinity is not None or anti_affinity is not None)
        self.has_required_anti_affinity = anti_affinity is not None and len(anti_affinity.required) != 0
        #: The version of the pod that the terms come from: upstream keeps them over updates of the same pod.
        self.terms_of = pod if terms_of is None else terms_of
        # Computed when first read: a restored engine has the sums of its nodes, and most pods are never read again.
        self._terms: AffinityTerms | None = None
        self._requests: PodRequests | None = None
        self._host_ports: tuple[HostPort, ...] | None = None
        self._claims: tuple[str, ...] | None = None
        #: The value of `selection_key`; None: not computed yet.
        self.computed_selection_key: SelectionKey | None = None

    @property
    def name(self) -> str:
        """The pod's name."""
        return self.pod.name

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return self.pod.namespace

    @property
    def selection_key(self) -> SelectionKey:
        """What decides whether a selector counts the pod. Pods of one workload have equal keys."""
        if self.computed_selection_key is None:
            metadata = self.pod.metadata
            key = (metadata.namespace, frozenset(metadata.labels.items()), metadata.deletion_timestamp is not None)
            if len(_selection_keys) >= _MAX_SELECTION_KEYS:
                _selection_keys.clear()
            self.computed_selection_key = _selection_keys.setdefault(key, key)
        return self.computed_selection_key

    @property
    def spec_requests(self) -> PodRequests:
        """The requests of a pod that is to be scheduled: its status does not count."""
        return self.requests

    @property
    def container_requests(self) -> PodRequests:
        """The requests of the containers alone, without what is given for the pod as a whole or for a resize."""
        return self.requests

    @property
    def requests(self) -> PodRequests:
        """The pod's requests."""
        if self._requests is None:
            self._requests = pod_requests(self.pod)
        return self._requests

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        """The host ports of the pod's containers (not of init containers)."""
        if self._host_ports is None:
            self._host_ports = host_ports_of(self.pod.spec.containers)
        return self._host_ports

    @property
    def claims(self) -> tuple[str, ...]:
        """The pod's PersistentVolumeClaims, `namespace/name`, once for each volume that uses one."""
        if self._claims is None:
            self._claims = _claims(self.pod)
        return self._claims

    @property
    def full_name(self) -> str:
        """`name_namespace`. Upstream: scheduler/util/utils.go GetPodFullName"""
        return f"{self.pod.name}_{self.pod.namespace}"

    @property
    def terms(self) -> AffinityTerms:
        """All pod affinity terms, and the error in them."""
        if self._terms is None:
            self._terms = affinity_terms(self.terms_of)
        return self._terms

    @property
    def required_affinity_terms(self) -> tuple[AffinityTerm, ...]:
        """Required affinity."""
        return self.terms.required_affinity

    @property
    def required_anti_affinity_terms(self) -> tuple[AffinityTerm, ...]:
        """Required anti-affinity."""
        return self.terms.required_anti_affinity

    @property
    def preferred_affinity_terms(self) -> tuple[WeightedAffinityTerm, ...]:
        """Preferred affinity."""
        return self.terms.preferred_affinity

    @property
    def preferred_anti_affinity_terms(self) -> tuple[WeightedAffinityTerm, ...]:
        """Preferred anti-affinity."""
        return self.terms.preferred_anti_affinity

    def updated(self, new: PodInfo) -> PodInfo:
        """The PodInfo of a newer version. The same pod keeps its affinity terms. Upstream: framework/types.go PodInfo.Update"""
        if new.uid != self.uid or new.pod.spec.affinity == self.terms_of.spec.affinity:
            return new
        return self._of(new.pod, terms_of=self.terms_of)

    def fresh(self) -> PodInfo:
        """The PodInfo with affinity terms of this version, as upstream's plugins create it."""
        return self if self.terms_of is self.pod else self._of(self.pod)

    def assigned(self, node_name: str) -> PodInfo:
        """The PodInfo with `spec.nodeName` set, as it is assumed on a node."""
        return self.info_of(msgspec.structs.replace(self.pod, spec=msgspec.structs.replace(self.pod.spec, node_name=node_name)))

    def info_of(self, pod: Pod) -> PodInfo:
        """The PodInfo of another version of this pod, or of another pod, of the same release.

        A version of the same pod shares computed data if the inputs are equal.
        """
        if not (pod.uid == self.uid and self.terms_of is self.pod and self._computes_the_same(pod)):
            return self._of(pod)
        other = type(self).__new__(type(self))
        other.pod = other.terms_of = pod
        other.priority = pod.spec.priority or 0
        other.key, other.uid = self.key, self.uid
        other.has_affinity, other.has_required_anti_affinity = self.has_affinity, self.has_required_anti_affinity
        other._terms, other._requests = self._terms, self._requests  # noqa: SLF001 - its own class
        other._host_ports, other._claims = self._host_ports, self._claims  # noqa: SLF001
        other.computed_selection_key = self.computed_selection_key if pod.metadata is self.pod.metadata else None
        return other

    def _computes_the_same(self, pod: Pod) -> bool:
        """Whether everything that is computed from the pod is equal for another version of it."""
        own, others = self.pod.spec, pod.spec
        return (
            own.containers == others.containers
            and own.init_containers == others.init_containers
            and own.overhead == others.overhead
            and own.volumes == others.volumes
            and own.affinity == others.affinity
        )

    def _of(self, pod: Pod, *, terms_of: Pod | None = None) -> PodInfo:
        """The PodInfo of another pod, of the same release."""
        return type(self)(pod, terms_of=terms_of)

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"


def host_ports_of(containers: Iterable[Container]) -> tuple[HostPort, ...]:
    """The host ports of containers, with their defaults filled in."""
    return _shared(
        tuple(
            HostPort(port.host_ip or DEFAULT_BIND_ALL_HOST_IP, port.protocol or "TCP", port.host_port)
            for container in containers
            for port in container.ports
            if port.host_port > 0
        )
    )


def _claims(pod: Pod) -> tuple[str, ...]:
    sources = [volume.persistent_volume_claim for volume in pod.spec.volumes]
    return _shared(tuple(f"{pod.namespace}/{source.claim_name}" for source in sources if source is not None))


#: Long tuples that pods of one workload share: each is its own key.
_shared_tuples: Final[dict[tuple[Any, ...], tuple[Any, ...]]] = {}
_MAX_SHARED_TUPLES: Final = 100
#: The length from which on a tuple is shared.
_MIN_SHARED: Final = 16


def _shared(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """An equal tuple: the first one seen, as long as it is remembered. Thousands of pods may have equal ports and claims."""
    if len(items) < _MIN_SHARED:
        return items
    if len(_shared_tuples) >= _MAX_SHARED_TUPLES:
        _shared_tuples.clear()
    return _shared_tuples.setdefault(items, items)


#: Takes the pod that the plugin rejected, and the object before and after the event (None: there was none, or there is none any more).
#: Raises `QueueingHintError`.
QueueingHintFn = Callable[[PodInfo, KubeObject | None, KubeObject | None], QueueingHint]


class PodNotFoundError(LookupError):
    """The pod to remove is not on the node."""


class NodeInfo:
    """A node with its pods and their sums. Upstream: framework/types.go NodeInfo"""

    __slots__ = (
        "allocatable",
        "generation",
        "generations",
        "image_states",
        "name",
        "node",
        "non_zero_requested",
        "pods",
        "pods_with_affinity",
        "pods_with_required_anti_affinity",
        "pvc_ref_counts",
        "requested",
        "used_ports",
    )

    def __init__(self, name: str, generations: Generations) -> None:
        #: The node's name, also if the Node itself is unknown.
        self.name = name
        #: The Node; None for a ghost: the node was deleted, or was never seen, and has pods.
        self.node: Node | None = None
        #: Pods in the order in which they were added, except that the last one replaces one that is removed.
        self.pods: list[PodInfo] = []
        #: Pods with any pod (anti-)affinity.
        self.pods_with_affinity: list[PodInfo] = []
        #: Pods with required pod anti-affinity.
        self.pods_with_required_anti_affinity: list[PodInfo] = []
        self.used_ports = HostPortInfo()
        self.requested = Resource()
        #: Only milli-cpus and memory; a container without requests counts as the default.
        self.non_zero_requested = Resource()
        self.allocatable = Resource()
        #: The images on the node. Replaced, never changed.
        self.image_states: Mapping[str, ImageStateSummary] = {}
        #: `namespace/claim` -> number of volumes of pods that use it.
        self.pvc_ref_counts: dict[str, int] = {}
        #: Increased by every change.
        self.generation = generations.next()
        self.generations = generations

    def clone(self) -> NodeInfo:
        """A copy with the same generation and the same counter. Upstream: framework/types.go NodeInfo.Clone"""
        copy = NodeInfo.__new__(NodeInfo)
        copy.assign(self)
        return copy

    def assign(self, other: NodeInfo) -> None:
        """Become a copy of another NodeInfo, in place, so that all holders of this object see it."""
        self.name = other.name
        self.node = other.node
        self.pods = other.pods.copy()
        self.pods_with_affinity = other.pods_with_affinity.copy()
        self.pods_with_required_anti_affinity = other.pods_with_required_anti_affinity.copy()
        self.used_ports = other.used_ports.clone()
        self.requested = other.requested.clone()
        self.non_zero_requested = other.non_zero_requested.clone()
        self.allocatable = other.allocatable.clone()
        images = other.image_states
        self.image_states = images.current() if isinstance(images, SharedImages) else images
        self.pvc_ref_counts = other.pvc_ref_counts.copy()
        self.generation = other.generation
        self.generations = other.generations

    def add_pod(self, pod: PodInfo) -> None:
        """Add a pod. Upstream: framework/types.go NodeInfo.AddPodInfo"""
        self.pods.append(pod)
        if pod.has_affinity:
            self.pods_with_affinity.append(pod)
        if pod.has_required_anti_affinity:
            self.pods_with_required_anti_affinity.append(pod)
        self._update(pod, 1)

    def remove_pod(self, pod: PodInfo) -> None:
        """Remove a pod, found by uid; the requests of this version are subtracted (v1.36: of the version that was added).

        Raises PodNotFoundError. Upstream: framework/types.go NodeInfo.RemovePod
        """
        if pod.has_affinity:
            _swap_remove(self.pods_with_affinity, pod.uid)
        if pod.has_required_anti_affinity:
            _swap_remove(self.pods_with_required_anti_affinity, pod.uid)
        stored = _swap_remove(self.pods, pod.uid)
        if stored is None:
            raise PodNotFoundError(f"no corresponding pod {pod.name} in pods of node {self.name}")
        self._update(stored if pod.is_removed_as_added else pod, -1)

    def set_node(self, node: Node) -> None:
        """Set the Node. Upstream: framework/types.go NodeInfo.SetNode"""
        self.node = node
        self.allocatable = Resource.of(node.status.allocatable)
        self.generation = self.generations.next()

    def remove_node(self) -> None:
        """Remove the Node and keep the rest. Upstream: framework/types.go NodeInfo.RemoveNode"""
        self.node = None
        self.generation = self.generations.next()

    def _update(self, pod: PodInfo, sign: int) -> None:
        requests = pod.requests
        self.requested.add(requests.resource, sign)
        non_zero = self.non_zero_requested
        non_zero.milli_cpu = as_int64(non_zero.milli_cpu + sign * requests.non_zero_milli_cpu)
        non_zero.memory = as_int64(non_zero.memory + sign * requests.non_zero_memory)
        for port in pod.host_ports:
            if sign > 0:
                self.used_ports.add(port)
            else:
                self.used_ports.remove(port)
        for claim in pod.claims:
            count = self.pvc_ref_counts.get(claim, 0) + sign
            if count > 0 or sign > 0:
                self.pvc_ref_counts[claim] = count
            else:
                self.pvc_ref_counts.pop(claim, None)
        self.generation = self.generations.next()

    def __repr__(self) -> str:
        return f"NodeInfo({self.name}, generation={self.generation}, pods={self.pods})"


def _swap_remove(pods: list[PodInfo], uid: str) -> PodInfo | None:
    """Remove a pod from a list and move the last one to its position. Returns it; None: it is not there.

    Upstream: framework/types.go removeFromSlice
    """
    for index, pod in enumerate(pods):
        if pod.uid == uid:
            last = pods.pop()
            if index < len(pods):
                pods[index] = last
            return pod
    return None


class QueuedPodInfo:
    """A pod in the scheduling queue, or just popped from it. Upstream: framework/types.go QueuedPodInfo"""

    __slots__ = (
        "attempts",
        "backoff_expiration",
        "consecutive_errors_count",
        "gated",
        "gating_plugin",
        "initial_attempt_timestamp",
        "pending_plugins",
        "pod_info",
        "signature",
        "timestamp",
        "unschedulable_count",
        "unschedulable_plugins",
        "was_flushed_from_unschedulable",
    )

    def __init__(self, pod_info: PodInfo, *, timestamp: int) -> None:
        self.pod_info = pod_info
        #: When it was created or its last attempt failed, in nanoseconds of the session's virtual clock. Moves between queues keep it.
        self.timestamp = timestamp
        #: v1.27.1: when it was first added. v1.36: when it first entered activeQ; None: it has not.
        self.initial_attempt_timestamp: int | None = timestamp
        #: How often this scheduler process has popped it.
        self.attempts = 0
        #: The plugins that rejected it in its last attempt.
        self.unschedulable_plugins: set[str] = set()
        #: A PreEnqueue plugin gates it.
        self.gated = False
        # The rest is v1.36's.
        #: The plugins that returned Pending in its last attempt.
        self.pending_plugins: set[str] = set()
        #: The PreEnqueue plugin that gates it; "": none.
        self.gating_plugin = ""
        #: How often plugins rejected it.
        self.unschedulable_count = 0
        #: How often it failed with an error since a plugin rejected it last.
        self.consecutive_errors_count = 0
        #: It had been in unschedulablePods for too long since its last attempt, so a flush tried to move it. It may still be there, if it
        #: is gated.
        self.was_flushed_from_unschedulable = False
        #: When its backoff ends, once that was computed.
        self.backoff_expiration: int | None = None
        #: Equal for pods that the plugins cannot tell apart; None: it has no signature, or batching is off.
        self.signature: bytes | None = None

    @property
    def rejector_plugins(self) -> set[str]:
        """The plugins that rejected it, or returned Pending."""
        return self.unschedulable_plugins | self.pending_plugins

    def clear_rejector_plugins(self) -> None:
        """Upstream: framework/types.go QueuedPodInfo.ClearRejectorPlugins"""
        self.unschedulable_plugins = set()
        self.pending_plugins = set()
        self.gating_plugin = ""
        self.gated = False

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.pod_info.pod

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.pod_info.key

    @property
    def uid(self) -> str:
        """The pod's UID, which is the key of the nominator and of the pods in flight."""
        return self.pod_info.uid

    def __repr__(self) -> str:
        return f"QueuedPodInfo({self.key}, attempts={self.attempts})"
