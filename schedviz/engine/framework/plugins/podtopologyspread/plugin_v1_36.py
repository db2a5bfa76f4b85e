"""PodTopologySpread of v1.36. Upstream: framework/plugins/podtopologyspread/plugin.go"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins.helper.hint_objects import before_and_after, has_place, queue_if
from schedviz.engine.framework.plugins.podtopologyspread import filtering
from schedviz.engine.framework.plugins.podtopologyspread.constraint import Constraint
from schedviz.engine.framework.plugins.podtopologyspread.filtering import PRE_FILTER_STATE_KEY
from schedviz.engine.framework.plugins.podtopologyspread.plugin import DO_NOT_SCHEDULE, PodTopologySpread
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status
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
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.selectors import SelectorError


class PodTopologySpreadV136(PodTopologySpread):
    _counts_by_constraint = True

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        pods = ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION | ActionType.DELETE
        nodes = ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
        return (
            ClusterEventWithHint(ClusterEvent(GVK.POD, pods), self._after_pod_change),
            ClusterEventWithHint(ClusterEvent(GVK.NODE, nodes), self._after_node_change),
        )

    def _constraints(self, pod: PodInfo, action: str) -> tuple[Constraint, ...]:
        constraints = super()._constraints(pod, action)
        if not self._handle.features.taint_toleration_comparison_operators:
            return constraints
        return tuple(replace(constraint, compares_taints=True) for constraint in constraints)

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:
        """Skip without a hard constraint."""
        try:
            constraints = self._constraints(pod, DO_NOT_SCHEDULE)
        except SelectorError as error:
            return None, as_status(f"get constraints from pod: obtaining pod's hard topology spread constraints: {error}")
        if not constraints:
            return None, SKIP
        state.write(PRE_FILTER_STATE_KEY, filtering.cal_pre_filter_state(snapshot.rows(), pod, constraints, by_constraint=True))
        return None, SUCCESS

    def _pre_score_nothing(self, state: CycleState) -> Status:  # noqa: ARG002 - nothing is left for Score, which is skipped
        return SKIP

    def _hard_constraints(self, pod: PodInfo) -> tuple[Constraint, ...]:
        """Upstream: getConstraints"""
        try:
            return self._constraints(pod, DO_NOT_SCHEDULE)
        except SelectorError as error:
            raise QueueingHintError(f"obtaining pod's hard topology spread constraints: {error}") from None

    def _after_pod_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterPodChange"""
        old_pod, new_pod = before_and_after(Pod, old, new)
        if any(pod_ is not None and not _is_involved(pod_, pod.pod) for pod_ in (new_pod, old_pod)):
            return QueueingHint.QUEUE_SKIP
        constraints = self._hard_constraints(pod)
        if old_pod is None or new_pod is None:
            changed = new_pod or old_pod
            assert changed is not None
            labels = changed.metadata.labels
            return queue_if(any(constraint.selector.matches(labels) for constraint in constraints))
        has_new_toleration = new_pod.uid == pod.uid and new_pod.spec.tolerations != old_pod.spec.tolerations
        if has_new_toleration and any(constraint.honors_taints for constraint in constraints):
            return QueueingHint.QUEUE
        old_labels, new_labels = old_pod.metadata.labels, new_pod.metadata.labels
        return queue_if(
            old_labels != new_labels
            and any(constraint.selector.matches(old_labels) != constraint.selector.matches(new_labels) for constraint in constraints)
        )

    def _after_node_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterNodeChange"""
        old_node, new_node = before_and_after(Node, old, new)
        keys = [constraint.topology_key for constraint in self._hard_constraints(pod)]
        if old_node is None or new_node is None:
            changed = new_node or old_node
            assert changed is not None
            return queue_if(_has_all(changed.metadata.labels, keys))
        old_labels, new_labels = old_node.metadata.labels, new_node.metadata.labels
        if _has_all(old_labels, keys) != _has_all(new_labels, keys):
            return QueueingHint.QUEUE
        is_changed = any(old_labels.get(key, "") != new_labels.get(key, "") for key in keys) or old_node.spec.taints != new_node.spec.taints
        return queue_if(_has_all(new_labels, keys) and is_changed)

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        """None for a pod with constraints, its own or the defaults: where others are changes its scores."""
        if pod.pod.spec.topology_spread_constraints or self._default_constraints:
            return None
        return ()


def _is_involved(other: Pod, pod: Pod) -> bool:
    """Upstream: involvedInTopologySpreading"""
    return other.uid == pod.uid or (has_place(other) and other.namespace == pod.namespace)


def _has_all(labels: Mapping[str, str], keys: Sequence[str]) -> bool:
    return all(key in labels for key in keys)
