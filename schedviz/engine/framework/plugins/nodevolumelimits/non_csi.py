"""EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a node has room for the pod's disks of one kind.

Upstream: framework/plugins/nodevolumelimits/non_csi.go
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.csi_translation import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, InTreePlugin
from schedviz.engine.framework.plugins.nodevolumelimits.limits import (
    MAX_VOLUME_COUNT_EXCEEDED,
    NO_LIMIT,
    NOT_PROVISIONED,
    UNCOUNTED,
    VolumeError,
    VolumeLimits,
    node_limit,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.claims import claim_name
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim, PersistentVolumeSpec, StorageClass
from schedviz.kube.volumes import Volume

_INSTANCE_TYPES: Final = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
#: Instance types whose limit is not the EBS default.
_NITRO: Final = re.compile(r"^[cmr]5.*|t3|z1d")


class NonCSILimits(VolumeLimits):
    """Base of the plugins, one for each kind of disk."""

    name: ClassVar[str]
    plugin: ClassVar[InTreePlugin]
    #: The member of a volume source that identifies the disk.
    id_member: ClassVar[str]
    #: The resource with which a Node sets its own limit.
    limit_key: ClassVar[str]
    default_limit: ClassVar[int]

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD), ClusterEvent(GVK.POD, ActionType.DELETE))

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's signature
        if not pod.pod.spec.volumes:
            return None
        try:
            new = self._disks(pod.pod, is_new=True)
        except VolumeError as error:
            return Verdicts.all(len(rows), as_status(str(error)))
        if not new:
            return None
        upper = rows.info_column((self.name, "volumes"), self._max_volumes, np.int64)
        limits = self._limits(rows)
        may_exceed = ((upper == UNCOUNTED) | (upper + len(new) > limits)) & ~self._migrated(rows)
        statuses = [SUCCESS] * len(rows)
        for row in np.flatnonzero(may_exceed).tolist():
            statuses[row] = self._check(new, rows.infos[row], int(limits[row]))
        return Verdicts.of(statuses) if may_exceed.any() else None

    def _check(self, new: set[str], info: NodeInfo, limit: int) -> Status:
        """Count the node's disks one by one. A disk that a pod on the node already uses is not attached again."""
        existing: set[str] = set()
        try:
            for pod in info.pods:
                existing |= self._disks(pod.pod, is_new=False)
        except VolumeError as error:
            return as_status(str(error))
        return MAX_VOLUME_COUNT_EXCEEDED if len(existing | new) > limit else SUCCESS

    def _migrated(self, rows: Rows) -> Mask:
        """The rows where a CSI driver attaches these disks; NodeVolumeLimits counts them there."""
        self._csi_nodes.refresh()
        migrated = np.array([migration.is_on(self.plugin.name) for migration in self._csi_nodes.migrations], np.bool_)
        return migrated[self._csi_nodes.migration(self._csi_nodes.places(rows))]

    def _limits(self, rows: Rows) -> IntArray:
        own = node_limit(rows, self.limit_key)
        return np.where(own == NO_LIMIT, self._default_limits(rows), own)

    def _default_limits(self, rows: Rows) -> IntArray:
        return np.full(len(rows), self.default_limit, np.int64)

    def _disks(self, pod: Pod, *, is_new: bool) -> set[str]:
        """The pod's disks of this kind. Raises `VolumeError`. Upstream: filterVolumes"""
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
        claim = self._claim(pod, volume, name, is_new=is_new)
        if claim is None:
            return None
        bound = self._bound_volume(claim)
        if bound is not None:
            return self._disk(bound.spec)
        # The volume does not exist yet, or no longer. The kind of disk follows from its class.
        return f"{NOT_PROVISIONED}{pod.namespace}/{name}" if self._is_provisioner_of(claim) else None

    def _is_provisioner_of(self, claim: PersistentVolumeClaim) -> bool:
        """Upstream: matchProvisioner"""
        name = claim.spec.storage_class_name
        storage_class: StorageClass | None = None if name is None else self._objects.get("StorageClass", "", name)
        return storage_class is not None and storage_class.provisioner == self.plugin.name

    def _max_volumes(self, info: NodeInfo) -> int:
        """An upper bound of the disks of a node's pods; UNCOUNTED if a pod has an ephemeral volume."""
        inline = 0
        for pod in info.pods:
            for volume in pod.pod.spec.volumes:
                if volume.ephemeral is not None:
                    return UNCOUNTED
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
    """Upstream: getMaxEBSVolume. Deviation: of two labels for the instance type upstream takes any; here the newer one is taken."""
    labels = info.node.metadata.labels if info.node is not None else {}
    instance_type = next((labels[key] for key in _INSTANCE_TYPES if key in labels), "")
    return 25 if _NITRO.search(instance_type) else EBSLimits.default_limit
