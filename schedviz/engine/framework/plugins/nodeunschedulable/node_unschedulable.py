"""NodeUnschedulable: a cordoned node accepts only pods that tolerate its taint.

Upstream: framework/plugins/nodeunschedulable/node_unschedulable.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import FilterReads, Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.taint import NO_SCHEDULE, tolerations_tolerate_taint
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Taint

_UNKNOWN_CONDITION: Final = unresolvable("node(s) had unknown conditions")
_UNSCHEDULABLE: Final = unresolvable("node(s) were unschedulable")

#: The taint of a cordoned node; a pod that tolerates it also tolerates `spec.unschedulable`.
CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulable:
    name = names.NODE_UNSCHEDULABLE

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT),)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        if not rows.any_node(self.name, _condition, np.int8):
            return None
        codes = rows.node_column(self.name, _condition, np.int8)
        if tolerations_tolerate_taint(pod.pod.spec.tolerations, CORDON):
            return Verdicts.reject(codes == 1, _UNKNOWN_CONDITION)
        return Verdicts(codes, (SUCCESS, _UNKNOWN_CONDITION, _UNSCHEDULABLE))


def _condition(node_info: NodeInfo) -> int:
    if node_info.node is None:
        return 1
    return 2 if node_info.node.spec.unschedulable else 0
