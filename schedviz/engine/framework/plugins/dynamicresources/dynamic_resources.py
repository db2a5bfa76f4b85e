"""DynamicResources, for pods without resource claims. v1.36.

The allocator is not part of this version of schedviz: a pod with claims is rejected with a sentence that says so.

Upstream: framework/plugins/dynamicresources/dynamicresources.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, StateKey
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import Handle, PostFilterResult, PreFilterResult, Scores
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import GVK, ActionType, ClusterEvent, ClusterEventWithHint, PodInfo, QueueingHint, RegisteredEvent
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.meta import KubeObject

_NOT_SUPPORTED: Final = unresolvable("schedviz does not allocate devices yet: the pod has resource claims")


class StateData(msgspec.Struct, frozen=True):
    """Written by PreFilter, so that PostFilter knows that it ran."""

    def clone(self) -> StateData:
        return self


STATE_KEY: Final = StateKey(names.DYNAMIC_RESOURCES, StateData)


class DynamicResources:
    name = names.DYNAMIC_RESOURCES

    def __init__(self, _args: Any, _handle: Handle) -> None:
        pass

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        add_or_update = ActionType.ADD | ActionType.UPDATE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.NODE, nodes)),
            ClusterEventWithHint(ClusterEvent(GVK.RESOURCE_CLAIM, add_or_update), _cannot_help),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM), _cannot_help),
            ClusterEventWithHint(ClusterEvent(GVK.DEVICE_CLASS, add_or_update)),
            ClusterEventWithHint(ClusterEvent(GVK.RESOURCE_SLICE, add_or_update)),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        if pod.pod.spec.resource_claims:
            return None, _NOT_SUPPORTED
        state.write(STATE_KEY, StateData())
        return None, SKIP

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        return None

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:  # noqa: ARG002
        if STATE_KEY not in state:
            return None, as_status("not found")
        return None, unschedulable("no new claims to deallocate")

    def score(self, state: CycleState, pod: PodInfo, rows: Rows) -> Scores | Status:  # noqa: ARG002 - the extension point's shape
        return uniform(len(rows), 0)

    def normalize_score(self, state: CycleState, pod: PodInfo, scores: Scores) -> Scores | Status:  # noqa: ARG002
        return np.zeros_like(scores)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Nothing was reserved."""

    def pre_bind_pre_flight(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:  # noqa: ARG002 - the extension point's shape
        return SKIP

    def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status | None:  # noqa: ARG002 - the extension point's shape
        return SUCCESS

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]] | None:
        return None if pod.pod.spec.resource_claims else ()


def _cannot_help(_pod: PodInfo, _old: KubeObject | None, _new: KubeObject | None) -> QueueingHint:
    """Without an allocator no claim can help a pod."""
    return QueueingHint.QUEUE_SKIP
