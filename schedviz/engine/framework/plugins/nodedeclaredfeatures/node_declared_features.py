"""NodeDeclaredFeatures: a node declares every feature that the pod needs of its kubelet. v1.36.

Upstream: framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go, component-helpers/nodedeclaredfeatures
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.cycle_state import CycleState, NotFoundError, StateKey
from schedviz.engine.framework.interface import FilterReads, Handle, PreFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper import signers
from schedviz.engine.framework.plugins.helper.hint_objects import after, before_and_after, queue_if
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SKIP, SUCCESS, Status, as_status, unresolvable
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
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Node, Pod
from schedviz.kube.meta import KubeObject

_MISSING_FEATURES: Final = unresolvable("node(s) didn't match Pod's required features")
#: Every feature that nodes can declare, sorted; the others concern updates of pods. Upstream: nodedeclaredfeatures/features/registry.go
_KNOWN_FEATURES: Final = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
)
_RESTART_ALL_CONTAINERS: Final = "RestartAllContainers"


class PreFilterState(msgspec.Struct, frozen=True):
    """The features that the pod needs, sorted."""

    required: tuple[str, ...]

    def clone(self) -> PreFilterState:
        return self


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.NODE_DECLARED_FEATURES}", PreFilterState)


def required_features(pod: Pod) -> tuple[str, ...]:
    """The features that a node must declare to run the pod, sorted. Upstream: component-helpers/nodedeclaredfeatures/features"""
    spec, features = pod.spec, []
    rules = [rule for container in spec.all_containers for rule in container.restart_policy_rules]
    if any(rule.action == _RESTART_ALL_CONTAINERS for rule in rules):
        features.append("RestartAllContainersOnContainerExits")
    if spec.host_network and spec.host_users is False:
        features.append("UserNamespacesHostNetworkSupport")
    return tuple(features)


class NodeDeclaredFeatures:
    name = names.NODE_DECLARED_FEATURES

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._is_on = handle.features.node_declared_features

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        if not self._is_on:
            return ()
        nodes = ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE
        return (
            ClusterEventWithHint(ClusterEvent(GVK.NODE, nodes), _after_node_change),
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.UPDATE), _after_pod_update),
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, snapshot: SharedLister) -> tuple[PreFilterResult | None, Status]:  # noqa: ARG002
        required = required_features(pod.pod) if self._is_on else ()
        if not required:
            return None, SKIP
        state.write(PRE_FILTER_STATE_KEY, PreFilterState(required))
        return None, SUCCESS

    def filter_reads(self, state: CycleState, pod: PodInfo) -> FilterReads:  # noqa: ARG002 - the extension point's shape
        return FilterReads.NODE

    def filter(self, state: CycleState, pod: PodInfo, rows: Rows) -> Verdicts | None:  # noqa: ARG002 - the extension point's shape
        if not self._is_on:
            return None
        try:
            required = state.read(PRE_FILTER_STATE_KEY).required
        except NotFoundError as error:
            return Verdicts.all(len(rows), as_status(f'error reading "{PRE_FILTER_STATE_KEY.name}" from cycle-state: {error}'))

        def lacks(node_info: NodeInfo) -> int:
            declared = () if node_info.node is None else node_info.node.status.declared_features
            return not set(required).issubset(declared)

        lacking = rows.node_column((self.name, required), lacks, np.bool_).astype(np.bool_, copy=False)
        return Verdicts(lacking.astype(np.int16), (SUCCESS, _MISSING_FEATURES)) if lacking.any() else None

    def sign_pod(self, pod: PodInfo) -> Sequence[tuple[str, object]]:
        required = required_features(pod.pod)
        return ((signers.REQUIRED_FEATURES, "".join("1" if feature in required else "0" for feature in _KNOWN_FEATURES)),)


def _after_node_change(_pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Any change of the features queues the pod, whether or not the node has those that it needs. Upstream: isSchedulableAfterNodeChange"""
    old_node, _ = before_and_after(Node, old, new)
    return queue_if(old_node is None or old_node.status.declared_features != after(Node, old, new).status.declared_features)


def _after_pod_update(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodUpdate"""
    old_pod, _ = before_and_after(Pod, old, new)
    new_pod = after(Pod, old, new)
    return queue_if(new_pod.uid == pod.uid and (old_pod is None or required_features(old_pod) != required_features(new_pod)))
