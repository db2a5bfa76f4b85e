"""NodePorts of v1.36: sidecars have ports too. Upstream: framework/plugins/nodeports/node_ports.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import before, has_place, queue_if
from schedviz.engine.framework.plugins.nodeports.node_ports import NodePorts
from schedviz.engine.framework.status import SKIP, Status
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    HostPortInfo,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject


class NodePortsV136(NodePorts):
    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._handle = handle

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE), self._after_pod_deleted),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD)),
        )

    def _after_pod_deleted(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterPodDeleted"""
        deleted = before(Pod, old, new)
        if not has_place(deleted):
            return QueueingHint.QUEUE_SKIP
        freed = HostPortInfo()
        for port in pod.info_of(deleted).host_ports:
            freed.add(port)
        return queue_if(any(freed.check_conflict(port) for port in pod.host_ports))

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        return super().pre_filter(state, pod, snapshot) if pod.host_ports else (None, SKIP)

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.HOST_PORTS, signers.host_ports(pod.pod)),)
