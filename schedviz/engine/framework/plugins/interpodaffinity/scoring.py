"""Preferred terms of the incoming pod and of existing pods; and required affinity of existing pods.

Upstream: framework/plugins/interpodaffinity/scoring.go
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Self

import numpy as np

from schedviz.engine.framework.affinity_terms import AffinityTerm
from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import DomainCounts, nodes_with_keys
from schedviz.engine.framework.plugins.interpodaffinity.terms import Term, pods_matching_all
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.uniform import uniform


class PreScoreState:
    """Topology key -> the sum of weights by domain. Upstream: preScoreState"""

    def __init__(self, topology_score: dict[str, DomainCounts] | None = None) -> None:
        self.topology_score = topology_score or {}

    def clone(self) -> PreScoreState:
        return self

    def to_state(self) -> dict[str, Any]:
        """Plain data, for a checkpoint."""
        return {key: domains.to_state() for key, domains in self.topology_score.items()}

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return cls({key: DomainCounts.from_state(domains) for key, domains in data.items()})


PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.INTER_POD_AFFINITY}", PreScoreState)


def scored_terms(pod: PodInfo, hard_pod_affinity_weight: int) -> Iterator[tuple[AffinityTerm, int]]:
    """Terms of an existing pod that change its node's score for other pods. Upstream: processExistingPod"""
    if hard_pod_affinity_weight > 0:
        for required in pod.required_affinity_terms:
            yield required, hard_pod_affinity_weight
    for preferred in pod.preferred_affinity_terms:
        yield preferred, preferred.weight
    for preferred in pod.preferred_anti_affinity_terms:
        yield preferred, -preferred.weight


def add_up(
    rows: Rows, affinity_terms: tuple[Term, ...], anti_affinity_terms: tuple[Term, ...], existing: dict[str, IntArray]
) -> PreScoreState:
    """The weights by domain, over all nodes. Upstream: PreScore"""
    weights = dict(existing)
    for term, sign in (*((term, 1) for term in affinity_terms), *((term, -1) for term in anti_affinity_terms)):
        key = term.topology_key
        unweighted = Term(key, term.selector, term.namespaces, term.namespace_selector)
        weights[key] = weights.get(key, 0) + pods_matching_all(rows, (unweighted,)) * (sign * term.weight)
    return PreScoreState({key: DomainCounts.count(rows, key, sums, nodes_with_keys(rows, [key])) for key, sums in weights.items()})


def score_rows(state: PreScoreState, rows: Rows) -> Scores:
    """The sum over the domains of each row's node. Upstream: Score"""
    if not state.topology_score:
        return uniform(len(rows), 0)
    sums = [domains.of_rows(rows, key) for key, domains in state.topology_score.items()]
    return sums[0] if len(sums) == 1 else np.sum(sums, axis=0)


def normalize(scores: Scores) -> Scores:
    """The lowest score becomes 0, the highest 100. Upstream: NormalizeScore"""
    if not len(scores):
        return scores
    lowest = int(scores.min())
    spread = int(scores.max()) - lowest
    if not spread:
        return np.zeros_like(scores)
    shares = (scores - lowest).astype(np.float64)
    shares /= float(spread)
    shares *= float(MAX_NODE_SCORE)
    return shares.astype(np.int64)
