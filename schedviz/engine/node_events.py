"""The cluster event of a node's change, and the check whether a pod can benefit from it.

Upstream: pkg/scheduler/eventhandlers.go nodeSchedulingPropertiesChange, preCheckForNode
"""

from __future__ import annotations

from collections.abc import Callable

from schedviz.engine.framework.plugins.helper.taint import find_matching_untolerated_taint
from schedviz.engine.framework.plugins.nodeaffinity import node_affinity as nodeaffinity
from schedviz.engine.framework.plugins.nodename import node_name as nodename
from schedviz.engine.framework.plugins.nodeports import node_ports as nodeports
from schedviz.engine.framework.plugins.noderesources import fit as noderesources
from schedviz.engine.framework.types import ClusterEvent, NodeInfo, PodInfo
from schedviz.engine.queue.v1_27 import events as queue_events
from schedviz.kube.core import Node
from schedviz.kube.node_affinity import required_node_affinity


def node_scheduling_properties_change(new: Node, old: Node) -> ClusterEvent | None:
    """The first change that can make pods schedulable; None: there is none."""
    if old.spec.unschedulable and not new.spec.unschedulable:
        return queue_events.NODE_SPEC_UNSCHEDULABLE_CHANGE
    if old.status.allocatable != new.status.allocatable:
        return queue_events.NODE_ALLOCATABLE_CHANGE
    if old.metadata.labels != new.metadata.labels:
        return queue_events.NODE_LABEL_CHANGE
    if old.spec.taints != new.spec.taints:
        return queue_events.NODE_TAINT_CHANGE
    if _conditions(old) != _conditions(new):
        return queue_events.NODE_CONDITION_CHANGE
    return None


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def pre_check_for_node(node_info: NodeInfo) -> Callable[[PodInfo], bool]:
    """Whether a pod may fit on this node, by resources, node affinity, node name, host ports and NoSchedule taints.

    A pod that preemption would help may be rejected here; the flush of old unschedulable pods retries it.
    """

    def check(pod: PodInfo) -> bool:
        node = node_info.node
        if node is None:
            return False
        return (
            not noderesources.fits(pod, node_info)
            and nodeaffinity.matches(required_node_affinity(pod.pod), node)
            and nodename.fits(pod, node_info)
            and nodeports.fits(pod, node_info)
            and find_matching_untolerated_taint(node.spec.taints, pod.pod.spec.tolerations, ("NoSchedule",)) is None
        )

    return check
