"""DefaultPreemption of v1.36: evicts beside the scheduling cycles (SchedulerAsyncPreemption), and gates the preemptor meanwhile.

Upstream: framework/plugins/defaultpreemption/default_preemption.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import PostFilterResult
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption import DefaultPreemption
from schedviz.engine.framework.preemption import NodeVictims, more_important_first
from schedviz.engine.framework.preemption.evaluator_v1_36 import EvaluatorV136
from schedviz.engine.framework.status import SUCCESS, Status, unresolvable
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    NodeInfo,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.kube.meta import KubeObject

_WAITING: Final = unresolvable("waiting for the preemption for this pod to be finished")


class DefaultPreemptionV136(DefaultPreemption):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        """A deleted pod may end the gating; the plugins that rejected the pod decide whether it is requeued."""
        if not self._handle.features.scheduler_async_preemption:
            return ()
        return (ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE), _skip),)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        is_waiting = self._handle.features.scheduler_async_preemption and self._handle.preemptions.is_running_for(pod.uid)
        return _WAITING if is_waiting else SUCCESS

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        result, status = EvaluatorV136(self.name, self._handle, state, self).preempt(pod, node_to_status)
        return result, Status(status.code, (f"preemption: {status.message}",)) if status.message else status

    def _outcome(self, node_info: NodeInfo, tried: Sequence[tuple[PodInfo, bool]], protected: int) -> NodeVictims | Status:
        """The victims in order of importance, whether a budget protects them or not."""
        found = super()._outcome(node_info, tried, protected)
        if not isinstance(found, NodeVictims) or not 0 < protected < len(tried):
            return found
        victims = tuple(more_important_first(found.pods, self._handle.clock()))
        return NodeVictims(found.node, victims, found.num_pdb_violations, found.tried, found.protected)


def _skip(_pod: PodInfo, _old: KubeObject | None, _new: KubeObject | None) -> QueueingHint:
    """Upstream: isPodSchedulableAfterPodDeletion"""
    return QueueingHint.QUEUE_SKIP
