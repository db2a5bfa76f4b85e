"""SchedulingGates of v1.36. Upstream: framework/plugins/schedulinggates/scheduling_gates.go"""

from __future__ import annotations

from collections.abc import Sequence

from schedviz.engine.framework.plugins.helper.hint_objects import after, queue_if
from schedviz.engine.framework.plugins.schedulinggates.scheduling_gates import SchedulingGates
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject


class SchedulingGatesV136(SchedulingGates):
    def events_to_register(self) -> Sequence[RegisteredEvent]:
        event = ClusterEvent(GVK.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (ClusterEventWithHint(event, _after_gates_eliminated),)


def _after_gates_eliminated(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterUpdatePodSchedulingGatesEliminated"""
    return queue_if(after(Pod, old, new).uid == pod.uid)
