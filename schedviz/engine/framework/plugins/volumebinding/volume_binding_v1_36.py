"""VolumeBinding of v1.36. Upstream: framework/plugins/volumebinding/volume_binding.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.claims_of_pod import uses_claim
from schedviz.engine.framework.plugins.helper.csi_translation import migrated_plugins
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.volumebinding.state import STATE_KEY
from schedviz.engine.framework.plugins.volumebinding.volume_binding import VolumeBinding
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.kube.meta import KubeObject
from schedviz.kube.quantity import Quantity
from schedviz.kube.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass


class VolumeBindingV136(VolumeBinding):
    node_conflict: ClassVar[str] = "node(s) didn't match PersistentVolume's node affinity"
    narrows_nodes: ClassVar[bool] = False

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.STORAGE_CLASS, add_or_update), _after_class_change),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, add_or_update), _after_claim_change),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME, add_or_update)),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent(GVK.CSI_NODE, add_or_update), _after_csi_node_change),
            ClusterEventWithHint(ClusterEvent(GVK.CSI_DRIVER, ActionType.UPDATE), _after_csi_driver_change),
            ClusterEventWithHint(ClusterEvent(GVK.CSI_STORAGE_CAPACITY, add_or_update), _after_capacity_change),
        )

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:  # noqa: ARG002 - the extension point's shape
        """Skip: the feature gate StorageCapacityScoring is off."""
        return SKIP

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        """Skip if no claim is to be bound. Upstream: PreBindPreFlight"""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        if data.all_bound:
            return SKIP
        if self._pod_volumes(data, node_name) is None:
            return as_status(f'no pod volume found for node "{node_name}"')
        return SUCCESS

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.VOLUMES, signers.volumes(pod.pod)),)


def _after_class_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterStorageClassChange"""
    was, _ = before_and_after(StorageClass, old, new)
    return queue_if(was is None or was.allowed_topologies != after(StorageClass, old, new).allowed_topologies)


def _after_claim_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPersistentVolumeClaimChange"""
    return queue_if(uses_claim(pod.pod, after(PersistentVolumeClaim, old, new)))


def _after_csi_node_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterCSINodeChange"""
    was, _ = before_and_after(CSINode, old, new)
    return queue_if(was is None or migrated_plugins(was) != migrated_plugins(after(CSINode, old, new)))


def _after_csi_driver_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterCSIDriverChange"""
    was, _ = before_and_after(CSIDriver, old, new)
    now = after(CSIDriver, old, new)
    is_used = any(volume.csi is not None and volume.csi.driver == now.name for volume in pod.pod.spec.volumes)
    return queue_if(is_used and was is not None and bool(was.spec.storage_capacity) and not now.spec.storage_capacity)


def _after_capacity_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterCSIStorageCapacityChange"""
    was, _ = before_and_after(CSIStorageCapacity, old, new)
    if was is None:
        return QueueingHint.QUEUE
    before, now = _limit(was), _limit(after(CSIStorageCapacity, old, new))
    return queue_if(now is not None and (before is None or now.value > before.value))


def _limit(capacity: CSIStorageCapacity) -> Quantity | None:
    """Upstream: volumeLimit"""
    return capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
