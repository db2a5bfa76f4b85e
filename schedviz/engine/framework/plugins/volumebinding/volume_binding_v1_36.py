"""VolumeBinding of v1.36. Upstream: framework/plugins/volumebinding/volume_binding.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from schedviz.engine.config.plugin_args import VolumeBindingArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError
from schedviz.engine.framework.interface import Handle, Scores
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.claims_of_pod import uses_claim
from schedviz.engine.framework.plugins.helper.csi_translation import MIGRATED_PLUGINS, MIGRATION_ON_V1_36
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.volumebinding.assume_cache import PassiveClaimCache, PassiveVolumeCache
from schedviz.engine.framework.plugins.volumebinding.binder import VolumeBinder
from schedviz.engine.framework.plugins.volumebinding.capacity_score import capacity_score, shape_of
from schedviz.engine.framework.plugins.volumebinding.find_volumes import SearchRules
from schedviz.engine.framework.plugins.volumebinding.provisioning import volume_limit
from schedviz.engine.framework.plugins.volumebinding.state import STATE_KEY
from schedviz.engine.framework.plugins.volumebinding.volume_binding import VolumeBinding
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass


class VolumeBindingV136(VolumeBinding):
    rules: ClassVar[SearchRules] = SearchRules(
        node_conflict="node(s) didn't match PersistentVolume's node affinity", by_attributes_class=True, migrated=MIGRATION_ON_V1_36
    )
    narrows_nodes: ClassVar[bool] = False
    timeout_error: ClassVar[str] = "context deadline exceeded"
    no_volumes_error: ClassVar[str] = "no pod volume found for node"

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._binder = VolumeBinder(handle, PassiveClaimCache(), PassiveVolumeCache(), migrated=self.rules.migrated, lists_operators=True)
        self._scores_capacity = handle.features.storage_capacity_scoring
        self._shape = shape_of(args.shape)

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
        """Skip, unless the feature gate StorageCapacityScoring is on."""
        if not self._scores_capacity:
            return SKIP
        return SUCCESS if STATE_KEY in state else as_status("not found")

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        """How full the storage of each node would be, scored by the shape: by default, the emptier the higher."""
        try:
            claims = state.read(STATE_KEY).claims if self._scores_capacity else None
        except NotFoundError as error:
            return as_status(str(error))
        if claims is None or not claims.unbound_delayed:
            return uniform(len(rows), 0)
        search = self._search_for(claims)
        pod_volumes = [search.pod_volumes(Rows.of([info])) for info in rows.infos]
        nodes = [info.node for info in rows.infos]
        scores = [
            capacity_score(volumes, node, self._handle.objects, self._shape) for volumes, node in zip(pod_volumes, nodes, strict=True)
        ]
        return np.array(scores, np.int64)

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        """Skip if no claim is to be bound. Upstream: PreBindPreFlight"""
        try:
            data = state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        if data.all_bound:
            return SKIP
        if self._pod_volumes(data, node_name) is None:
            return as_status(f'{self.no_volumes_error} "{node_name}"')
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
    return queue_if(was is None or _migrated(was) != _migrated(after(CSINode, old, new)))


def _migrated(csi_node: CSINode) -> str:
    return csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")


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
    before, now = volume_limit(was), volume_limit(after(CSIStorageCapacity, old, new))
    return queue_if(now is not None and (before is None or now.value > before.value))
