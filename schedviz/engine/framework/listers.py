"""What plugins can look up beyond the pod and the nodes that they are asked about."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import StatusError
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Index
from schedviz.kube.core import Pod, PodCondition
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim

StorageObject = TypeVar("StorageObject", PersistentVolume, PersistentVolumeClaim)


class SharedLister(Protocol):
    """The snapshot of a cycle, as plugins see it. Upstream: framework/listers.go SharedLister"""

    @property
    def node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def node_info_map(self) -> Mapping[str, NodeInfo]: ...

    @property
    def have_pods_with_affinity_node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def have_pods_with_required_anti_affinity_node_info_list(self) -> Sequence[NodeInfo]: ...

    @property
    def row_of(self) -> Mapping[str, int]:
        """Node name -> its place in `node_info_list`."""
        ...

    def is_pvc_used_by_pods(self, key: str) -> bool:
        """Whether a pod on any node uses the claim `namespace/name`."""
        ...

    def rows(self, index: Index | None = None) -> Rows:
        """All nodes in the order of `node_info_list`, or those at `index`."""
        ...


class ObjectLister(Protocol):
    """Objects as the informers have them now: unlike the snapshot they change in the middle of a cycle."""

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        """The object, or None."""
        ...

    def list(self, kind: str, namespace: str | None = None) -> Sequence[Any]:
        """Objects of a kind sorted by key, of one namespace or of all."""
        ...


class PodNominator(Protocol):
    """Upstream: framework/interface.go PodNominator, the half that plugins read"""

    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...

    def nominated_node_names(self) -> Collection[str]:
        """Nodes that have nominated pods, and perhaps others."""
        ...


class Client(Protocol):
    """The API server, as plugins write to it. An error comes back as a value; None means that it was written."""

    def bind(self, pod: PodInfo, node_name: str) -> StatusError | None:
        """Write the pod's Binding."""
        ...

    def update(self, obj: StorageObject) -> StorageObject | StatusError:
        """Replace a volume or a claim; what it has become, with its new resource version."""
        ...

    def clear_nominated_node_name(self, pod: Pod) -> StatusError | None:
        """Empty `status.nominatedNodeName` where it is set. Upstream: scheduler/util/utils.go ClearNominatedNodeName"""
        ...

    def apply_condition(self, pod: Pod, condition: PodCondition) -> StatusError | None:
        """Set one condition of the pod's status."""
        ...

    def delete_pod(self, pod: Pod) -> StatusError | None:
        """Delete a pod that has to make room."""
        ...

    def record_event(self, pod: Pod, *, profile: str, type_: str, reason: str, action: str, note: str, related: str = "") -> None:
        """Record a Kubernetes Event about a pod. It never fails."""
        ...
