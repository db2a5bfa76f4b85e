"""Volume sources of pods and PersistentVolumes that the scheduler's volume plugins read.

Upstream's types for pods and PersistentVolumes differ in fields that no plugin reads; here they share one struct.
"""

from __future__ import annotations

from schedviz.kube.meta import Int32, ObjectPart


class GCEPersistentDisk(ObjectPart, frozen=True, gc=False):
    """A Google persistent disk."""

    pd_name: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStore(ObjectPart, frozen=True, gc=False, rename={"volume_id": "volumeID", "read_only": "readOnly"}):
    """An Amazon block store."""

    volume_id: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AzureDisk(ObjectPart, frozen=True, gc=False, rename={"disk_name": "diskName", "disk_uri": "diskURI", "read_only": "readOnly"}):
    """An Azure data disk."""

    disk_name: str = ""
    disk_uri: str = ""
    kind: str = ""
    read_only: bool = False


class AzureFile(ObjectPart, frozen=True, gc=False):
    """An Azure file share."""

    secret_name: str = ""
    secret_namespace: str = ""
    share_name: str = ""
    read_only: bool = False


class Cinder(ObjectPart, frozen=True, gc=False, rename={"volume_id": "volumeID", "read_only": "readOnly"}):
    """An OpenStack volume."""

    volume_id: str = ""
    read_only: bool = False


class VsphereVolume(ObjectPart, frozen=True, gc=False):
    """A vSphere disk."""

    volume_path: str = ""


class PortworxVolume(ObjectPart, frozen=True, gc=False, rename={"volume_id": "volumeID", "read_only": "readOnly"}):
    """A Portworx volume."""

    volume_id: str = ""
    read_only: bool = False


class RBD(ObjectPart, frozen=True, gc=False):
    """A Ceph block device."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    #: The API server's default is "rbd".
    pool: str = "rbd"
    read_only: bool = False


class ISCSI(ObjectPart, frozen=True, gc=False):
    """An iSCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class PersistentVolumeClaimSource(ObjectPart, frozen=True, gc=False):
    """A claim in the pod's namespace."""

    claim_name: str = ""
    read_only: bool = False


class EphemeralSource(ObjectPart, frozen=True, gc=False):
    """A claim that is created for the pod, named `pod-volume`. The scheduler reads only whether there is one."""


class ImageSource(ObjectPart, frozen=True, gc=False):
    """An OCI image, mounted as a volume."""

    reference: str = ""


class CSISource(ObjectPart, frozen=True, gc=False):
    """A volume of a CSI driver; `volume_handle` is set in PersistentVolumes only."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class Volume(ObjectPart, frozen=True, gc=False):
    """A pod's volume. If all sources are None, it is of a kind that the scheduler ignores."""

    name: str = ""
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    rbd: RBD | None = None
    iscsi: ISCSI | None = None
    persistent_volume_claim: PersistentVolumeClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    csi: CSISource | None = None
    #: v1.36.
    image: ImageSource | None = None
