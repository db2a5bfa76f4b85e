"""EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a node has room for the pod's disks of a kind.

Upstream: framework/plugins/nodevolumelimits/non_csi.go
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import FilterReads, Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.csi_translation import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, InTreePlugin
from schedviz.engine.framework.plugins.nodevolumelimits.limits import MAX_VOLUME_COUNT_EXCEEDED, NO_LIMIT, CSINodes, node_limit
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.claims import claim_name, why_not_for_pod
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec, StorageClass
from schedviz.kube.volumes import Volume

#: Before the names of volumes that are not known yet. Upstream draws it at random; no real disk is called like this.
_UNKNOWN: Final = "?"
#: In the column of volumes: the node has pods whose volumes can only be told by looking.
_LOOK: Final = -1

_INSTANCE_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
#: Instances with another limit than EBS' default.
_NITRO: Final = re.compile(r"^[cmr]5.*|t3|z1d")


class VolumeError(ValueError):
    """A pod's volume that cannot be counted."""


class NonCSILimits:
    """One plugin for each kind of disk."""

    name: ClassVar[str]
    plugin: ClassVar[InTreePlugin]
    #: The member of a disk that names it.
    id_member: ClassVar[str]
    #: The resource with which a node sets its own limit.
    limit_key: ClassVar[str]
    default_limit: ClassVar[int]

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle
        self._csi_nodes = CSINodes(handle.objects)

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD), ClusterEvent(GVK.POD, ActionType.DELETE))

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.PODS if pod.pod.spec.volumes else FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        if not pod.pod.spec.volumes:
            return None
        try:
            new = self._disks(pod.pod, is_new=True)
        except VolumeError as error:
            return Verdicts.all(len(rows), as_status(str(error)))
        if not new:
            return None
        upper = rows.info_column((self.name, "volumes"), self._volumes_at_most, np.int64)
        limits = self._limits(rows)
        doubtful = ((upper == _LOOK) | (upper + len(new) > limits)) & ~self._migrated(rows)
        statuses = [SUCCESS] * len(rows)
        for row in np.flatnonzero(doubtful).tolist():
            statuses[row] = self._check(new, rows.infos[row], int(limits[row]))
        return Verdicts.of(statuses) if doubtful.any() else None

    def _check(self, new: set[str], info: NodeInfo, limit: int) -> Status:
        """Count exactly. A disk that a pod on the node uses already is not attached once more."""
        existing: set[str] = set()
        try:
            for pod in info.pods:
                existing |= self._disks(pod.pod, is_new=False)
        except VolumeError as error:
            return as_status(str(error))
        return MAX_VOLUME_COUNT_EXCEEDED if len(existing | new) > limit else SUCCESS

    def _migrated(self, rows: Rows) -> Mask:
        """Where a CSI driver handles these disks, NodeVolumeLimits counts them."""
        self._csi_nodes.refresh()
        migrated = np.array([migration.is_on(self.plugin.name) for migration in self._csi_nodes.migrations], np.bool_)
        return migrated[self._csi_nodes.migration(self._csi_nodes.places(rows))]

    def _limits(self, rows: Rows) -> IntArray:
        own = node_limit(rows, self.limit_key)
        return np.where(own == NO_LIMIT, self._default_limits(rows), own)

    def _default_limits(self, rows: Rows) -> IntArray:
        return np.full(len(rows), self.default_limit, np.int64)

    def _disks(self, pod: Pod, *, is_new: bool) -> set[str]:
        """The disks of the kind that a pod uses. Raises `VolumeError`. Upstream: filterVolumes"""
        disks: set[str] = set()
        for volume in pod.spec.volumes:
            disk = self._disk(volume)
            if disk is None:
                disk = self._claimed_disk(pod, volume, is_new=is_new)
            if disk is not None:
                disks.add(disk)
        return disks

    def _disk(self, source: Volume | PersistentVolumeSpec) -> str | None:
        disk = getattr(source, self.plugin.source)
        name: str | None = None if disk is None else getattr(disk, self.id_member)
        return name

    def _claimed_disk(self, pod: Pod, volume: Volume, *, is_new: bool) -> str | None:
        name = claim_name(pod, volume)
        if name is None:
            return None
        if not name:
            raise VolumeError("PersistentVolumeClaim had no name")
        claim: PersistentVolumeClaim | None = self._handle.objects.get("PersistentVolumeClaim", pod.namespace, name)
        if claim is None:
            if is_new:
                raise VolumeError(f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found')
            return None
        if volume.persistent_volume_claim is None and (why := why_not_for_pod(claim, pod)):
            raise VolumeError(why)
        found: PersistentVolume | None = None
        if claim.spec.volume_name:
            found = self._handle.objects.get("PersistentVolume", "", claim.spec.volume_name)
        if found is not None:
            return self._disk(found.spec)
        # It is not there yet, or not any more: its class says what it will be, or was.
        return f"{_UNKNOWN}{pod.namespace}/{name}" if self._is_provisioner_of(claim) else None

    def _is_provisioner_of(self, claim: PersistentVolumeClaim) -> bool:
        """Upstream: matchProvisioner"""
        name = claim.spec.storage_class_name
        storage_class: StorageClass | None = None if name is None else self._handle.objects.get("StorageClass", "", name)
        return storage_class is not None and storage_class.provisioner == self.plugin.name

    def _volumes_at_most(self, info: NodeInfo) -> int:
        """How many disks of the kind the pods of a node have at most; _LOOK where claims were made for pods."""
        inline = 0
        for pod in info.pods:
            for volume in pod.pod.spec.volumes:
                if volume.ephemeral is not None:
                    return _LOOK
                inline += getattr(volume, self.plugin.source) is not None
        return inline + len(info.pvc_ref_counts)


class EBSLimits(NonCSILimits):
    name = names.EBS_LIMITS
    plugin = AWS_EBS
    id_member = "volume_id"
    limit_key = "attachable-volumes-aws-ebs"
    default_limit = 39

    def _default_limits(self, rows: Rows) -> IntArray:
        return rows.node_column((self.name, "limit"), _ebs_limit, np.int64)


class GCEPDLimits(NonCSILimits):
    name = names.GCE_PD_LIMITS
    plugin = GCE_PD
    id_member = "pd_name"
    limit_key = "attachable-volumes-gce-pd"
    default_limit = 16


class AzureDiskLimits(NonCSILimits):
    name = names.AZURE_DISK_LIMITS
    plugin = AZURE_DISK
    id_member = "disk_name"
    limit_key = "attachable-volumes-azure-disk"
    default_limit = 16


class CinderLimits(NonCSILimits):
    name = names.CINDER_LIMITS
    plugin = CINDER
    id_member = "volume_id"
    limit_key = "attachable-volumes-cinder"
    default_limit = 256


def _ebs_limit(info: NodeInfo) -> int:
    """Upstream: getMaxEBSVolume. Of two labels for the instance type it takes any; here the newer one."""
    labels = info.node.metadata.labels if info.node is not None else {}
    instance_type = next((labels[key] for key in _INSTANCE_TYPES if key in labels), "")
    return 25 if _NITRO.search(instance_type) else EBSLimits.default_limit
