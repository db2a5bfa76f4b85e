"""NodeVolumeLimits of v1.36: CSINodes alone have limits, and VolumeAttachments take room.

Upstream: framework/plugins/nodevolumelimits/csi.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.claims_of_pod import uses_claim
from schedviz.engine.framework.plugins.helper.csi_translation import IN_TREE_PLUGINS_V1_36, MIGRATION_ON_V1_36, InTreePlugin, in_tree_plugin
from schedviz.engine.framework.plugins.helper.hint_objects import after, before, before_and_after, has_place, queue_if
from schedviz.engine.framework.plugins.nodevolumelimits.csi import Attached, CSILimits
from schedviz.engine.framework.plugins.nodevolumelimits.limits import (
    NO_LIMIT,
    CSINodes,
    Migration,
    VolumeError,
    csi_attach_limit_key,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Code, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    NodeInfo,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.engine.framework.verdicts import CODE_TYPE, Index, Mask, Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import CSIDriver, CSINode, PersistentVolumeClaim
from schedviz.kube.volumes import Volume

#: Migration is on for every node that has a CSINode. Upstream: isCSIMigrationOn
_MIGRATION: Final = Migration(True, always=MIGRATION_ON_V1_36)


class CSINodesV136(CSINodes):
    """The limits of all CSINodes; limits in a Node's allocatable do not count."""

    def _migration_of(self, csi_node: CSINode) -> Migration:  # noqa: ARG002 - the annotation of the CSINode does not count
        return _MIGRATION

    def has_driver(self, csi_rows: IntArray, driver: str) -> Mask:
        """The rows whose CSINode lists a driver."""
        have = [any(csi_driver.name == driver for csi_driver in csi_node.spec.drivers) for csi_node in self._listed or ()]
        mask: Mask = np.array([*have, False], np.bool_)[csi_rows]
        return mask

    def limit(self, csi_rows: IntArray, rows: Rows, key: str) -> IntArray:  # noqa: ARG002 - limits of Nodes do not count
        own = self._limits.get(key)
        return np.full(len(csi_rows), NO_LIMIT, np.int64) if own is None else own[csi_rows]

    def has_limits(self, csi_rows: IntArray, rows: Rows) -> Mask:  # noqa: ARG002
        mask: Mask = self._limited[csi_rows]
        return mask


class CSILimitsV136(CSILimits):
    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._csi_nodes: CSINodesV136 = CSINodesV136(handle.objects)
        self._needs_drivers = handle.features.volume_limit_scaling

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.CSI_NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(GVK.CSI_NODE, ActionType.UPDATE), _after_csi_node_updated),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE), _after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), _after_claim_added),
            ClusterEventWithHint(ClusterEvent(GVK.VOLUME_ATTACHMENT, ActionType.DELETE), _after_attachment_deleted),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        """Skip without a volume that a CSI driver may attach."""
        return None, SUCCESS if any(map(_may_be_attached, pod.pod.spec.volumes)) else SKIP

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        """A node without a driver that the pod needs gets that reason, not that of its full volumes: upstream checks drivers first."""
        verdicts = super().filter(state, pod, rows)
        if not self._needs_drivers or not pod.pod.spec.volumes:
            return verdicts
        statuses = list((SUCCESS,) if verdicts is None else verdicts.statuses)
        codes = np.zeros(len(rows), CODE_TYPE) if verdicts is None else verdicts.codes
        for mask, driver in self._without_driver(pod.pod, rows):
            rejected = mask & np.array([status.code is not Code.ERROR and not _is_unresolvable(status) for status in statuses])[codes]
            codes = np.where(rejected, len(statuses), codes)
            statuses.append(unschedulable(f"{driver} CSI driver is not installed on the node"))
        return Verdicts(codes, statuses) if codes.any() else None

    def _printed(self, volume: Volume) -> str:
        return volume.name

    def _without_driver(self, pod: Pod, rows: Rows) -> Iterator[tuple[Mask, str]]:
        """The rows that lack a driver of the pod's volumes whose CSIDriver requires it on the node. Upstream: checkCSIDriverOnNode"""
        csi_rows = self._csi_nodes.places(rows)
        migration = self._csi_nodes.migration(csi_rows)
        for number in np.unique(migration).tolist():
            try:
                added = self._attachable(pod, self._csi_nodes.migrations[number], is_new=True)
            except VolumeError:
                continue
            # In reverse order: each driver overwrites the verdict of those before, so that of the first by name stands.
            for driver in sorted({name.partition("/")[0] for name in added}, reverse=True):
                csi_driver: CSIDriver | None = self._objects.get("CSIDriver", "", driver)
                if csi_driver is not None and csi_driver.spec.prevent_pod_scheduling_if_missing:
                    yield (migration == number) & ~self._csi_nodes.has_driver(csi_rows, driver), driver

    def _status_of_volume_error(self, error: VolumeError) -> Status:
        """A claim that is missing is no error: the pod waits for it."""
        return unresolvable(str(error)) if str(error).endswith("not found") else as_status(str(error))

    def _rows_to_check(self, added: Attached, rows: Rows, csi_rows: IntArray, same: Index) -> Index:
        """With VolumeAttachments, every row that has a limit: attachments are counted one by one."""
        if not added or not self._attachments():
            return super()._rows_to_check(added, rows, csi_rows, same)
        chosen: Index = same[self._csi_nodes.has_limits(csi_rows, rows)[same]]
        return chosen

    def _check(self, added: Attached, info: NodeInfo, csi_row: IntArray, row: Rows) -> Status:
        """Count a node's volumes only if it has a limit."""
        return super()._check(added, info, csi_row, row) if bool(self._csi_nodes.has_limits(csi_row, row)[0]) else SUCCESS

    def _attachments(self) -> Sequence[Any]:
        objects = self._objects
        return objects.list("VolumeAttachment") if objects.knows("VolumeAttachment") else ()

    def _attached_by_objects(self, node: str) -> Attached:
        """The node's volumes by its VolumeAttachments. Upstream: getNodeVolumeAttachmentInfo"""
        attached: Attached = {}
        for attachment in self._attachments():
            spec = attachment.spec
            if spec.node_name != node or not spec.attacher or spec.source.persistent_volume_name is None:
                continue
            volume = self._objects.get("PersistentVolume", "", spec.source.persistent_volume_name)
            if volume is not None and volume.spec.csi is not None:
                attached[f"{spec.attacher}/{volume.spec.csi.volume_handle}"] = csi_attach_limit_key(spec.attacher)
        return attached

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.VOLUMES, signers.volumes(pod.pod)),)


def _may_be_attached(volume: Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None or _plugin_of(volume) is not None


def _plugin_of(volume: Volume) -> InTreePlugin | None:
    return in_tree_plugin(volume, IN_TREE_PLUGINS_V1_36)


def _is_unresolvable(status: Status) -> bool:
    return status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def _after_pod_deleted(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodDeleted"""
    deleted = before(Pod, old, new)
    return queue_if(has_place(deleted) and any(map(_may_be_attached, deleted.spec.volumes)))


def _after_claim_added(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPVCAdded"""
    return queue_if(uses_claim(pod.pod, after(PersistentVolumeClaim, old, new)))


def _after_attachment_deleted(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:  # noqa: ARG001
    """Upstream: isSchedulableAfterVolumeAttachmentDeleted"""
    attachment: Any = old
    for volume in pod.pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            return QueueingHint.QUEUE
        plugin = _plugin_of(volume)
        if plugin is not None and plugin.driver == attachment.spec.attacher:
            return QueueingHint.QUEUE
    return QueueingHint.QUEUE_SKIP


def _after_csi_node_updated(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterCSINodeUpdated"""
    old_csi_node, _ = before_and_after(CSINode, old, new)
    limits = {} if old_csi_node is None else _limits(old_csi_node)
    return queue_if(any(limit > limits.get(driver, 0) for driver, limit in _limits(after(CSINode, old, new)).items()))


def _limits(csi_node: CSINode) -> dict[str, int]:
    return {driver.name: (driver.allocatable.count or 0) if driver.allocatable is not None else 0 for driver in csi_node.spec.drivers}
