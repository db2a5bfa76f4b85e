"""VolumeZone: a node is in the zones and regions of the labels of the pod's volumes.

Upstream: framework/plugins/volumezone/volume_zone.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import has_label, label_codes
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.claims import WAIT_FOR_FIRST_CONSUMER, class_of_claim
from schedviz.kube.core import Pod
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

_ZONE_CONFLICT: Final = unresolvable("node(s) had no available volume zone")

TOPOLOGY_LABELS: Final = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)
#: Separates the zones of a volume that is in several.
_DELIMITER: Final = "__"


class PVTopology(msgspec.Struct, frozen=True):
    """A label of a volume, and the values that the node's label may have, sorted."""

    key: str
    values: tuple[str, ...]


class StateData(msgspec.Struct, frozen=True):
    """The topology of the pod's volumes."""

    topologies: tuple[PVTopology, ...] = ()

    def clone(self) -> StateData:
        return self


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.VOLUME_ZONE}", StateData)


class UnusableVolumeError(ValueError):
    """A claim or a volume that cannot be used on any node."""


class VolumeZone:
    name = names.VOLUME_ZONE

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD),
            ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        try:
            topologies = self._topologies(pod.pod)
        except UnusableVolumeError as error:
            return None, unresolvable(str(error))
        if not topologies:
            return None, SKIP
        state.write(PRE_FILTER_STATE_KEY, StateData(topologies))
        return None, SUCCESS

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.PODS if pod.pod.spec.volumes else FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:
        if not pod.pod.spec.volumes:
            return None
        try:
            topologies = state.read(PRE_FILTER_STATE_KEY).topologies
        except NotFoundError:  # PreFilter is disabled, or failed before.
            try:
                topologies = self._topologies(pod.pod)
            except UnusableVolumeError as error:
                return Verdicts.all(len(rows), unresolvable(str(error)))
        conflicts = np.zeros(len(rows), np.bool_)
        for topology in topologies:
            conflicts |= self._conflicts(rows, topology)
        if not conflicts.any():
            return None
        # A node without any such label counts as a node of a single-zone cluster.
        has_topology_label = np.zeros(len(rows), np.bool_)
        for key in TOPOLOGY_LABELS:
            has_topology_label |= has_label(rows, key)
        return Verdicts.reject(conflicts & has_topology_label, _ZONE_CONFLICT)

    def _conflicts(self, rows: Rows, topology: PVTopology) -> Mask:
        """The rows whose label has none of the volume's values."""
        codes, values = label_codes(rows, topology.key)
        mask: Mask = np.array([value not in topology.values for value in values], np.bool_)[codes]
        return mask

    def _topologies(self, pod: Pod) -> tuple[PVTopology, ...]:
        """The topology of the pod's bound volumes. Raises `UnusableVolumeError`. Upstream: getPVbyPod"""
        topologies: list[PVTopology] = []
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None:
                continue
            persistent = self._volume_of(pod.namespace, volume.persistent_volume_claim.claim_name)
            if persistent is not None:
                topologies += topologies_of(persistent)
        return tuple(topologies)

    def _volume_of(self, namespace: str, claim_name: str) -> PersistentVolume | None:
        """The volume of a claim; None: it is bound when the pod has a node."""
        objects = self._handle.objects
        if not claim_name:
            raise UnusableVolumeError("PersistentVolumeClaim had no name")
        claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", namespace, claim_name)
        if claim is None:
            raise UnusableVolumeError(f'persistentvolumeclaim "{claim_name}" not found')
        if claim.spec.volume_name:
            volume: PersistentVolume | None = objects.get("PersistentVolume", "", claim.spec.volume_name)
            if volume is None:
                raise UnusableVolumeError(f'persistentvolume "{claim.spec.volume_name}" not found')
            return volume
        class_name = class_of_claim(claim)
        if not class_name:
            raise UnusableVolumeError("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class: StorageClass | None = objects.get("StorageClass", "", class_name)
        if storage_class is None:
            raise UnusableVolumeError(f'storageclass.storage.k8s.io "{class_name}" not found')
        if storage_class.volume_binding_mode is None:
            raise UnusableVolumeError(f'VolumeBindingMode not set for StorageClass "{class_name}"')
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return None
        raise UnusableVolumeError("PersistentVolume had no name")


def topologies_of(volume: PersistentVolume) -> list[PVTopology]:
    """The topology labels of a volume; one with an empty zone is ignored. Upstream: getPVTopologies"""
    topologies = []
    for key in TOPOLOGY_LABELS:
        zones = [zone.strip() for zone in volume.metadata.labels.get(key, "").split(_DELIMITER)]
        if all(zones):
            topologies.append(PVTopology(key, tuple(sorted(set(zones)))))
    return topologies
