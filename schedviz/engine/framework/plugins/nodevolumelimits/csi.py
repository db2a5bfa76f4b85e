"""NodeVolumeLimits: a node has room for the pod's volumes of CSI drivers, and for disks that are migrated to one.

Upstream: framework/plugins/nodevolumelimits/csi.go
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.csi_translation import BY_NAME, TranslationError, in_tree_plugin, inline_handle, translated
from schedviz.engine.framework.plugins.helper.printed_volume import printed_volume
from schedviz.engine.framework.plugins.nodevolumelimits.limits import (
    MAX_VOLUME_COUNT_EXCEEDED,
    NO_LIMIT,
    NOT_PROVISIONED,
    UNCOUNTED,
    Migration,
    VolumeError,
    VolumeLimits,
    csi_attach_limit_key,
)
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import CODE_TYPE, Index, Verdicts
from schedviz.kube.claims import claim_name, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolumeClaim, StorageClass
from schedviz.kube.volumes import Volume

#: Unique volume name -> the resource that limits volumes of its kind.
Attached = dict[str, str]


class CSILimits(VolumeLimits):
    name = names.NODE_VOLUME_LIMITS

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.CSI_NODE, ActionType.ADD), ClusterEvent(GVK.POD, ActionType.DELETE))

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's signature
        if not pod.pod.spec.volumes:
            return None
        self._csi_nodes.refresh()
        csi_rows = self._csi_nodes.places(rows)
        migration = self._csi_nodes.migration(csi_rows)
        statuses: list[Status] = [SUCCESS, MAX_VOLUME_COUNT_EXCEEDED]
        codes = np.zeros(len(rows), CODE_TYPE)
        for number in np.unique(migration).tolist():
            same = np.flatnonzero(migration == number)
            try:
                added = self._attachable(pod.pod, self._csi_nodes.migrations[number], is_new=True)
            except VolumeError as error:
                codes[same] = len(statuses)
                statuses.append(self._status_of_volume_error(error))
                continue
            for row in self._rows_to_check(added, rows, csi_rows, same).tolist():
                status = self._check(added, rows.infos[row], csi_rows[row : row + 1], rows.take(np.array([row])))
                if not status.is_success:
                    codes[row] = _code_of(status, statuses)
        return Verdicts(codes, statuses) if codes.any() else None

    def _status_of_volume_error(self, error: VolumeError) -> Status:
        """The verdict if the pod's own volumes cannot be counted."""
        return as_status(str(error))

    def _rows_to_check(self, added: Attached, rows: Rows, csi_rows: IntArray, same: Index) -> Index:
        """The rows of `same` that may be full: the claims of all pods and the new volumes together exceed a limit."""
        if not added:
            return same[:0]
        upper = rows.info_column((names.NODE_VOLUME_LIMITS, "volumes"), _max_volumes, np.int64)
        may_exceed = (upper == UNCOUNTED) & self._csi_nodes.has_limits(csi_rows, rows)
        for key, count in Counter(added.values()).items():
            limit = self._csi_nodes.limit(csi_rows, rows, key)
            may_exceed |= (limit != NO_LIMIT) & (upper + count > limit)
        chosen: Index = same[may_exceed[same]]
        return chosen

    def _check(self, added: Attached, info: NodeInfo, csi_row: IntArray, row: Rows) -> Status:
        """Count the node's volumes one by one."""
        migration = self._csi_nodes.migrations[int(self._csi_nodes.migration(csi_row)[0])]
        attached: Attached = {}
        try:
            for existing in info.pods:
                attached.update(self._attachable(existing.pod, migration, is_new=False))
        except VolumeError as error:
            return as_status(str(error))
        # A volume that a pod on the node already uses is not attached again.
        new = Counter(key for name, key in added.items() if name not in attached)
        attached.update(self._attached_by_objects(info.name))
        present = Counter(attached.values())
        for key, count in new.items():
            limit = int(self._csi_nodes.limit(csi_row, row, key)[0])
            if limit != NO_LIMIT and present[key] + count > limit:
                return MAX_VOLUME_COUNT_EXCEEDED
        return SUCCESS

    def _attached_by_objects(self, node: str) -> Attached:  # noqa: ARG002 - v1.27.1 counts pods alone
        """The node's volumes that are known from objects other than its pods."""
        return {}

    def _attachable(self, pod: Pod, migration: Migration, *, is_new: bool) -> Attached:
        """The pod's volumes that a CSI driver attaches. Raises `VolumeError`. Upstream: filterAttachableVolumes"""
        attached: Attached = {}
        for volume in pod.spec.volumes:
            name = claim_name(pod, volume)
            if name is None:
                driver, handle = self._inline_volume(volume, migration)
            else:
                driver, handle = self._claimed_volume(pod, volume, name, migration, is_new=is_new)
            if driver and handle:
                attached[f"{driver}/{handle}"] = csi_attach_limit_key(driver)
        return attached

    def _claimed_volume(self, pod: Pod, volume: Volume, name: str, migration: Migration, *, is_new: bool) -> tuple[str, str]:
        claim = self._claim(pod, volume, name, is_new=is_new)
        return ("", "") if claim is None else self._driver_info(claim, migration)

    def _driver_info(self, claim: PersistentVolumeClaim, migration: Migration) -> tuple[str, str]:
        """Driver and handle of a claim's volume; "" if no driver attaches it. Upstream: getCSIDriverInfo"""
        bound = self._bound_volume(claim)
        if bound is None:
            return self._driver_info_of_class(claim, migration)
        source = bound.spec.csi
        if source is None:
            plugin = in_tree_plugin(bound.spec)
            if plugin is None or not migration.is_on(plugin.name):
                return "", ""
            try:
                source = translated(bound, plugin).spec.csi
            except TranslationError:
                return "", ""
        return ("", "") if source is None else (source.driver, source.volume_handle)

    def _driver_info_of_class(self, claim: PersistentVolumeClaim, migration: Migration) -> tuple[str, str]:
        """Driver and handle of a volume that does not exist yet. Upstream: getCSIDriverInfoFromSC"""
        class_name = class_of_claim(claim)
        storage_class: StorageClass | None = self._objects.get("StorageClass", "", class_name) if class_name else None
        if storage_class is None:
            return "", ""
        handle = f"{NOT_PROVISIONED}{claim.key}"
        plugin = BY_NAME.get(storage_class.provisioner)
        if plugin is None:
            return storage_class.provisioner, handle
        return (plugin.driver, handle) if migration.is_on(plugin.name) else ("", "")

    def _inline_volume(self, volume: Volume, migration: Migration) -> tuple[str, str]:
        """Driver and handle of an inline disk. Upstream: checkAttachableInlineVolume"""
        plugin = in_tree_plugin(volume)
        if plugin is None or not migration.is_on(plugin.name):
            return "", ""
        try:
            return plugin.driver, inline_handle(volume)
        except TranslationError as error:
            raise VolumeError(f"converting volume({self._printed(volume)}) from inline to csi: {error}") from None

    def _printed(self, volume: Volume) -> str:
        """A volume in an error message."""
        return printed_volume(volume)


def _max_volumes(info: NodeInfo) -> int:
    """An upper bound of the CSI volumes of a node's pods; UNCOUNTED if some volumes are not plain claims."""
    for pod in info.pods:
        for volume in pod.pod.spec.volumes:
            if volume.ephemeral is not None or (volume.persistent_volume_claim is None and in_tree_plugin(volume) is not None):
                return UNCOUNTED
    return len(info.pvc_ref_counts)


def _code_of(status: Status, statuses: list[Status]) -> int:
    if status not in statuses:
        statuses.append(status)
    return statuses.index(status)
