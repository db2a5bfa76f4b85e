"""NodePorts: the host ports that a pod requests are free. Upstream: framework/plugins/nodeports/node_ports.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, HostPort, NodeInfo, PodInfo, RegisteredEvent
from schedviz.engine.framework.verdicts import Mask, Verdicts

ERR_REASON: Final = "node(s) didn't have free ports for the requested pod ports"
_PORT_CONFLICT: Final = unschedulable(ERR_REASON)


class PreFilterState(msgspec.Struct, frozen=True):
    """The host ports that the pod requests."""

    ports: tuple[HostPort, ...]

    def clone(self) -> PreFilterState:
        return self


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.NODE_PORTS}", PreFilterState)


def fits(pod: PodInfo, node_info: NodeInfo) -> bool:
    """Whether all ports that the pod requests are free on the node. Upstream: framework/plugins/nodeports/node_ports.go Fits"""
    return not any(node_info.used_ports.check_conflict(port) for port in pod.host_ports)


class NodePorts:
    name = names.NODE_PORTS

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEvent(GVK.POD, ActionType.DELETE),
            ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        state.write(PRE_FILTER_STATE_KEY, PreFilterState(pod.host_ports))
        return None, SUCCESS

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.PODS if pod.host_ports else FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        try:
            ports = state.read(PRE_FILTER_STATE_KEY).ports
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'reading "{PRE_FILTER_STATE_KEY.name}" from cycleState: {error}'))
        if not ports:
            return None
        conflicts = np.zeros(len(rows), np.bool_)
        for port in ports:
            conflicts |= _conflicts(rows, port)
        return Verdicts.reject(conflicts, _PORT_CONFLICT)


def _conflicts(rows: Rows, port: HostPort) -> Mask:
    def compute(node_info: NodeInfo) -> int:
        return node_info.used_ports.check_conflict(port)

    return rows.info_column((names.NODE_PORTS, port), compute, np.bool_).astype(np.bool_, copy=False)
