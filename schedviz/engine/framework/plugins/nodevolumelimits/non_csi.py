"""EBSLimits, GCEPDLimits, AzureDiskLimits: a node has room for one more disk of a kind.

Exact for now for pods without volumes of that kind. Upstream: framework/plugins/nodevolumelimits/non_csi.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class NonCSILimits:
    """One plugin for each kind of disk."""

    name: ClassVar[str]
    #: The member of a pod's volume that holds this kind of disk.
    source: ClassVar[str]

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD), ClusterEvent(GVK.POD, ActionType.DELETE))

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:  # noqa: ARG002
        """Disks of this kind, and claims: which may be bound to one."""
        return any(
            getattr(volume, self.source) is not None or volume.persistent_volume_claim is not None or volume.ephemeral is not None
            for volume in pod.pod.spec.volumes
        )

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None


class EBSLimits(NonCSILimits):
    name = names.EBS_LIMITS
    source = "aws_elastic_block_store"


class GCEPDLimits(NonCSILimits):
    name = names.GCE_PD_LIMITS
    source = "gce_persistent_disk"


class AzureDiskLimits(NonCSILimits):
    name = names.AZURE_DISK_LIMITS
    source = "azure_disk"


class CinderLimits(NonCSILimits):
    name = names.CINDER_LIMITS
    source = "cinder"
