"""The table of supported kinds: group and version, plural resource name, scope, and whether the scheduler watches them.

Kinds that only v1.36 reads are stored for every release, so that a session can be forked to the other one.
"""

from __future__ import annotations

from typing import cast

import msgspec

from schedviz.kube.apps import Deployment, ReplicaSet, StatefulSet
from schedviz.kube.core import Namespace, Node, Pod, ReplicationController, Service
from schedviz.kube.devices import DeviceClass, DeviceTaintRule, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from schedviz.kube.meta import KubeObject
from schedviz.kube.policy import PodDisruptionBudget, PriorityClass
from schedviz.kube.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from schedviz.kube.workloads import PodGroup, Workload


class Kind(msgspec.Struct, frozen=True):
    """One kind. `resource` is the plural used in URLs and in watch events (`pods`)."""

    name: str
    api_version: str
    resource: str
    namespaced: bool
    type: type[KubeObject]
    #: Whether the scheduler watches the kind. Others are read only by the simulated controllers.
    watched: bool = True
    #: Whether v1.27.1's scheduler ignores the kind.
    is_ignored_by_v1_27: bool = False
    #: The feature gate without which v1.36's scheduler does not watch the kind; "": none.
    gate: str = ""
    #: Other versions in which v1.36 serves the kind with the same fields.
    other_versions: tuple[str, ...] = ()


def _kind(
    type_: type[KubeObject],
    api_version: str,
    resource: str,
    *,
    namespaced: bool,
    watched: bool = True,
    is_ignored_by_v1_27: bool = False,
    gate: str = "",
    other_versions: tuple[str, ...] = (),
) -> Kind:
    return Kind(type_.__name__, api_version, resource, namespaced, type_, watched, is_ignored_by_v1_27, gate, other_versions)


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
    _kind(VolumeAttachment, "storage.k8s.io/v1", "volumeattachments", namespaced=False, is_ignored_by_v1_27=True),
    _kind(DeviceClass, "resource.k8s.io/v1", "deviceclasses", namespaced=False, is_ignored_by_v1_27=True),
    _kind(
        DeviceTaintRule,
        "resource.k8s.io/v1beta2",
        "devicetaintrules",
        namespaced=False,
        is_ignored_by_v1_27=True,
        gate="DRADeviceTaintRules",
        other_versions=("resource.k8s.io/v1alpha3",),
    ),
    _kind(ResourceSlice, "resource.k8s.io/v1", "resourceslices", namespaced=False, is_ignored_by_v1_27=True),
    _kind(ResourceClaimTemplate, "resource.k8s.io/v1", "resourceclaimtemplates", namespaced=True, watched=False, is_ignored_by_v1_27=True),
    _kind(ResourceClaim, "resource.k8s.io/v1", "resourceclaims", namespaced=True, is_ignored_by_v1_27=True),
    _kind(Workload, "scheduling.k8s.io/v1alpha2", "workloads", namespaced=True, watched=False, is_ignored_by_v1_27=True),
    _kind(PodGroup, "scheduling.k8s.io/v1alpha2", "podgroups", namespaced=True, is_ignored_by_v1_27=True),
    _kind(Service, "v1", "services", namespaced=True),
    _kind(ReplicationController, "v1", "replicationcontrollers", namespaced=True),
    _kind(Deployment, "apps/v1", "deployments", namespaced=True, watched=False),
    _kind(ReplicaSet, "apps/v1", "replicasets", namespaced=True),
    _kind(StatefulSet, "apps/v1", "statefulsets", namespaced=True),
    _kind(PodDisruptionBudget, "policy/v1", "poddisruptionbudgets", namespaced=True),
    _kind(Pod, "v1", "pods", namespaced=True),
)

#: The kinds that v1.27.1's scheduler watches.
WATCHED_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.watched and not kind.is_ignored_by_v1_27)
#: The kinds that v1.36's scheduler watches if their gates are on.
WATCHED_KINDS_V1_36: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.watched)
#: Every kind by name. Names are unique across groups.
BY_NAME: dict[str, Kind] = {kind.name: kind for kind in KINDS}
#: Every kind by its struct.
BY_TYPE: dict[type[KubeObject], Kind] = {kind.type: kind for kind in KINDS}

#: Any of the kinds, for typed decoding: the `kind` member selects one.
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
    | VolumeAttachment
    | DeviceClass
    | DeviceTaintRule
    | ResourceSlice
    | ResourceClaimTemplate
    | ResourceClaim
    | Workload
    | PodGroup
    | Service
    | ReplicationController
    | Deployment
    | ReplicaSet
    | StatefulSet
    | PodDisruptionBudget
    | Pod
)


def any_object(obj: KubeObject) -> AnyObject:
    """The object as one of the kinds: there are no others."""
    return cast("AnyObject", obj)


def kind_of(obj: KubeObject) -> Kind:
    """The table's entry for an object."""
    return BY_TYPE[type(obj)]
