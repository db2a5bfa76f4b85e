"""InterPodAffinity: pods near to, or far from, pods that they (or that those) ask for.

Exact for now for pods without terms in clusters where no pod has required anti-affinity or preferred terms.
Upstream: framework/plugins/interpodaffinity
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedviz.engine.config.plugin_args import InterPodAffinityArgs
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts


class InterPodAffinity:
    name = names.INTER_POD_AFFINITY

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle

    def events_to_register(self) -> Sequence[ClusterEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.ALL),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
        )

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:
        return pod.has_affinity or (snapshot is not None and bool(snapshot.have_pods_with_affinity_node_info_list))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        return None, SKIP

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
        return scores
