"""DefaultPreemption: makes room for a pod by evicting pods of lower priority.

Upstream: framework/plugins/defaultpreemption/default_preemption.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

import numpy as np

from schedviz.engine.config.plugin_args import DefaultPreemptionArgs
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import FilterReads, Handle, PostFilterResult
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.defaultpreemption.dry_run_by_sums import DryRunBySums, has_lower_priority_pods
from schedviz.engine.framework.plugins.defaultpreemption.reprieves import Reprieves
from schedviz.engine.framework.preemption import Evaluator, NodeVictims, VictimSearch, more_important_first
from schedviz.engine.framework.preemption.budgets import Budgets, KnownBudgets, by_budget
from schedviz.engine.framework.preemption.importance import ComputedCost
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Code, Status, as_status, unresolvable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod
from schedviz.kube.meta import condition_of

_NO_VICTIMS: Final = unresolvable("No preemption victims found for incoming pod")


class DefaultPreemption:
    name = names.DEFAULT_PREEMPTION
    #: Whether a node without victims is not a candidate.
    needs_victims: ClassVar[bool] = True

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._known_budgets = KnownBudgets()

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        result, status = Evaluator(self.name, self._handle, state, self).preempt(pod, node_to_status)
        return result, Status(status.code, (f"preemption: {status.message}",)) if status.message else status

    def num_candidates(self, num_nodes: int) -> int:
        """Upstream: calculateNumCandidates"""
        share = num_nodes * self._args.min_candidate_nodes_percentage // 100
        return min(max(share, self._args.min_candidate_nodes_absolute), num_nodes)

    def pod_eligible_to_preempt_others(self, pod: PodInfo, nominated_node_status: Status | None) -> str:
        """Why a pod may not preempt others; "": it may. Upstream: PodEligibleToPreemptOthers"""
        if pod.pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.pod.status.nominated_node_name
        if not nominated:
            return ""
        if nominated_node_status is not None and nominated_node_status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node_info = self._handle.snapshot.node_info_map.get(nominated)
        others = node_info.pods if node_info is not None else ()
        if any(other.priority < pod.priority and _terminating_by_preemption(other.pod) for other in others):
            return "not eligible due to a terminating pod on the nominated node."
        return ""

    def select_victims(self, state: CycleState, pod: PodInfo, rows: Rows, enough: int) -> VictimSearch:
        """The fewest victims on each node, or why preemption would not help."""
        if self._handle.filter_reads(state, pod) is FilterReads.PODS:
            outcomes = (self._select_victims_on_node(state.clone(), pod, node_info.clone()) for node_info in rows.infos)
            return VictimSearch(len(rows), lambda _search: enumerate(outcomes))
        return VictimSearch(len(rows), lambda search: self._select_victims_by_sums(search, state.clone(), pod, rows, enough))

    def _select_victims_by_sums(
        self, search: VictimSearch, state: CycleState, pod: PodInfo, rows: Rows, enough: int
    ) -> Iterator[tuple[int, NodeVictims | Status]]:
        """The result of `_select_victims_on_node` for many nodes at once: see DryRunBySums."""
        handle = self._handle
        has_victims = has_lower_priority_pods(rows, pod.priority)
        if self.needs_victims:
            search.reject(np.arange(len(rows)), Verdicts((~has_victims).astype(np.int16), (SUCCESS, _NO_VICTIMS)))
        candidates = np.flatnonzero(has_victims) if self.needs_victims else np.arange(len(rows))
        budgets = self._budgets()
        # Twice as many rows as candidates are wanted, because usually half of them are some; at least 1,000: shorter arrays are no faster.
        size = max(2 * enough, 1000) + 1
        for start in range(0, len(candidates), size):
            part = candidates[start : start + size]
            rows_tried = rows.take(part)
            dry_run = DryRunBySums(rows_tried, pod.priority, self._relevant_nominated_pods(pod, rows_tried))
            verdicts = dry_run.fits(lambda rows: handle.run_filter_plugins(state, pod, rows))
            search.reject(part, verdicts)
            reprieves = Reprieves(handle, dry_run, state, pod, self._outcome, needs_victims=self.needs_victims)
            for row, outcome in reprieves.in_batches(np.flatnonzero(verdicts.codes == 0), enough + 1, budgets):
                yield int(part[row]), outcome

    def _relevant_nominated_pods(self, pod: PodInfo, rows: Rows) -> dict[int, Sequence[PodInfo]]:
        """The nominated pods that have to be counted, by row."""
        handle = self._handle
        rows_with_nominated = rows.places_of(set(handle.nominator.nominated_node_names()))
        relevant = ((row, handle.relevant_nominated_pods(pod, rows.infos[row])) for row in rows_with_nominated)
        return {row: pods for row, pods in relevant if pods}

    def _outcome(
        self, node: str, pods: Sequence[PodInfo], can_stay: Sequence[bool], protected: int, computed_cost: ComputedCost | None = None
    ) -> NodeVictims | Status:
        """`can_stay`: for each of the removed pods whether it can stay. The eviction of the first `protected` of them violates a budget."""
        victims = tuple([pod for pod, stay in zip(pods, can_stay, strict=True) if not stay])
        if not victims and self.needs_victims:
            return as_status(f'expected at least one victim pod on node "{node}"')
        violations = can_stay[:protected].count(False) if protected else 0
        tried = tuple(zip(pods, can_stay, strict=True)) if self._handle.keeps_details else ()
        return NodeVictims(node, victims, violations, tried, protected, computed_cost)

    def _select_victims_on_node(self, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> NodeVictims | Status:
        """Remove all pods of lower priority from the node, then let the most important ones stay that can. Upstream: SelectVictimsOnNode"""
        node = _NodeDryRun(self._handle, state, pod, node_info)
        potential = [other for other in node_info.pods if other.priority < pod.priority]
        for other in potential:
            status = node.remove(other)
            if not status.is_success:
                return status
        if not potential and self.needs_victims:
            return _NO_VICTIMS
        status = node.fits()
        if not status.is_success:
            return status
        violating, others = by_budget(more_important_first(potential, self._handle.clock()), self._budgets())
        candidates, tried = [*violating, *others], []
        for candidate in candidates:
            can_stay = node.reprieve(candidate)
            if isinstance(can_stay, Status):
                return can_stay
            tried.append(can_stay)
        return self._outcome(node_info.name, candidates, tried, len(violating))

    def _budgets(self) -> Budgets:
        return self._known_budgets.index_of(self._handle.objects.list("PodDisruptionBudget"))


class _NodeDryRun:
    """A dry run on one node: pods are removed and added, in the NodeInfo and in PreFilter's data."""

    def __init__(self, handle: Handle, state: CycleState, pod: PodInfo, node_info: NodeInfo) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._node_info = node_info

    def fits(self) -> Status:
        return self._handle.run_filter_plugins_with_nominated_pods(self._state, self._pod, self._node_info)

    def remove(self, other: PodInfo) -> Status:
        self._node_info.remove_pod(other)
        return _as_error(self._handle.run_pre_filter_extension_remove_pod(self._state, self._pod, other, self._node_info))

    def reprieve(self, other: PodInfo) -> bool | Status:
        """Whether the preemptor fits although the other pod stays; a Status is an error."""
        self._node_info.add_pod(other)
        status = _as_error(self._handle.run_pre_filter_extension_add_pod(self._state, self._pod, other, self._node_info))
        if not status.is_success:
            return status
        if self.fits().is_success:
            return True
        status = self.remove(other)
        return False if status.is_success else status


def _as_error(status: Status) -> Status:
    return SUCCESS if status.is_success else as_status(status.as_error())


def _terminating_by_preemption(pod: Pod) -> bool:
    """Whether the pod terminates because the scheduler preempted it. Upstream: podTerminatingByPreemption"""
    if pod.metadata.deletion_timestamp is None:
        return False
    condition = condition_of(pod.status.conditions, "DisruptionTarget")
    return condition is not None and condition.status == "True" and condition.reason == "PreemptionByScheduler"
