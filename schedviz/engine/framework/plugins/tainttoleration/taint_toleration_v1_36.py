"""TaintToleration of v1.36: one message for all taints, and tolerations that compare numbers (TaintTolerationComparisonOperators).

Upstream: framework/plugins/tainttoleration/taint_toleration.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.plugins.helper.taint import HARD_TAINT_EFFECTS
from schedviz.engine.framework.plugins.helper.taint_comparison import tolerations_tolerate_taint_v1_36
from schedviz.engine.framework.plugins.tainttoleration.taint_toleration import TaintToleration, taint_sets_of
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.affinity import Toleration
from schedviz.kube.core import Node, Pod, Taint
from schedviz.kube.meta import KubeObject

_UNTOLERATED: Final = unresolvable("node(s) had untolerated taint(s)")


class TaintTolerationV136(TaintToleration):
    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._compares = handle.features.taint_toleration_comparison_operators

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT), self._after_node_change),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.UPDATE_POD_TOLERATION), _after_pod_toleration_change),
        )

    def _after_node_change(self, pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Upstream: isSchedulableAfterNodeChange"""
        old_node, _ = before_and_after(Node, old, new)
        new_node = after(Node, old, new)
        tolerations = pod.pod.spec.tolerations
        was_untolerated = old_node is None or self._is_untolerated(old_node.spec.taints, tolerations)
        return queue_if(was_untolerated and not self._is_untolerated(new_node.spec.taints, tolerations))

    def _is_untolerated(self, taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> bool:
        return any(taint.effect in HARD_TAINT_EFFECTS and not self._tolerate(tolerations, taint) for taint in taints)

    def _tolerate(self, tolerations: Sequence[Toleration], taint: Taint) -> bool:
        return tolerations_tolerate_taint_v1_36(tolerations, taint, compares=self._compares)

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        classes, taint_sets = taint_sets_of(rows, HARD_TAINT_EFFECTS)
        tolerations = pod.pod.spec.tolerations
        rejects = [self._is_untolerated(taints, tolerations) for taints in taint_sets]
        if not any(rejects):
            return None
        return Verdicts(np.array(rejects, np.int16)[classes], (SUCCESS, _UNTOLERATED))

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        return ((signers.TOLERATIONS, signers.tolerations(pod.pod)),)


def _after_pod_toleration_change(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodTolerationChange"""
    return queue_if(after(Pod, old, new).uid == pod.uid)
