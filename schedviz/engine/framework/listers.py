"""What plugins can look up besides the pod and the nodes in their arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from schedviz.engine.framework.pod_groups import PodGroupInfo, PodGroupState
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Index
from schedviz.kube.core import Pod, PodCondition, PodExtendedResourceClaimStatus
from schedviz.kube.devices import ResourceClaim
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim
from schedviz.kube.workloads import PodGroup

StorageObject = TypeVar("StorageObject", PersistentVolume, PersistentVolumeClaim)


class SharedLister(Protocol):
    """A cycle's snapshot, for plugins. Upstream: framework/listers.go SharedLister"""

    @property
    def node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def node_info_map(self) -> Mapping[str, NodeInfo]: ...

    @property
    def have_pods_with_affinity_node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def have_pods_with_required_anti_affinity_node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def unlisted_rows_with_affinity(self) -> Sequence[int]:
        """v1.36: nodes whose pods with affinity were placed by a pod group's cycle alone, and that are not in the list above."""
        ...

    @property
    def unlisted_rows_with_required_anti_affinity(self) -> Sequence[int]:
        """v1.36: the same for required anti-affinity."""
        ...

    @property
    def row_of(self) -> Mapping[str, int]:
        """Node name -> its position in `node_info_list`."""
        ...

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """Whether a pod on any node uses the claim `namespace/name`."""
        ...

    def pod_group(self, group: str) -> PodGroupState:
        """v1.36: the state of a pod group, with the pods that its cycle has placed. Raises LookupError."""
        ...

    def rows(self, index: Index | None = None) -> Rows:
        """All nodes in the order of `node_info_list`, or those at `index`."""
        ...


class ObjectLister(Protocol):
    """The informers' objects. Unlike the snapshot they can change in the middle of a cycle."""

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """The object, or None."""
        ...

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Any]:
        """Objects of a kind sorted by key, of one namespace or of all."""
        ...

    def knows(self, kind: str) -> bool:
        """Whether there is a store for the kind."""
        ...


def find_pod_group(objects: ObjectLister, group: PodGroupInfo) -> PodGroup | None:
    """v1.36: the PodGroup object of a group, or None."""
    pod_group: PodGroup | None = objects.get("PodGroup", group.namespace, group.name)
    return pod_group


class PodNominator(Protocol):
    """The read methods of upstream's interface. Upstream: framework/interface.go PodNominator"""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...

    def nominated_node_names(self) -> Collection[str]:
        """Nodes that have nominated pods; may include others."""
        ...


class Client(Protocol):
    """The API server's write operations, for plugins. Errors are returned; None: the write succeeded."""

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:
        """Write the pod's Binding."""
        ...

    def update(self, obj: StorageObject) -> StorageObject | StatusError:
        """Replace a volume or a claim. Returns the updated object, with its new resource version."""
        ...

    def find_claim(self, key: str) -> ResourceClaim | None:
        """The API server's version of a claim."""
        ...

    def create_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Create a claim under a generated name. When it returns, the informer has it."""
        ...

    def update_claim(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Replace a claim, without its status."""
        ...

    def update_claim_status(self, claim: ResourceClaim) -> ResourceClaim | StatusError:
        """Replace the status of a claim."""
        ...

    def unreserve_claim(self, claim: ResourceClaim, pod: Pod) -> StatusError | None:
        """Remove a pod from the users of a claim."""
        ...

    def delete_claim(self, claim: ResourceClaim) -> StatusError | None:
        """Delete a claim."""
        ...

    def patch_extended_resource_claim_status(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> StatusError | None:
        """Write the claim for the pod's extended resources to its status."""
        ...

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:
        """Clear `status.nominatedNodeName`, if it is set. Upstream: scheduler/util/utils.go ClearNominatedNodeName"""
        ...

    def patch_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Patch one condition of the pod's status, if it differs."""
        ...

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Set one condition of the pod's status."""
        ...

    def delete_pod(self, pod: Pod) -> StatusError | None:
        """Delete a victim of preemption."""
        ...

    def record_event(self, pod: Pod, *, profile: str, type_: str, reason: str, action: str, note: str, related: str = "") -> None:
        """Record a Kubernetes Event about a pod. It never fails."""
        ...
