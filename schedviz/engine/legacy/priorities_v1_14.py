"""v1.14's priorities as Maps and Reduces. InterPodAffinityPriority, the only remaining Function, is in `inter_pod_affinity`.

Upstream: v1.14 pkg/scheduler/algorithm/priorities, pkg/scheduler/algorithmprovider/defaults
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from schedviz.engine.framework.plugins.helper.taint import PREFER_NO_SCHEDULE, tolerations_tolerate_taint
from schedviz.engine.framework.plugins.imagelocality.image_locality import MAX_CONTAINER_THRESHOLD, MIN_THRESHOLD, normalized_image_name
from schedviz.engine.framework.plugins.selectorspread.selector_spread import NO_ZONE, spread_scores
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.legacy.inter_pod_affinity import inter_pod_affinity
from schedviz.engine.legacy.prioritize_nodes import (
    EQUAL_PRIORITY,
    MAX_PRIORITY,
    HostPriority,
    HostPriorityList,
    Meta,
    PriorityConfig,
    PriorityError,
    PriorityReduceFunction,
)
from schedviz.kube.core import Pod
from schedviz.kube.meta import OwnerReference, controller_of
from schedviz.kube.node_affinity import preferred_scheduling_terms
from schedviz.kube.selectors import Selector, SelectorError, label_selector, selector_from_set
from schedviz.kube.zones import zone_key

_AVOID_PODS: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_AVOIDED_KINDS: Final = ("ReplicationController", "ReplicaSet")


def normalize_reduce(*, reverse: bool = False) -> PriorityReduceFunction:
    """Scale scores so that the highest becomes 10; reversed, the highest becomes 0. Upstream: NormalizeReduce"""

    def reduce(_pod: PodInfo, _meta: Meta, _infos: Mapping[str, NodeInfo], row: HostPriorityList) -> None:
        most = max((priority.score for priority in row), default=0)
        for priority in row:
            scaled = MAX_PRIORITY * priority.score // most if most else priority.score
            priority.score = (MAX_PRIORITY - scaled if most else MAX_PRIORITY) if reverse else scaled

    return reduce


# Resources. Upstream: resource_allocation.go, least_requested.go, most_requested.go, balanced_resource_allocation.go


def _amounts(pod: PodInfo, node_info: NodeInfo) -> tuple[tuple[int, int], tuple[int, int]]:
    """(requested with the pod, allocatable) of cpu and memory; a container that requests none counts for 100m and 200 MiB."""
    requested, used, offered = pod.requests, node_info.non_zero_requested, node_info.allocatable
    return (
        (used.milli_cpu + requested.non_zero_milli_cpu, offered.milli_cpu),
        (used.memory + requested.non_zero_memory, offered.memory),
    )


def least_requested_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """Higher for a larger free share; the mean of cpu and memory."""
    return sum(_free_share(requested, capacity) for requested, capacity in _amounts(pod, node_info)) // 2


def most_requested_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """Higher for a larger used share; the mean of cpu and memory."""
    return sum(_used_share(requested, capacity) for requested, capacity in _amounts(pod, node_info)) // 2


def _free_share(requested: int, capacity: int) -> int:
    return (capacity - requested) * MAX_PRIORITY // capacity if 0 < capacity >= requested else 0


def _used_share(requested: int, capacity: int) -> int:
    return requested * MAX_PRIORITY // capacity if 0 < capacity >= requested else 0


def balanced_resource_allocation_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """Higher the closer the used shares of cpu and memory are."""
    cpu, memory = (requested / capacity if capacity else 1.0 for requested, capacity in _amounts(pod, node_info))
    return 0 if cpu >= 1 or memory >= 1 else int((1 - abs(cpu - memory)) * MAX_PRIORITY)


# Node affinity and taints. Upstream: node_affinity.go, taint_toleration.go


def node_affinity_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """The sum of the weights of the preferred terms that the node matches."""
    affinity = pod.pod.spec.affinity.node_affinity if pod.pod.spec.affinity is not None else None
    if affinity is None or node_info.node is None:
        return 0
    try:
        return preferred_scheduling_terms(affinity.preferred).score(node_info.node)
    except SelectorError as error:
        raise PriorityError(str(error)) from None


def taint_toleration_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """The number of PreferNoSchedule taints that the pod does not tolerate."""
    soft = [toleration for toleration in pod.pod.spec.tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)]
    taints = node_info.node.spec.taints if node_info.node is not None else ()
    return sum(1 for taint in taints if taint.effect == PREFER_NO_SCHEDULE and not tolerations_tolerate_taint(soft, taint))


# Images. Upstream: image_locality.go


def image_locality_map(pod: PodInfo, meta: Meta, node_info: NodeInfo) -> int:
    """The size of the pod's images on the node, each scaled by the share of nodes that have it."""
    total = 0
    for container in pod.pod.spec.containers:
        state = node_info.image_states.get(normalized_image_name(container.image))
        if state is not None:
            total += int(float(state.size) * (float(state.num_nodes) / float(meta.total_num_nodes)))
    clamped = min(max(total, MIN_THRESHOLD), MAX_CONTAINER_THRESHOLD)
    return MAX_PRIORITY * (clamped - MIN_THRESHOLD) // (MAX_CONTAINER_THRESHOLD - MIN_THRESHOLD)


# Pods of the same service or controller. Upstream: selector_spreading.go, metadata.go getSelectors


def selector_spread_map(pod: PodInfo, meta: Meta, node_info: NodeInfo) -> int:
    """The number of pods on the node that all selectors of this pod's services and controllers match."""
    selectors = _selectors(pod.pod, meta)
    if not selectors:
        return 0
    return sum(
        1
        for other in node_info.pods
        if other.namespace == pod.namespace
        and other.pod.metadata.deletion_timestamp is None
        and all(selector.matches(other.pod.metadata.labels) for selector in selectors)
    )


def selector_spread_reduce(_pod: PodInfo, _meta: Meta, infos: Mapping[str, NodeInfo], row: HostPriorityList) -> None:
    """Higher for few matching pods on the node (one third) and in its zone (two thirds)."""
    numbers: dict[str, int] = {"": NO_ZONE}
    zones = []
    for priority in row:
        node = infos[priority.host].node
        zone = "" if node is None else zone_key(node)
        zones.append(numbers.setdefault(zone, len(numbers) - 1))
    counts = np.array([priority.score for priority in row], np.int64)
    for priority, score in zip(row, spread_scores(counts, np.array(zones, np.int64), MAX_PRIORITY).tolist(), strict=True):
        priority.score = score


def _selectors(pod: Pod, meta: Meta) -> list[Selector]:
    labels = pod.metadata.labels
    selectors = [
        selector_from_set(owner.spec.selector)
        for kind in ("Service", "ReplicationController")
        for owner in meta.objects.list(kind, pod.namespace)
        if owner.spec.selector
    ]
    for kind in ("ReplicaSet", "StatefulSet"):
        for owner in meta.objects.list(kind, pod.namespace):
            try:
                selector = label_selector(owner.spec.selector)
            except SelectorError:
                continue
            if not selector.is_empty:
                selectors.append(selector)
    return [selector for selector in selectors if selector.matches(labels)]


# Nodes that ask to avoid a controller's pods. Upstream: node_prefer_avoid_pods.go


def node_prefer_avoid_pods_map(pod: PodInfo, _meta: Meta, node_info: NodeInfo) -> int:
    """0 if the node's annotation names the pod's controller."""
    owner = controller_of(pod.pod)
    annotation = node_info.node.metadata.annotations.get(_AVOID_PODS, "") if node_info.node is not None else ""
    if owner is None or owner.kind not in _AVOIDED_KINDS or not annotation:
        return MAX_PRIORITY
    try:
        avoided = msgspec.json.decode(annotation, type=_AvoidPods).prefer_avoid_pods
    except msgspec.DecodeError:
        return MAX_PRIORITY
    return 0 if any(_names(avoid, owner) for avoid in avoided) else MAX_PRIORITY


class _PodSignature(msgspec.Struct, rename="camel"):
    pod_controller: dict[str, Any] = {}


class _AvoidPodsEntry(msgspec.Struct, rename="camel"):
    pod_signature: _PodSignature = msgspec.field(default_factory=_PodSignature)


class _AvoidPods(msgspec.Struct, rename="camel"):
    prefer_avoid_pods: list[_AvoidPodsEntry] = []


def _names(avoid: _AvoidPodsEntry, owner: OwnerReference) -> bool:
    controller = avoid.pod_signature.pod_controller
    return controller.get("kind") == owner.kind and controller.get("uid") == owner.uid


# All priorities by name.


def declared(name: str, weight: int, scores: Mapping[str, int]) -> PriorityConfig:
    """A priority with declared scores, as a Function."""

    def function(_pod: PodInfo, _meta: Meta, _infos: Mapping[str, NodeInfo], nodes: Sequence[str]) -> HostPriorityList:
        return [HostPriority(node, scores.get(node, 0)) for node in nodes]

    return PriorityConfig(name, function=function, weight=weight)


_BY_NAME: Final[dict[str, Callable[[int], PriorityConfig]]] = {
    "BalancedResourceAllocation": lambda weight: PriorityConfig(
        "BalancedResourceAllocation", map=balanced_resource_allocation_map, weight=weight
    ),
    "EqualPriority": lambda weight: msgspec.structs.replace(EQUAL_PRIORITY, weight=weight),
    "ImageLocalityPriority": lambda weight: PriorityConfig("ImageLocalityPriority", map=image_locality_map, weight=weight),
    "InterPodAffinityPriority": lambda weight: PriorityConfig("InterPodAffinityPriority", function=inter_pod_affinity, weight=weight),
    "LeastRequestedPriority": lambda weight: PriorityConfig("LeastRequestedPriority", map=least_requested_map, weight=weight),
    "MostRequestedPriority": lambda weight: PriorityConfig("MostRequestedPriority", map=most_requested_map, weight=weight),
    "NodeAffinityPriority": lambda weight: PriorityConfig(
        "NodeAffinityPriority", map=node_affinity_map, reduce=normalize_reduce(), weight=weight
    ),
    "NodePreferAvoidPodsPriority": lambda weight: PriorityConfig(
        "NodePreferAvoidPodsPriority", map=node_prefer_avoid_pods_map, weight=weight
    ),
    "SelectorSpreadPriority": lambda weight: PriorityConfig(
        "SelectorSpreadPriority", map=selector_spread_map, reduce=selector_spread_reduce, weight=weight
    ),
    "TaintTolerationPriority": lambda weight: PriorityConfig(
        "TaintTolerationPriority", map=taint_toleration_map, reduce=normalize_reduce(reverse=True), weight=weight
    ),
}

#: v1.14's default priorities: name -> weight. Upstream: algorithmprovider/defaults defaultPriorities
DEFAULT_PRIORITIES: Final = {
    "BalancedResourceAllocation": 1,
    "ImageLocalityPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "NodeAffinityPriority": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "SelectorSpreadPriority": 1,
    "TaintTolerationPriority": 1,
}


def priority_v1_14(name: str, weight: int = 1) -> PriorityConfig:
    """One of v1.14's priorities."""
    return _BY_NAME[name](weight)
