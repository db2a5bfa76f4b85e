"""Required terms of the incoming pod, and required anti-affinity of existing pods.

Upstream: framework/plugins/interpodaffinity/filtering.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import msgspec
import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import DomainCounts, has_label, nodes_with_keys
from schedviz.engine.framework.plugins.interpodaffinity.terms import Term, matches_all, pods_matching_all
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, unresolvable, unschedulable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.selectors import Labels

_AFFINITY_MISMATCH: Final = unresolvable("node(s) didn't match pod affinity rules")
_ANTI_AFFINITY_MISMATCH: Final = unschedulable("node(s) didn't match pod anti-affinity rules")
_EXISTING_ANTI_AFFINITY_MISMATCH: Final = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
_STATUSES: Final = (SUCCESS, _AFFINITY_MISMATCH, _ANTI_AFFINITY_MISMATCH, _EXISTING_ANTI_AFFINITY_MISMATCH)

#: Topology key -> matched terms by domain. Upstream: topologyToMatchedTermCount
TermCounts = dict[str, DomainCounts]


class PreFilterState:
    """The pod's required terms, and the number of matches in each domain. Upstream: preFilterState"""

    def __init__(
        self,
        affinity_terms: tuple[Term, ...],
        anti_affinity_terms: tuple[Term, ...],
        namespace_labels: Labels,
        counts: Sequence[TermCounts],
    ) -> None:
        self.affinity_terms = affinity_terms
        self.anti_affinity_terms = anti_affinity_terms
        self.namespace_labels = namespace_labels
        #: Terms of existing pods that match this pod; pods that match this pod's terms.
        self.existing_anti_affinity, self.affinity, self.anti_affinity = counts

    @property
    def rejects_nothing(self) -> bool:
        return not (self.affinity_terms or self.anti_affinity_terms) and _is_empty(self.existing_anti_affinity)

    def clone(self) -> PreFilterState:
        counts = [
            {key: domains.clone() for key, domains in side.items()}
            for side in (self.existing_anti_affinity, self.affinity, self.anti_affinity)
        ]
        return PreFilterState(self.affinity_terms, self.anti_affinity_terms, self.namespace_labels, counts)

    def update_with_pod(self, changed: PodInfo, pod: PodInfo, node_info: NodeInfo, multiplier: int) -> None:
        """Count a pod that was added to a node; with multiplier -1, stop counting one that was removed. Upstream: updateWithPod"""
        labels = node_info.node.metadata.labels if node_info.node is not None else {}
        existing = (term for term in changed.required_anti_affinity_terms if term.matches(pod.pod, self.namespace_labels))
        _update(self.existing_anti_affinity, (term.topology_key for term in existing), labels, multiplier)
        if matches_all(self.affinity_terms, changed.pod):
            _update(self.affinity, (term.topology_key for term in self.affinity_terms), labels, multiplier)
        own = (term for term in self.anti_affinity_terms if term.matches(changed.pod))
        _update(self.anti_affinity, (term.topology_key for term in own), labels, multiplier)

    def to_state(self) -> dict[str, Any]:
        """Plain data, for a checkpoint."""
        return {
            # Namespaces are a set. In this process's order, equal states could differ in bytes from another process's.
            "affinityTerms": msgspec.to_builtins(self.affinity_terms, order="deterministic"),
            "antiAffinityTerms": msgspec.to_builtins(self.anti_affinity_terms, order="deterministic"),
            "namespaceLabels": dict(self.namespace_labels),
            "counts": [
                {key: domains.to_state() for key, domains in side.items()}
                for side in (self.existing_anti_affinity, self.affinity, self.anti_affinity)
            ],
        }

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return cls(
            msgspec.convert(data["affinityTerms"], tuple[Term, ...]),
            msgspec.convert(data["antiAffinityTerms"], tuple[Term, ...]),
            data["namespaceLabels"],
            [{key: DomainCounts.from_state(domains) for key, domains in side.items()} for side in data["counts"]],
        )


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.INTER_POD_AFFINITY}", PreFilterState)


def count_terms(
    rows: Rows,
    affinity_terms: tuple[Term, ...],
    anti_affinity_terms: tuple[Term, ...],
    existing: dict[str, IntArray],
    namespace_labels: Labels,
) -> PreFilterState:
    """Matches by domain, over all nodes. Upstream: getExistingAntiAffinityCounts, getIncomingAffinityAntiAffinityCounts"""
    affinity: dict[str, IntArray] = {}
    if affinity_terms:
        pods = pods_matching_all(rows, affinity_terms)
        for term in affinity_terms:
            affinity[term.topology_key] = affinity.get(term.topology_key, 0) + pods
    anti_affinity: dict[str, IntArray] = {}
    for term in anti_affinity_terms:
        anti_affinity[term.topology_key] = anti_affinity.get(term.topology_key, 0) + pods_matching_all(rows, (term,))
    counts = [_by_domain(rows, side) for side in (existing, affinity, anti_affinity)]
    return PreFilterState(affinity_terms, anti_affinity_terms, namespace_labels, counts)


def _by_domain(rows: Rows, numbers: dict[str, IntArray]) -> TermCounts:
    return {key: DomainCounts.count(rows, key, counts, nodes_with_keys(rows, [key])) for key, counts in numbers.items()}


def filter_rows(state: PreFilterState, pod: Pod, rows: Rows) -> Verdicts | None:
    """Check the pod's affinity, then its anti-affinity, then that of existing pods. Upstream: Filter"""
    codes = np.zeros(len(rows), np.int16)
    if state.affinity_terms:
        pods_exist = np.ones(len(rows), np.bool_)
        for term in state.affinity_terms:
            key = term.topology_key
            if nodes_with_keys(rows, [key]) is not None:
                codes[~has_label(rows, key)] = 1
            pods_exist &= state.affinity[key].of_rows(rows, key) > 0
        # The first pod of a group with affinity to itself fits on any node.
        is_first = _is_empty(state.affinity) and matches_all(state.affinity_terms, pod)
        if not is_first:
            codes[~pods_exist] = 1
    for number, side in ((2, state.anti_affinity), (3, state.existing_anti_affinity)):
        for key, domains in side.items():
            if not domains.is_empty:
                codes[(codes == 0) & (domains.of_rows(rows, key) > 0)] = number
    return Verdicts(codes, _STATUSES) if codes.any() else None


def _is_empty(counts: TermCounts) -> bool:
    """Upstream removes a domain whose count becomes 0."""
    return all(domains.is_empty for domains in counts.values())


def _update(counts: TermCounts, keys: Iterable[str], labels: Labels, multiplier: int) -> None:
    for key in keys:
        if key in labels:
            counts.setdefault(key, DomainCounts.empty()).add(labels[key], multiplier)
