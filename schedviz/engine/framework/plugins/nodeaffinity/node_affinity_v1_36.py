"""NodeAffinity of v1.36. Upstream: framework/plugins/nodeaffinity/node_affinity.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.nodeaffinity.node_affinity import NodeAffinity, matches
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, Status
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    PodInfo,
    QueueingHint,
    QueueingHintError,
    RegisteredEvent,
)
from schedviz.kube.core import Node
from schedviz.kube.meta import KubeObject
from schedviz.kube.node_affinity import RequiredNodeAffinity, required_node_affinity
from schedviz.kube.selectors import SelectorError


class NodeAffinityV136(NodeAffinity):
    lists_operators: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        event = ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(event, self._after_node_change),)

    def _after_node_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterNodeChange"""
        old_node, _ = before_and_after(Node, old, new)
        new_node = after(Node, old, new)
        added = self._added_node_selector
        if added is not None and not matches(RequiredNodeAffinity(nodes=added), new_node):
            return QueueingHint.QUEUE_SKIP
        required = required_node_affinity(pod.pod, lists_operators=True)
        try:
            if not required.match(new_node):
                return QueueingHint.QUEUE_SKIP
            return queue_if(old_node is None or not required.match(old_node))
        except SelectorError as error:
            raise QueueingHintError(str(error)) from None

    def pre_score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Status:
        """Skip if nothing is preferred."""
        affinity = pod.pod.spec.affinity.node_affinity if pod.pod.spec.affinity is not None else None
        if not (affinity is not None and affinity.preferred) and not self._added_pref_sched_terms.terms:
            return SKIP
        return super().pre_score(state, pod, rows)

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return (
            (signers.NODE_AFFINITY, signers.node_affinity(pod.pod)),
            (signers.NODE_SELECTOR, signers.labels(pod.pod.spec.node_selector)),
        )
