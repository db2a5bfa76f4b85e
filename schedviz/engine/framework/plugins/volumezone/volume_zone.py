"""VolumeZone: a node is in the zone of the pod's volumes.

Exact for now for pods without claims. Upstream: framework/plugins/volumezone/volume_zone.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, Status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class VolumeZone:
    name = names.VOLUME_ZONE

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (
            ClusterEvent(GVK.STORAGE_CLASS, ActionType.ADD),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, ActionType.ADD),
            ClusterEvent(GVK.PERSISTENT_VOLUME, ActionType.ADD | ActionType.UPDATE),
        )

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:  # noqa: ARG002
        return any(volume.persistent_volume_claim is not None for volume in pod.pod.spec.volumes)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        return None, SKIP

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None
