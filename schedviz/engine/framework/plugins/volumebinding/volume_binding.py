"""VolumeBinding: the pod's claims are bound, or can be bound to volumes that its node reaches.

Exact for now for pods without claims. Upstream: framework/plugins/volumebinding/volume_binding.go
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from schedviz.engine.config.plugin_args import VolumeBindingArgs
from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class StateData(msgspec.Struct):
    """What is known of the pod's volumes. Upstream: stateData"""

    all_bound: bool = False

    def clone(self) -> StateData:
        """The same object: nodes that are tried do not change it."""
        return self


STATE_KEY = StateKey(names.VOLUME_BINDING, StateData)


class VolumeBinding:
    name = names.VOLUME_BINDING

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEvent(GVK.STORAGE_CLASS, add_or_update),
            ClusterEvent(GVK.PERSISTENT_VOLUME_CLAIM, add_or_update),
            ClusterEvent(GVK.PERSISTENT_VOLUME, add_or_update),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
            ClusterEvent(GVK.CSI_NODE, add_or_update),
            ClusterEvent(GVK.CSI_DRIVER, add_or_update),
            ClusterEvent(GVK.CSI_STORAGE_CAPACITY, add_or_update),
        )

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:  # noqa: ARG002
        return any(volume.persistent_volume_claim is not None or volume.ephemeral is not None for volume in pod.pod.spec.volumes)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        state.write(STATE_KEY, StateData())
        return None, SKIP

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        """Nothing: the gate VolumeCapacityPriority is off."""
        return np.zeros(len(rows), np.int64)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        try:
            state.read(STATE_KEY).all_bound = True
        except NotFoundError as error:
            return as_status(str(error))
        return SUCCESS

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        try:
            state.read(STATE_KEY)
        except NotFoundError as error:
            return as_status(str(error))
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Nothing was assumed."""
