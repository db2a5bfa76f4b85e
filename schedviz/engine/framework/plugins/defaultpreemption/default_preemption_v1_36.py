"""DefaultPreemption of v1.36: evicts victims asynchronously (SchedulerAsyncPreemption), and gates the preemptor meanwhile.

Upstream: framework/plugins/defaultpreemption/default_preemption.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import PodGroupDryRun, PostFilterResult
from schedviz.engine.framework.listers import find_pod_group
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption import DefaultPreemption
from schedviz.engine.framework.pod_groups import PodGroupInfo, group_of
from schedviz.engine.framework.preemption import NodeVictims, more_important_first
from schedviz.engine.framework.preemption.evaluator_v1_36 import EvaluatorV136
from schedviz.engine.framework.preemption.importance import ComputedCost
from schedviz.engine.framework.preemption.pod_group_evaluator import PodGroupEvaluator
from schedviz.engine.framework.status import SUCCESS, Status, unresolvable, unschedulable
from schedviz.engine.framework.types import (
    GVK,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.kube.meta import KubeObject
from schedviz.kube.workloads import PodGroup

_WAITING: Final = unresolvable("waiting for the preemption for this pod to be finished")
_GROUP_WAITING: Final = unresolvable("waiting for the preemption for this pod group to be finished")
_NO_GROUP: Final = unschedulable("preemption: pod group for pod not found")
_TRIED_BY_PLACEMENT: Final = unschedulable("preemption: not eligible due to placement-based pod group scheduling limitation")
_PREEMPTS_AS_A_GROUP: Final = unschedulable("preemption: not eligible due to workload aware preemption enabled")


class DefaultPreemptionV136(DefaultPreemption):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        """A deleted pod may end the gating; the plugins that rejected the pod decide whether it is requeued."""
        if not self._handle.features.scheduler_async_preemption:
            return ()
        return (ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.DELETE), _skip),)

    def pre_enqueue(self, pod: PodInfo) -> Status:
        features, preemptions = self._handle.features, self._handle.preemptions
        if not features.scheduler_async_preemption:
            return SUCCESS
        group = group_of(pod.pod)
        if group is None or not features.workload_aware_preemption:
            return _WAITING if preemptions.is_running_for(pod.uid) else SUCCESS
        pod_group = find_pod_group(self._handle.objects, group)
        return _GROUP_WAITING if pod_group is not None and preemptions.is_running_for(pod_group.metadata.uid) else SUCCESS

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        group = group_of(pod.pod)
        refusal = None if group is None else self._why_not_for_pod_of(group)
        if refusal is not None:
            return None, refusal
        result, status = EvaluatorV136(self.name, self._handle, state, self).preempt(pod, node_to_status)
        return result, Status(status.code, (f"preemption: {status.message}",)) if status.message else status

    def _why_not_for_pod_of(self, group: PodGroupInfo) -> Status | None:
        """Why no pods are evicted for a single pod of a group; None: they may be."""
        features = self._handle.features
        if features.topology_aware_workload_scheduling:
            pod_group = find_pod_group(self._handle.objects, group)
            if pod_group is None:
                return _NO_GROUP
            if pod_group.spec.scheduling_constraints is not None:
                return _TRIED_BY_PLACEMENT
        return _PREEMPTS_AS_A_GROUP if features.workload_aware_preemption else None

    def pod_group_post_filter(self, group: PodGroup, pods: Sequence[PodInfo], dry_run: PodGroupDryRun) -> tuple[Status, list[PodInfo]]:
        """Evict pods, or whole groups, so that the group can be scheduled. Upstream: PodGroupPostFilter"""
        return PodGroupEvaluator(self.name, self._handle, self._budgets()).preempt(group, pods, dry_run)

    def _outcome(
        self, node: str, pods: Sequence[PodInfo], can_stay: Sequence[bool], protected: int, computed_cost: ComputedCost | None = None
    ) -> NodeVictims | Status:
        """The victims in order of importance, whether a budget protects them or not."""
        outcome = super()._outcome(node, pods, can_stay, protected, computed_cost)
        if not isinstance(outcome, NodeVictims) or not 0 < protected < len(pods):
            return outcome
        return msgspec.structs.replace(outcome, pods=tuple(more_important_first(outcome.pods, self._handle.clock())))


def _skip(_pod: PodInfo, _old: KubeObject | None, _new: KubeObject | None) -> QueueingHint:
    """Upstream: isPodSchedulableAfterPodDeletion"""
    return QueueingHint.QUEUE_SKIP
