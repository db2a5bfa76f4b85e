"""PodTopologySpread: matching pods lie evenly over zones, hosts, or whatever the pod says.

Exact for now for pods without constraints. Upstream: framework/plugins/podtopologyspread
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from schedviz.engine.config.plugin_args import PodTopologySpreadArgs
from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class PreFilterState(msgspec.Struct):
    """What Filter needs to know."""

    def clone(self) -> PreFilterState:
        return self


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.POD_TOPOLOGY_SPREAD}", PreFilterState)


class PodTopologySpread:
    name = names.POD_TOPOLOGY_SPREAD

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.ALL),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL),
        )

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:  # noqa: ARG002
        return bool(pod.pod.spec.topology_spread_constraints)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        state.write(PRE_FILTER_STATE_KEY, PreFilterState())
        return None, SUCCESS

    def add_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_add: PodInfo, node_info: NodeInfo) -> Status:  # noqa: ARG002
        return SUCCESS

    def remove_pod(self, state: CycleState, pod_to_schedule: PodInfo, pod_to_remove: PodInfo, node_info: NodeInfo) -> Status:  # noqa: ARG002
        return SUCCESS

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        return np.zeros(len(rows), np.int64)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return np.full_like(scores, MAX_NODE_SCORE)
