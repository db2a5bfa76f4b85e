"""VolumeZone of v1.36: a volume's beta label also meets a node's GA label. Upstream: framework/plugins/volumezone/volume_zone.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.claims_of_pod import uses_claim
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.helper.topology import has_label, label_codes
from schedviz.engine.framework.plugins.volumezone.volume_zone import PVTopology, VolumeZone, topologies_of
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.verdicts import Mask
from schedviz.kube.claims import WAIT_FOR_FIRST_CONSUMER
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

_GA_LABEL: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}


class VolumeZoneV136(VolumeZone):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD), _after_class_added),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, add_or_update), _after_claim_change),
            ClusterEventWithHint(ClusterEvent(GVK.PERSISTENT_VOLUME, add_or_update), _after_volume_change),
        )

    def _conflicts(self, rows: Rows, topology: PVTopology) -> Mask:
        mask = self._has_other_value(rows, topology.key, topology)
        other_label = _GA_LABEL.get(topology.key)
        if other_label is None:
            return mask
        return np.where(has_label(rows, topology.key), mask, self._has_other_value(rows, other_label, topology))

    def _has_other_value(self, rows: Rows, key: str, topology: PVTopology) -> Mask:
        codes, values = label_codes(rows, key)
        mask: Mask = np.array([value not in topology.values for value in values], np.bool_)[codes]
        return mask

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.VOLUMES, signers.volumes(pod.pod)),)


def _after_class_added(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterStorageClassAdded"""
    return queue_if(after(StorageClass, old, new).volume_binding_mode == WAIT_FOR_FIRST_CONSUMER)


def _after_claim_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPersistentVolumeClaimChange"""
    return queue_if(uses_claim(pod.pod, after(PersistentVolumeClaim, old, new), ephemeral=False))


def _after_volume_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPersistentVolumeChange"""
    old_volume, _ = before_and_after(PersistentVolume, old, new)
    return queue_if(old_volume is None or topologies_of(old_volume) != topologies_of(after(PersistentVolume, old, new)))
