"""Hard constraints: no domain has more than `maxSkew` matching pods above the minimum.

Upstream: framework/plugins/podtopologyspread/filtering.go
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import Any, Final, Self

import msgspec
import numpy as np

from schedviz.engine.framework.columns import IntArray
from schedviz.engine.framework.cycle_state import StateKey
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.topology import DomainCounts, has_label, intersection, nodes_with_keys
from schedviz.engine.framework.plugins.podtopologyspread.constraint import Constraint, included, keys, matching_pods
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, unresolvable, unschedulable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Mask, Verdicts
from schedviz.kube.node_affinity import required_node_affinity

_REASON: Final = "node(s) didn't match pod topology spread constraints"
_SKEWED: Final = unschedulable(_REASON)
_NO_LABEL: Final = unresolvable(f"{_REASON} (missing required label)")

_MAX_INT32: Final = 2**31 - 1


class CriticalPaths:
    """The domain with the fewest matching pods, and a second one. Like upstream it keeps only these two, so after several changes the first
    may no longer be the minimum. Upstream: criticalPaths
    """

    __slots__ = ("paths",)

    def __init__(self, paths: Sequence[tuple[str, int]] = (("", _MAX_INT32), ("", _MAX_INT32))) -> None:
        self.paths = list(paths)

    @property
    def min_match_num(self) -> int:
        return self.paths[0][1]

    def update(self, value: str, number: int) -> None:
        """Set a domain's count."""
        first, second = self.paths
        if value in (first[0], second[0]):
            self.paths = [(value, number), second] if value == first[0] else [first, (value, number)]
            if self.paths[0][1] > self.paths[1][1]:
                self.paths.reverse()
        elif number < first[1]:
            self.paths = [(value, number), first]
        elif number < second[1]:
            self.paths = [first, (value, number)]


class PreFilterState:
    """The pod's hard constraints, and the matching pods of each domain; empty if it has none. Upstream: preFilterState"""

    def __init__(
        self,
        constraints: Sequence[Constraint] = (),
        counts: dict[str, DomainCounts] | None = None,
        domains: dict[str, int] | None = None,
        paths: dict[str, CriticalPaths] | None = None,
        *,
        by_constraint: bool = False,
    ) -> None:
        self.constraints = tuple(constraints)
        #: v1.36 counts pods per constraint; v1.27.1 counts per topology key, so constraints with the same key share their counts.
        self.by_constraint = by_constraint
        #: By `slot`.
        self.counts = counts or {}
        #: The initial number of domains.
        self.domains = domains or {}
        self.paths = paths or {}

    def clone(self) -> PreFilterState:
        return PreFilterState(
            self.constraints,
            {key: counts.clone() for key, counts in self.counts.items()},
            self.domains,
            {key: CriticalPaths(paths.paths) for key, paths in self.paths.items()},
            by_constraint=self.by_constraint,
        )

    def slot(self, index: int) -> str:
        """The key of the counts of a constraint."""
        return str(index) if self.by_constraint else self.constraints[index].topology_key

    def min_match_num(self, index: int) -> int | None:
        """The fewest matching pods of any domain, 0 if there are fewer than minDomains; None: there is no domain."""
        slot = self.slot(index)
        domains = self.domains.get(slot, 0)
        if not domains:
            # v1.27.1 skips the constraint. v1.36 takes 0 as the minimum, with which the skew is at most 1 and rejects no node either.
            return None
        return 0 if domains < self.constraints[index].min_domains else self.paths[slot].min_match_num

    def update_with_pod(self, changed: PodInfo, preemptor: PodInfo, node_info: NodeInfo, delta: int) -> None:
        """Count a pod that was added to a node; with delta -1, stop counting one that was removed. Upstream: updateWithPod"""
        node = node_info.node
        if node is None or changed.namespace != preemptor.namespace:
            return
        labels = node.metadata.labels
        if any(constraint.topology_key not in labels for constraint in self.constraints):
            return
        required = required_node_affinity(preemptor.pod)
        for index, constraint in enumerate(self.constraints):
            matching = constraint.selector.matches(changed.pod.metadata.labels)
            if matching and constraint.includes(preemptor.pod, node, required):
                slot, value = self.slot(index), labels[constraint.topology_key]
                self.paths[slot].update(value, self.counts[slot].add(value, delta))

    def to_state(self) -> dict[str, Any]:
        """Plain data, for a checkpoint."""
        return {
            "constraints": msgspec.to_builtins(self.constraints),
            "counts": {key: counts.to_state() for key, counts in self.counts.items()},
            "domains": self.domains,
            "paths": {key: paths.paths for key, paths in self.paths.items()},
            **({"byConstraint": True} if self.by_constraint else {}),
        }

    @classmethod
    def from_state(cls, data: Any) -> Self:
        return cls(
            msgspec.convert(data["constraints"], tuple[Constraint, ...]),
            {key: DomainCounts.from_state(counts) for key, counts in data["counts"].items()},
            dict(data["domains"]),
            {key: CriticalPaths([(value, number) for value, number in paths]) for key, paths in data["paths"].items()},
            by_constraint=data.get("byConstraint", False),
        )


PRE_FILTER_STATE_KEY: Final = StateKey(f"PreFilter{names.POD_TOPOLOGY_SPREAD}", PreFilterState)


def cal_pre_filter_state(rows: Rows, pod: PodInfo, constraints: Sequence[Constraint], *, by_constraint: bool = False) -> PreFilterState:
    """Count the matching pods of all nodes that have every topology key and that the pod could use. Upstream: calPreFilterState"""
    state = PreFilterState(constraints, by_constraint=by_constraint)
    present = nodes_with_keys(rows, keys(constraints))
    groups: dict[str, list[Constraint]] = {}
    for index, constraint in enumerate(constraints):
        groups.setdefault(state.slot(index), []).append(constraint)
    for slot, group in groups.items():
        numbers, counted = _numbers(rows, pod, group, present)
        counts = state.counts[slot] = DomainCounts.count(rows, group[0].topology_key, numbers, counted)
        state.domains[slot] = len(counts)
        paths = state.paths[slot] = CriticalPaths()
        for value, number in _two_smallest(counts):
            paths.update(value, number)
    return state


def _numbers(rows: Rows, pod: PodInfo, constraints: Sequence[Constraint], present: Mask | None) -> tuple[IntArray, Mask | None]:
    """The number of pods of each row that match constraints of one key, and the rows that count (None: all).

    If there are two constraints, a node's number is the last one's, as upstream overwrites it.
    """
    first, *others = constraints
    counted = intersection(present, included(rows, first, pod))
    numbers = matching_pods(rows, first.selector, pod.namespace)
    for constraint in others:
        among = intersection(present, included(rows, constraint, pod))
        last = matching_pods(rows, constraint.selector, pod.namespace)
        numbers = last if among is None else np.where(among, last, numbers)
        counted = None if among is None or counted is None else counted | among
    return numbers, counted


def _two_smallest(counts: DomainCounts) -> list[tuple[str, int]]:
    """The domains that upstream's walk over all of them would keep as critical paths, walking in the order of their values.

    Upstream walks a map. Of three domains that tie, any two may be kept, and which ones can decide about a preemption.
    """
    return sorted(nsmallest(2, counts.seen(), key=lambda domain: (domain[1], domain[0])))


def filter_rows(state: PreFilterState, pod: PodInfo, rows: Rows) -> Verdicts | None:
    """`matchNum + selfMatchNum - minMatchNum > maxSkew` rejects a node; so does a missing label. Upstream: Filter"""
    codes = np.zeros(len(rows), np.int16)
    for index, constraint in enumerate(state.constraints):
        key = constraint.topology_key
        if nodes_with_keys(rows, [key]) is not None:
            codes[(codes == 0) & ~has_label(rows, key)] = 2
        min_match_num = state.min_match_num(index)
        if min_match_num is None:
            continue
        self_match_num = int(constraint.selector.matches(pod.pod.metadata.labels))
        max_match_num = constraint.max_skew - self_match_num + min_match_num
        skewed = state.counts[state.slot(index)].of_rows(rows, key) > max_match_num
        if skewed.any():
            codes[(codes == 0) & skewed] = 1
    return Verdicts(codes, (SUCCESS, _SKEWED, _NO_LABEL)) if codes.any() else None
