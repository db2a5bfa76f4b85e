"""NodeName: a pod that names a node fits only there. Upstream: framework/plugins/nodename/node_name.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import FilterReads, Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts

ERR_REASON: Final = "node(s) didn't match the requested node name"
_OTHER_NODE: Final = unresolvable(ERR_REASON)


def fits(pod: PodInfo, node_info: NodeInfo) -> bool:
    """Whether the pod names no node, or this one. Upstream: framework/plugins/nodename/node_name.go Fits"""
    return pod.pod.spec.node_name in ("", node_info.name)


class NodeName:
    name = names.NODE_NAME

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE),)

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        node_name = pod.pod.spec.node_name
        if not node_name:
            return None
        return Verdicts.reject(np.array([name != node_name for name in rows.names]), _OTHER_NODE)
