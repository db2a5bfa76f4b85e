"""InterPodAffinityPriority: a Function, because a pod's term about one node counts for all nodes of the same domain.

Upstream: v1.14 pkg/scheduler/algorithm/priorities/interpod_affinity.go CalculateInterPodAffinityPriority
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from schedviz.engine.framework.affinity_terms import AffinityTerm
from schedviz.engine.framework.plugins.interpodaffinity.terms import namespace_labels
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.legacy.prioritize_nodes import MAX_PRIORITY, HostPriority, HostPriorityList, Meta, PriorityError

#: The weight of an existing pod's required affinity towards matching pods. Upstream: HardPodAffinitySymmetricWeight
HARD_POD_AFFINITY_WEIGHT: Final = 1


def inter_pod_affinity(pod: PodInfo, meta: Meta, infos: Mapping[str, NodeInfo], nodes: Sequence[str]) -> HostPriorityList:
    """The sum of the weights of all terms that match a node's domains, scaled to 0..10. Raises PriorityError."""
    if pod.terms.error:
        raise PriorityError(pod.terms.error)
    weights = _Weights(pod, meta)
    for info in infos.values():
        for other in info.pods if pod.has_affinity else info.pods_with_affinity:
            weights.add_pod(other, info)
    sums = [weights.sum_for(infos[node]) for node in nodes]
    most, least = max([0, *sums]), min([0, *sums])
    spread = most - least
    return [
        HostPriority(node, int(MAX_PRIORITY * (float(total - least) / float(spread))) if spread else 0)
        for node, total in zip(nodes, sums, strict=True)
    ]


class _Weights:
    """Weights by domain: a label and its value."""

    def __init__(self, pod: PodInfo, meta: Meta) -> None:
        self._pod = pod
        self._objects = meta.objects
        self._namespace_labels = namespace_labels(pod.namespace, meta.objects)
        self._by_domain: Counter[tuple[str, str]] = Counter()

    def add_pod(self, other: PodInfo, info: NodeInfo) -> None:
        """Add the weights of this pod's terms that match the other, and of the other's terms that match this pod."""
        pod = self._pod
        labels = namespace_labels(other.namespace, self._objects)
        for preferred in pod.preferred_affinity_terms:
            self._add(preferred, preferred.weight, preferred.matches(other.pod, labels), info)
        for avoided in pod.preferred_anti_affinity_terms:
            self._add(avoided, -avoided.weight, avoided.matches(other.pod, labels), info)
        for required in other.required_affinity_terms:
            self._add(required, HARD_POD_AFFINITY_WEIGHT, required.matches(pod.pod, self._namespace_labels), info)
        for preferred in other.preferred_affinity_terms:
            self._add(preferred, preferred.weight, preferred.matches(pod.pod, self._namespace_labels), info)
        for avoided in other.preferred_anti_affinity_terms:
            self._add(avoided, -avoided.weight, avoided.matches(pod.pod, self._namespace_labels), info)

    def _add(self, term: AffinityTerm, weight: int, matches: bool, info: NodeInfo) -> None:  # noqa: FBT001
        value = info.node.metadata.labels.get(term.topology_key) if info.node is not None else None
        if matches and value is not None:
            self._by_domain[term.topology_key, value] += weight

    def sum_for(self, info: NodeInfo) -> int:
        """The sum of the weights of a node's domains."""
        labels = info.node.metadata.labels if info.node is not None else {}
        return sum(weight for (key, value), weight in self._by_domain.items() if labels.get(key) == value)
