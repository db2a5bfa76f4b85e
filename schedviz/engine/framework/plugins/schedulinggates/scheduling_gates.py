"""SchedulingGates: a pod with gates does not enter activeQ. Upstream: framework/plugins/schedulinggates/scheduling_gates.go"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.status import SUCCESS, Status, unresolvable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, PodInfo, RegisteredEvent


class SchedulingGates:
    name = names.SCHEDULING_GATES

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def pre_enqueue(self, pod: PodInfo) -> Status:
        gates = pod.pod.spec.scheduling_gates
        if not gates:
            return SUCCESS
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (ClusterEvent(GVK.POD, ActionType.UPDATE),)
