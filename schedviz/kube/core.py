# ruff: noqa: RUF012  (msgspec copies the empty defaults)
"""Pods, nodes, namespaces, services and replication controllers (`v1`)."""

from __future__ import annotations

from typing import Final

from schedviz.kube.affinity import Affinity, Toleration, TopologySpreadConstraint
from schedviz.kube.meta import Int32, Int64, KubeObject, ObjectPart
from schedviz.kube.quantity import Quantity
from schedviz.kube.volumes import Volume

#: Amounts by resource name (`cpu`, `memory`, `pods`, `ephemeral-storage`, `nvidia.com/gpu`, ...).
ResourceList = dict[str, Quantity]


class ContainerPort(
    ObjectPart, frozen=True, gc=False, rename={"host_port": "hostPort", "container_port": "containerPort", "host_ip": "hostIP"}
):
    """A port of a container; only one with a host port matters to the scheduler."""

    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = ""


class ContainerResourceClaim(ObjectPart, frozen=True, gc=False):
    """A pod's claim that a container uses; `request` names one of its requests."""

    name: str = ""
    request: str = ""


class ResourceRequirements(ObjectPart, frozen=True, gc=False):
    """A container's requests and limits."""

    limits: ResourceList = {}
    requests: ResourceList = {}
    claims: tuple[ContainerResourceClaim, ...] = ()


class ContainerRestartRule(ObjectPart, frozen=True, gc=False):
    """What happens when a container exits."""

    action: str = ""


class Container(ObjectPart, frozen=True, gc=False):
    """A container: image, ports and resources."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    #: "Always" makes an init container a sidecar.
    restart_policy: str = ""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()


class PodSchedulingGate(ObjectPart, frozen=True, gc=False):
    """A reason, set by the pod's author, not to schedule the pod yet."""

    name: str = ""


class PodResourceClaim(ObjectPart, frozen=True, gc=False):
    """A ResourceClaim that a pod needs: an existing one, or one created from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(ObjectPart, frozen=True, gc=False):
    """The PodGroup that a pod belongs to."""

    pod_group_name: str | None = None


class PodSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a pod. `node_name` is "" until it is bound."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: ResourceList = {}
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    host_network: bool = False
    termination_grace_period_seconds: Int64 | None = None
    # Read only by v1.36.
    host_users: bool | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    #: Requests and limits of the whole pod.
    resources: ResourceRequirements | None = None
    scheduling_group: PodSchedulingGroup | None = None

    @property
    def all_containers(self) -> tuple[Container, ...]:
        """The containers, then the init containers."""
        return *self.containers, *self.init_containers


class PodCondition(ObjectPart, frozen=True, gc=False):
    """A condition of a pod, such as PodScheduled or DisruptionTarget."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(ObjectPart, frozen=True, gc=False):
    """The resources of a container as reported by the kubelet. An in-place resize changes them."""

    name: str = ""
    allocated_resources: ResourceList = {}
    resources: ResourceRequirements | None = None


class PodResourceClaimStatus(ObjectPart, frozen=True, gc=False):
    """The ResourceClaim that was made for one of a pod's templates."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(ObjectPart, frozen=True, gc=False):
    """Which request of the special claim serves a container's extended resource."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(ObjectPart, frozen=True, gc=False):
    """The special ResourceClaim that serves a pod's extended resources."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


#: The phases of pods whose containers have all ended. Such a pod no longer occupies its node.
_FINISHED_PHASES: Final = frozenset({"Succeeded", "Failed"})


class PodStatus(ObjectPart, frozen=True, gc=False):
    """The status of a pod."""

    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    # Read only by v1.36.
    allocated_resources: ResourceList = {}
    resources: ResourceRequirements | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None


class Pod(KubeObject, frozen=True, kw_only=True, gc=False, tag="Pod"):
    """A pod.

    `unread` is a digest of the unread fields of the spec. `unread_status` has two digests: of the unread fields of the metadata, most of
    which upstream's isPodUpdated ignores (generation, finalizers, managedFields), and of those of the status.
    """

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
    unread_status: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether the pod has succeeded or failed; the scheduler's informer does not see it. Upstream: api/v1/pod/util.go IsPodTerminal"""
        return self.status.phase in _FINISHED_PHASES

    @property
    def is_of_daemon_set(self) -> bool:
        """Whether a DaemonSet owns the pod, so that it exists once for each node."""
        return any(owner.kind == "DaemonSet" for owner in self.metadata.owner_references)


class Taint(ObjectPart, frozen=True, gc=False):
    """A taint: NoSchedule, PreferNoSchedule or NoExecute."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None

    def to_string(self) -> str:
        """`key=value:effect`, without the parts that are empty. Upstream: api/core/v1/taint.go ToString"""
        key = f"{self.key}={self.value}" if self.value else self.key
        return f"{key}:{self.effect}" if self.effect else f"{key}:" if self.value else key


class NodeSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a node."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(ObjectPart, frozen=True, gc=False):
    """A condition of a node, such as Ready."""

    type: str = ""
    status: str = ""


class ContainerImage(ObjectPart, frozen=True, gc=False):
    """An image on a node."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeStatus(ObjectPart, frozen=True, gc=False):
    """The status of a node."""

    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    #: v1.36.
    declared_features: tuple[str, ...] = ()


class Node(KubeObject, frozen=True, kw_only=True, gc=False, tag="Node"):
    """A node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(KubeObject, frozen=True, kw_only=True, gc=False, tag="Namespace"):
    """A namespace; its labels are read by namespace selectors."""


class ServiceSpec(ObjectPart, frozen=True, gc=False):
    """The pods that a service selects."""

    selector: dict[str, str] = {}


class Service(KubeObject, frozen=True, kw_only=True, gc=False, tag="Service"):
    """A service."""

    spec: ServiceSpec = ServiceSpec()


class PodTemplateMeta(ObjectPart, frozen=True, gc=False):
    """The metadata that a controller gives its pods."""

    labels: dict[str, str] = {}


class PodTemplate(ObjectPart, frozen=True, gc=False):
    """The template for a controller's pods."""

    metadata: PodTemplateMeta = PodTemplateMeta()
    spec: PodSpec = PodSpec()


class ReplicationControllerSpec(ObjectPart, frozen=True, gc=False):
    """The pods of a replication controller. `selector` defaults to the labels of the template."""

    replicas: Int32 | None = None
    selector: dict[str, str] = {}
    template: PodTemplate | None = None


class ReplicationController(KubeObject, frozen=True, kw_only=True, gc=False, tag="ReplicationController"):
    """A replication controller."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
