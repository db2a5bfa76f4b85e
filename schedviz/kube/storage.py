# ruff: noqa: RUF012  (msgspec copies the empty defaults)
"""Volumes, claims and the storage kinds (`v1`, `storage.k8s.io/v1`)."""

from __future__ import annotations

import msgspec

from schedviz.kube.affinity import NodeSelector
from schedviz.kube.core import ResourceList
from schedviz.kube.meta import Int32, KubeObject, LabelSelector, ObjectPart
from schedviz.kube.quantity import Quantity
from schedviz.kube.volumes import (
    ISCSI,
    RBD,
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    Cinder,
    CSISource,
    GCEPersistentDisk,
    PortworxVolume,
    VsphereVolume,
)


class ObjectReference(ObjectPart, frozen=True, gc=False):
    """A reference to an object, as from a PersistentVolume to its claim."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(ObjectPart, frozen=True, gc=False):
    """The nodes from which a volume is accessible."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a volume, and the claim to which it is bound."""

    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    rbd: RBD | None = None
    iscsi: ISCSI | None = None
    csi: CSISource | None = None


class PersistentVolumeStatus(ObjectPart, frozen=True, gc=False):
    """Pending, Available, Bound, Released or Failed."""

    phase: str = ""


class PersistentVolume(KubeObject, frozen=True, kw_only=True, gc=False, tag="PersistentVolume"):
    """A persistent volume."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class VolumeResources(ObjectPart, frozen=True, gc=False):
    """The requested storage of a claim."""

    requests: ResourceList = {}


class TypedLocalObjectReference(ObjectPart, frozen=True, gc=False):
    """A data source for a claim's volume."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class PersistentVolumeClaimSpec(ObjectPart, frozen=True, gc=False):
    """The specification of a claim. `storage_class_name` None means the default class, "" means none."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    data_source: TypedLocalObjectReference | None = None


class PersistentVolumeClaimStatus(ObjectPart, frozen=True, gc=False):
    """Pending, Bound or Lost."""

    phase: str = ""


class PersistentVolumeClaim(KubeObject, frozen=True, kw_only=True, gc=False, tag="PersistentVolumeClaim"):
    """A claim on a persistent volume."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(ObjectPart, frozen=True, gc=False):
    """A label with its allowed values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(ObjectPart, frozen=True, gc=False):
    """Labels that must all match."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubeObject, frozen=True, kw_only=True, gc=False, tag="StorageClass"):
    """A storage class."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeAttachmentSource(ObjectPart, frozen=True, gc=False):
    """The volume."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(ObjectPart, frozen=True, gc=False):
    """The volume, the node to which it is attached, and the driver."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachment(KubeObject, frozen=True, kw_only=True, gc=False, tag="VolumeAttachment"):
    """A volume that is to be attached to a node."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()


class VolumeNodeResources(ObjectPart, frozen=True, gc=False):
    """How many volumes of a driver a node supports; None means no limit."""

    count: Int32 | None = None


class CSINodeDriver(ObjectPart, frozen=True, gc=False, rename={"node_id": "nodeID", "topology_keys": "topologyKeys"}):
    """A CSI driver on a node."""

    name: str = ""
    node_id: str = ""
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(ObjectPart, frozen=True, gc=False):
    """The drivers of a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubeObject, frozen=True, kw_only=True, gc=False, tag="CSINode"):
    """The CSI drivers that a node reports."""

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(ObjectPart, frozen=True, gc=False):
    """Whether the driver publishes its capacity, and whether nodes without the driver are excluded."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubeObject, frozen=True, kw_only=True, gc=False, tag="CSIDriver"):
    """A CSI driver."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubeObject, frozen=True, kw_only=True, gc=False, tag="CSIStorageCapacity"):
    """The capacity that a driver can still provision in one topology segment."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None
