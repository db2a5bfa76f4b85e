"""NodeUnschedulable of v1.36. Upstream: framework/plugins/nodeunschedulable/node_unschedulable.go"""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.helper.taint import tolerations_tolerate_taint
from schedviz.engine.framework.plugins.nodeunschedulable.node_unschedulable import CORDON, NodeUnschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject


class NodeUnschedulableV136(NodeUnschedulable):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT), _after_node_change),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.UPDATE_POD_TOLERATION), _after_pod_toleration_change),
        )

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.TOLERATIONS, signers.tolerations(pod.pod)),)


def _after_node_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterNodeChange"""
    old_node, _ = before_and_after(Node, old, new)
    new_node = after(Node, old, new)
    return queue_if(not new_node.spec.unschedulable and (old_node is None or old_node.spec.unschedulable))


def _after_pod_toleration_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodTolerationChange"""
    changed = after(Pod, old, new)
    # Gt and Lt never tolerate this taint: it has no value.
    return queue_if(changed.uid == pod.uid and tolerations_tolerate_taint(changed.spec.tolerations, CORDON))
