"""VolumeRestrictions: exclusive disks, and claims with access mode ReadWriteOncePod, are not in use.

Upstream: framework/plugins/volumerestrictions/volume_restrictions.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.volumes import Volume

_DISK_CONFLICT: Final = unschedulable("node(s) had no available disk")
_CLAIM_CONFLICT: Final = unschedulable("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode")
_READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"


class PreFilterState(msgspec.Struct):
    """The pod's ReadWriteOncePod claims, sorted, and the number of scheduled pods that use them."""

    read_write_once_pod_pvcs: tuple[str, ...] = ()
    conflicting_pvc_ref_count: int = 0

    def clone(self) -> PreFilterState:
        return PreFilterState(self.read_write_once_pod_pvcs, self.conflicting_pvc_ref_count)

    def update_with_pod(self, pod: PodInfo, multiplier: int) -> None:
        """Count a pod's use of the claims, or (-1) stop counting it."""
        for volume in pod.pod.spec.volumes:
            claim = volume.persistent_volume_claim
            if claim is not None and claim.claim_name in self.read_write_once_pod_pvcs:
                self.conflicting_pvc_ref_count += multiplier


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.VOLUME_RESTRICTIONS}", PreFilterState)


class VolumeRestrictions:
    name = names.VOLUME_RESTRICTIONS
    #: The verdict for a node if a ReadWriteOncePod claim of the pod is in use.
    claim_conflict: ClassVar[Status] = _CLAIM_CONFLICT

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.DELETE),
            ClusterEvent(GVK.NODE, ActionType.ADD),
            ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD | ActionType.UPDATE),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        claims: set[str] = set()
        for volume in pod.pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = self._handle.objects.get("PersistentVolumeClaim", pod.namespace, name)
            if claim is None:
                return None, unresolvable(f'persistentvolumeclaim "{name}" not found')
            if _READ_WRITE_ONCE_POD in claim.spec.access_modes:
                claims.add(name)
        used = sum(1 for name in claims if snapshot.is_pvc_used_by_pods(f"{pod.namespace}/{name}"))
        state.write(PRE_FILTER_STATE_KEY, PreFilterState(tuple(sorted(claims)), used))
        return None, SUCCESS

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status:  # noqa: ARG002
        return _update(state, pod_to_add, 1)

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status:  # noqa: ARG002
        return _update(state, pod_to_remove, -1)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:
        return FilterReads.PODS if pod.pod.spec.volumes or PRE_FILTER_STATE_KEY not in state else FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        exclusive = [volume for volume in pod.pod.spec.volumes if is_exclusive(volume)]
        claim_status = self._satisfy_read_write_once_pod(state)
        if not exclusive:
            return None if claim_status is SUCCESS else Verdicts.all(len(rows), claim_status)
        conflicts = _disk_conflicts(exclusive, rows)
        if claim_status is SUCCESS:
            return Verdicts.reject(conflicts, _DISK_CONFLICT)
        return Verdicts(np.where(conflicts, 1, 2), (SUCCESS, _DISK_CONFLICT, claim_status))

    def _satisfy_read_write_once_pod(self, state: CycleState) -> Status:
        """The verdict for nodes without disk conflicts. Upstream: satisfyReadWriteOncePod"""
        try:
            used = state.read(PRE_FILTER_STATE_KEY).conflicting_pvc_ref_count
        except NotFoundError:
            return _missing_state()
        return self.claim_conflict if used > 0 else SUCCESS


def _update(state: CycleState, pod: PodInfo, multiplier: int) -> Status:
    try:
        state.read(PRE_FILTER_STATE_KEY).update_with_pod(pod, multiplier)
    except NotFoundError:
        return _missing_state()
    return SUCCESS


def _missing_state() -> Status:
    return as_status(f'cannot read "{PRE_FILTER_STATE_KEY.name}" from cycleState')


def is_exclusive(volume: Volume) -> bool:
    """Whether two pods cannot use such a disk at the same time."""
    sources = (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.rbd, volume.iscsi)
    return any(source is not None for source in sources)


def _disk_conflicts(volumes: Sequence[Volume], rows: Rows) -> Mask:
    """The rows where a pod uses one of the disks. Rows whose pods have no such disks are skipped."""
    with_disks = rows.info_column((names.VOLUME_RESTRICTIONS, "disks"), _has_exclusive_volumes, np.bool_)
    conflicts = np.zeros(len(rows), np.bool_)
    for row in np.flatnonzero(with_disks).tolist():
        conflicts[row] = _conflicts(volumes, rows.infos[row])
    return conflicts


def _has_exclusive_volumes(node_info: NodeInfo) -> bool:
    return any(is_exclusive(volume) for pod in node_info.pods for volume in pod.pod.spec.volumes)


def _conflicts(volumes: Sequence[Volume], node_info: NodeInfo) -> bool:
    """Whether a pod on the node uses one of the disks. Upstream: satisfyVolumeConflicts"""
    return any(is_volume_conflict(volume, pod) for volume in volumes for pod in node_info.pods)


def is_volume_conflict(volume: Volume, pod: PodInfo) -> bool:
    """Whether a pod uses the same disk in a way that excludes this use. Upstream: isVolumeConflict"""
    return any(
        _same_gce_disk(volume, other) or _same_ebs(volume, other) or _same_iscsi(volume, other) or _same_rbd(volume, other)
        for other in pod.pod.spec.volumes
    )


def _same_gce_disk(volume: Volume, other: Volume) -> bool:
    own, others = volume.gce_persistent_disk, other.gce_persistent_disk
    return own is not None and others is not None and own.pd_name == others.pd_name and not (own.read_only and others.read_only)


def _same_ebs(volume: Volume, other: Volume) -> bool:
    own, others = volume.aws_elastic_block_store, other.aws_elastic_block_store
    return own is not None and others is not None and own.volume_id == others.volume_id


def _same_iscsi(volume: Volume, other: Volume) -> bool:
    own, others = volume.iscsi, other.iscsi
    return own is not None and others is not None and own.iqn == others.iqn and not (own.read_only and others.read_only)


def _same_rbd(volume: Volume, other: Volume) -> bool:
    own, others = volume.rbd, other.rbd
    if own is None or others is None:
        return False
    same = bool(set(own.monitors) & set(others.monitors)) and own.pool == others.pool and own.image == others.image
    return same and not (own.read_only and others.read_only)
