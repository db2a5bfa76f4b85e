"""Soft constraints: prefers nodes whose domains have fewer matching pods.

Floats are added in upstream's order. Upstream: framework/plugins/podtopologyspread/scoring.go
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Self

import msgspec
import numpy as np
import numpy.typing as npt

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.interface import MAX_NODE_SCORE, Scores
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import Counts, DomainCounts, has_label, intersection, label_codes, nodes_with_keys
from schedviz.engine.framework.plugins.podtopologyspread.constraint import HOSTNAME, Constraint, included, keys, matching_pods
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.uniform import uniform
from schedviz.engine.framework.verdicts import Mask

Floats = npt.NDArray[np.float64]


class PreScoreState:
    """The pod's soft constraints, their counts, and the weight of one pod in each. Upstream: preScoreState"""

    def __init__(
        self,
        constraints: Sequence[Constraint] = (),
        ignored: Mask | None = None,
        counts: dict[str, DomainCounts] | None = None,
        weights: Sequence[float] = (),
        *,
        by_constraint: bool = False,
    ) -> None:
        self.constraints = tuple(constraints)
        #: v1.36 counts pods per constraint; v1.27.1 counts per topology key, so constraints with the same key share their counts.
        self.by_constraint = by_constraint
        #: Feasible rows without all of the topology keys; None: there are none.
        self.ignored = ignored
        #: By `slot`; not for the hostname, whose domains are single nodes.
        self.counts = counts or {}
        self.weights = tuple(weights)

    def clone(self) -> PreScoreState:
        return self

    def slot(self, index: int) -> str:
        """The key of the counts of a constraint."""
        return str(index) if self.by_constraint else self.constraints[index].topology_key

    def to_state(self) -> dict[str, Any]:
        """Plain data, for a checkpoint."""
        return {
            "constraints": msgspec.to_builtins(self.constraints),
            "ignored": None if self.ignored is None else self.ignored.tolist(),
            "counts": {key: counts.to_state() for key, counts in self.counts.items()},
            "weights": self.weights,
            **({"byConstraint": True} if self.by_constraint else {}),
        }

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return cls(
            msgspec.convert(data["constraints"], tuple[Constraint, ...]),
            None if data["ignored"] is None else np.array(data["ignored"], np.bool_),
            {key: DomainCounts.from_state(counts) for key, counts in data["counts"].items()},
            data["weights"],
            by_constraint=data.get("byConstraint", False),
        )


PRE_SCORE_STATE_KEY: Final = StateKey(f"PreScore{names.POD_TOPOLOGY_SPREAD}", PreScoreState)


def init_pre_score_state(
    all_rows: Rows,
    rows: Rows,
    pod: PodInfo,
    constraints: Sequence[Constraint],
    *,
    require_all_topologies: bool,
    by_constraint: bool = False,
) -> PreScoreState:
    """Count the matching pods in the domains of the feasible rows, over all nodes. Upstream: initPreScoreState, PreScore"""
    has_all_keys = nodes_with_keys(rows, keys(constraints)) if require_all_topologies else None
    state = PreScoreState(constraints, None if has_all_keys is None else ~has_all_keys, by_constraint=by_constraint)
    groups: dict[str, list[Constraint]] = {}
    for index, constraint in enumerate(constraints):
        groups.setdefault(state.slot(index), []).append(constraint)
    weights: list[float] = []
    for index, constraint in enumerate(constraints):
        key, slot = constraint.topology_key, state.slot(index)
        if key == HOSTNAME:
            size = len(rows) if has_all_keys is None else int(np.count_nonzero(has_all_keys))
        elif slot in state.counts:
            size = 0  # Its domains were counted for an earlier constraint with the same key.
        else:
            codes, _ = label_codes(rows, key)
            # Nodes without the label are in a domain of their own, "".
            size = int(np.count_nonzero(np.bincount(codes if has_all_keys is None else codes[has_all_keys])))
            present = nodes_with_keys(all_rows, keys(constraints)) if require_all_topologies else None
            state.counts[slot] = _count(all_rows, pod, groups[slot], present)
        weights.append(topology_normalizing_weight(size))
    state.weights = tuple(weights)
    return state


def _count(all_rows: Rows, pod: PodInfo, constraints: Sequence[Constraint], present: Mask | None) -> DomainCounts:
    """The matching pods of constraints with one key, which count in the same domains. `present`: the rows that count; None: all."""
    numbers: IntArray | None = None
    for constraint in constraints:
        among = intersection(present, included(all_rows, constraint, pod))
        matching = matching_pods(all_rows, constraint.selector, pod.namespace)
        matching = matching if among is None else np.where(among, matching, 0)
        numbers = matching if numbers is None else numbers + matching
    assert numbers is not None
    return DomainCounts.count(all_rows, constraints[0].topology_key, numbers, present)


def score_rows(state: PreScoreState, pod: PodInfo, rows: Rows) -> Scores:
    """The weighted numbers of matching pods in each row's domains. Upstream: Score"""
    if not state.constraints:
        return uniform(len(rows), 0)
    score: Floats | None = None
    for index, (constraint, weight) in enumerate(zip(state.constraints, state.weights, strict=True)):
        added = _matching(state, index, pod, rows).astype(np.float64)
        added *= weight
        added += float(constraint.max_skew - 1)
        if nodes_with_keys(rows, [constraint.topology_key]) is not None:
            added = np.where(has_label(rows, constraint.topology_key), added, 0.0)
        score = added if score is None else score + added
    assert score is not None
    return _without_ignored(state.ignored, _round(score))


def _matching(state: PreScoreState, index: int, pod: PodInfo, rows: Rows) -> Counts:
    constraint = state.constraints[index]
    if constraint.topology_key == HOSTNAME:
        return matching_pods(rows, constraint.selector, pod.namespace).astype(np.int64, copy=False)
    return state.counts[state.slot(index)].of_rows(rows, constraint.topology_key)


def normalize(state: PreScoreState, scores: Scores) -> Scores:
    """The lowest score becomes 100, higher ones less; without any pod all are 100; ignored rows are 0. Upstream: NormalizeScore"""
    if not state.constraints:
        return uniform(len(scores), MAX_NODE_SCORE)
    counted = scores if state.ignored is None else scores[~state.ignored]
    highest = int(counted.max(initial=0))
    if highest == 0:
        return _without_ignored(state.ignored, np.full(len(scores), MAX_NODE_SCORE))
    return _without_ignored(state.ignored, MAX_NODE_SCORE * (highest + int(counted.min()) - scores) // highest)


def _without_ignored(ignored: Mask | None, scores: Scores) -> Scores:
    """The scores, with 0 for ignored rows."""
    return scores if ignored is None else np.where(ignored, 0, scores)


def _round(scores: Floats) -> Scores:
    """Rounds halves away from zero like Go's math.Round; scores are not negative."""
    rounded = np.floor(scores)
    rounded += scores - rounded >= 0.5
    return rounded.astype(np.int64)


def topology_normalizing_weight(size: int) -> float:
    """The weight of one pod for this number of domains. Upstream: topologyNormalizingWeight"""
    return go_log(float(size + 2))


def go_log(value: float) -> float:
    """The natural logarithm of positive finite numbers, bit for bit as in Go (FreeBSD's e_log.c). Upstream: math.Log"""
    fraction, exponent = math.frexp(value)
    if fraction < math.sqrt(2) / 2:
        fraction, exponent = fraction * 2, exponent - 1
    f, k = fraction - 1, float(exponent)
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    t1 = s2 * (6.666666666666735130e-01 + s4 * (2.857142874366239149e-01 + s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)))
    t2 = s4 * (3.999999999940941908e-01 + s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01))
    r = t1 + t2
    half = 0.5 * f * f
    return k * 6.93147180369123816490e-01 - ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f)
