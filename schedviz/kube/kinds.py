"""The kinds that are read, in one table: group and version, plural resource name, namespaced or not, watched by the scheduler or not."""

from __future__ import annotations

import msgspec

from schedviz.kube.apps import Deployment, ReplicaSet, StatefulSet
from schedviz.kube.core import Namespace, Node, Pod, ReplicationController, Service
from schedviz.kube.meta import KubeObject
from schedviz.kube.policy import PodDisruptionBudget, PriorityClass
from schedviz.kube.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)


class Kind(msgspec.Struct, frozen=True):
    """One kind. `resource` is the plural used in URLs and in watch events (`pods`)."""

    name: str
    api_version: str
    resource: str
    namespaced: bool
    type: type[KubeObject]
    #: Whether the scheduler watches it. What it does not watch is for the helpers of the simulated cluster.
    watched: bool = True


def _kind(type_: type[KubeObject], api_version: str, resource: str, *, namespaced: bool, watched: bool = True) -> Kind:
    return Kind(name=type_.__name__, api_version=api_version, resource=resource, namespaced=namespaced, type=type_, watched=watched)


KINDS: tuple[Kind, ...] = (
    _kind(Namespace, "v1", "namespaces", namespaced=False),
    _kind(PriorityClass, "scheduling.k8s.io/v1", "priorityclasses", namespaced=False),
    _kind(Node, "v1", "nodes", namespaced=False),
    _kind(CSINode, "storage.k8s.io/v1", "csinodes", namespaced=False),
    _kind(CSIDriver, "storage.k8s.io/v1", "csidrivers", namespaced=False),
    _kind(CSIStorageCapacity, "storage.k8s.io/v1", "csistoragecapacities", namespaced=True),
    _kind(StorageClass, "storage.k8s.io/v1", "storageclasses", namespaced=False),
    _kind(PersistentVolume, "v1", "persistentvolumes", namespaced=False),
    _kind(PersistentVolumeClaim, "v1", "persistentvolumeclaims", namespaced=True),
    _kind(Service, "v1", "services", namespaced=True),
    _kind(ReplicationController, "v1", "replicationcontrollers", namespaced=True),
    _kind(Deployment, "apps/v1", "deployments", namespaced=True, watched=False),
    _kind(ReplicaSet, "apps/v1", "replicasets", namespaced=True),
    _kind(StatefulSet, "apps/v1", "statefulsets", namespaced=True),
    _kind(PodDisruptionBudget, "policy/v1", "poddisruptionbudgets", namespaced=True),
    _kind(Pod, "v1", "pods", namespaced=True),
)

#: The kinds that the scheduler watches.
WATCHED_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.watched)
#: Every kind by its name. One group alone has each name, so the name is enough.
BY_NAME: dict[str, Kind] = {kind.name: kind for kind in KINDS}
#: Every kind by its struct.
BY_TYPE: dict[type[KubeObject], Kind] = {kind.type: kind for kind in KINDS}

#: Any of the kinds, for typed decoding: the `kind` member says which.
AnyObject = (
    Namespace
    | PriorityClass
    | Node
    | CSINode
    | CSIDriver
    | CSIStorageCapacity
    | StorageClass
    | PersistentVolume
    | PersistentVolumeClaim
    | Service
    | ReplicationController
    | Deployment
    | ReplicaSet
    | StatefulSet
    | PodDisruptionBudget
    | Pod
)


def kind_of(obj: KubeObject) -> Kind:
    """The table's entry for an object."""
    return BY_TYPE[type(obj)]


def resource_of(obj: KubeObject) -> str:
    """The plural resource name of an object: `pods`."""
    return BY_TYPE[type(obj)].resource
