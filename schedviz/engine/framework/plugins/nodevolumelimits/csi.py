"""NodeVolumeLimits: a node has room for one more volume of a CSI driver.

Exact for now for pods without claims and inline CSI volumes. Upstream: framework/plugins/nodevolumelimits/csi.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class CSILimits:
    name = names.NODE_VOLUME_LIMITS

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (ClusterEvent(GVK.CSI_NODE, ActionType.ADD), ClusterEvent(GVK.POD, ActionType.DELETE))

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:  # noqa: ARG002
        """Claims (which may be bound to a volume of a CSI driver, or of a disk that is migrated to one) and disks that may be."""
        return any(
            volume.persistent_volume_claim is not None
            or volume.ephemeral is not None
            or any(source is not None for source in (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.azure_disk))
            for volume in pod.pod.spec.volumes
        )

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None
