"""NodeName of v1.36. Upstream: framework/plugins/nodename/node_name.go"""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.nodename.node_name import NodeName
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo, RegisteredEvent


class NodeNameV136(NodeName):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.NODE, ActionType.ADD),)

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.NODE_NAME, pod.pod.spec.node_name),)
