"""VolumeRestrictions of v1.36. Upstream: framework/plugins/volumerestrictions/volume_restrictions.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.claims_of_pod import uses_claim
from schedviz.engine.framework.plugins.helper.hint_objects import after, before, queue_if
from schedviz.engine.framework.plugins.volumerestrictions.volume_restrictions import (
    PRE_FILTER_STATE_KEY,
    VolumeRestrictions,
    is_exclusive,
    is_volume_conflict,
)
from schedviz.engine.framework.status import SKIP, Status, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolumeClaim

_CLAIM_CONFLICT: Final = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


class VolumeRestrictionsV136(VolumeRestrictions):
    claim_conflict: ClassVar[Status] = _CLAIM_CONFLICT

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE), _after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD)),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD), _after_claim_added),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        """Skip without an exclusive disk and without a ReadWriteOncePod claim that is in use."""
        result, status = super().pre_filter(state, pod, snapshot)
        has_disks = any(map(is_exclusive, pod.pod.spec.volumes))
        if status.is_success and not has_disks and state.read(PRE_FILTER_STATE_KEY).conflicting_pvc_ref_count == 0:
            state.delete(PRE_FILTER_STATE_KEY)
            return None, SKIP
        return result, status

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.VOLUMES, signers.volumes(pod.pod)),)


def _after_pod_deleted(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodDeleted"""
    deleted = before(Pod, old, new)
    if deleted.namespace != pod.namespace:
        return QueueingHint.QUEUE_SKIP
    deleted_info = pod.info_of(deleted)
    if any(is_volume_conflict(volume, deleted_info) for volume in pod.pod.spec.volumes if is_exclusive(volume)):
        return QueueingHint.QUEUE
    return queue_if(not set(pod.claims).isdisjoint(deleted_info.claims))


def _after_claim_added(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPersistentVolumeClaimAdded"""
    return queue_if(uses_claim(pod.pod, after(PersistentVolumeClaim, old, new), ephemeral=False))
