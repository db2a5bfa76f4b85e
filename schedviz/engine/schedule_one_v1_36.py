"""`SchedulingCycleV136`: the scheduling cycle of one pod as v1.36 runs it.

Upstream: pkg/scheduler/schedule_one.go scheduleOnePod, schedulingCycle, schedulePod
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from schedviz.engine import stages
from schedviz.engine.cycle_results import Ranking
from schedviz.engine.extenders.extender import Extender
from schedviz.engine.failure import CLEAR_NOMINATED_NODE, Failure, error_failure
from schedviz.engine.failure_v1_36 import handle_scheduling_failure
from schedviz.engine.find_nodes import rows_in_search_order
from schedviz.engine.framework.fit_error import Diagnosis
from schedviz.engine.framework.fit_error_v1_36 import EXTENDER_NAME, DiagnosisV136, FitErrorV136
from schedviz.engine.framework.interface import NominatingInfo, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime.batch import OpportunisticBatch, RemainingNodes
from schedviz.engine.framework.runtime.framework_v1_36 import FrameworkV136
from schedviz.engine.framework.status import Code, Status, StatusError, unresolvable, unschedulable
from schedviz.engine.framework.types import Generations, NodeInfo
from schedviz.engine.reporting.stage_report import StageReport, statuses_of
from schedviz.engine.schedule_one import SchedulingCycle
from schedviz.engine.select_host_v1_36 import rank_by_heap
from schedviz.engine.stages import Stage
from schedviz.trace.view import RejectionView, StatusView


class SchedulingCycleV136(SchedulingCycle):
    """One scheduling cycle: `advance` runs one stage at a time. `STAGES`, below the stages' methods, has their order and successors."""

    nominating_without_post_filter: ClassVar[NominatingInfo | None] = CLEAR_NOMINATED_NODE

    def _new_diagnosis(self) -> Diagnosis:
        return DiagnosisV136.new()

    @property
    def _diagnosis(self) -> DiagnosisV136:
        diagnosis = self.diagnosis
        assert isinstance(diagnosis, DiagnosisV136)
        return diagnosis

    # Before the scheduling algorithm.

    def _pop(self) -> StageReport:
        report = super()._pop()
        self.results.popped_from_backoff_q = self.state.queue.popped_from_backoff_q
        if self.results.popped_from_backoff_q:
            report.facts["poppedFrom"] = "backoffQ"
        return report

    def _skip_pod_schedule(self) -> StageReport:
        report = super()._skip_pod_schedule()
        if report.next_stage == stages.ENDED:
            self.state.queue.done(self.pod.uid)
        return report

    # Which nodes can run the pod. Upstream: schedule_one.go findNodesThatFitPod

    def _pre_filter(self) -> StageReport:
        outcome = self.framework.run_pre_filter_plugins(self.cycle_state, self.pod)
        results, diagnosis = self.results, self._diagnosis
        results.pre_filter = outcome.plugin_results
        results.pre_filter_nodes = None if outcome.node_names is None else sorted(outcome.node_names)
        results.skipped_filter_plugins = sorted(self.cycle_state.skip_filter_plugins)
        diagnosis.unschedulable_plugins = set(outcome.with_nodes)
        statuses = statuses_of(outcome.plugin_results)
        status = outcome.status
        if not status.is_success:
            if not status.is_rejected:
                return self._fail(error_failure(status.as_error()), {}, statuses)
            results.pre_filter_status = status
            diagnosis.nodes.absent_nodes_status = status
            diagnosis.pre_filter_msg = status.message
            diagnosis.add_plugin_status(status)
            return self._no_node_fits({}, statuses)
        facts: dict[str, Any] = {"skipped": results.skipped_filter_plugins}
        if results.pre_filter_nodes is not None:
            facts["nodes"] = results.pre_filter_nodes
        batch = self._batch
        if batch is not None:
            results.node_hint, results.batch_flush = batch.node_hint(
                self.pod, self.queued.signature, self.cycle_state, cycle=self.state.queue.scheduling_cycle, now=self.state.clock.now
            )
            facts |= _hint_facts(results.node_hint, batch) or _flush_facts(results.batch_flush)
        is_nominated = bool(self.pod.pod.status.nominated_node_name or results.node_hint)
        return StageReport(stages.NOMINATED_NODE if is_nominated else stages.FILTER, statuses, facts=facts)

    @property
    def _batch(self) -> OpportunisticBatch | None:
        assert isinstance(self.framework, FrameworkV136)
        return self.framework.batch

    def _nominated_node(self) -> StageReport:
        snapshot, facts = self.state.snapshot, self._node_to_try_first()
        if snapshot.placement is not None and facts["node"] in snapshot.node_info_map and facts["node"] not in snapshot.placement:
            # Another placement of the pod's group is tried.
            return StageReport(stages.FILTER, facts=facts)
        report = super()._nominated_node()
        # Upstream's copy of the diagnosis shares the other members with the original.
        self._diagnosis.pending_plugins.clear()
        return report

    def _node_to_try_first(self) -> dict[str, Any]:
        """The nominated node, or the hint of the last cycle."""
        facts = super()._node_to_try_first()
        return facts if facts["node"] else facts | {"node": self.results.node_hint, "hint": True}

    def _filter(self) -> StageReport:
        """Upstream: schedule_one.go findNodesThatPassFilters"""
        rows = self._rows_to_search(self.state.next_start_node_index)
        to_find = self._num_feasible_nodes_to_find(len(rows))
        want = to_find if self._needs_several_nodes else 1
        outcome = self.filtered = self.framework.filter_rows(self.cycle_state, self.pod, rows, want)
        self._diagnose(outcome)
        self.results.rejected_nodes = len(self.diagnosis.node_to_status)
        return self._end_filter(rows, outcome, want=want, index_modulo=self.state.snapshot.num_nodes_in_placement)

    def _rows_to_search(self, start: int) -> Rows:
        """All nodes, or those that PreFilter named and that exist; the others have its status then."""
        snapshot, names = self.state.snapshot, self.results.pre_filter_nodes
        placement = snapshot.placement
        if names is None:
            return rows_in_search_order(snapshot, None, start) if placement is None else snapshot.rows_in_placement(start)
        self._diagnosis.nodes.absent_nodes_status = self.framework.status_of_absent_nodes(self.diagnosis.unschedulable_plugins)
        searched = frozenset(name for name in names if name in snapshot.columns.row_of and (placement is None or name in placement))
        return rows_in_search_order(snapshot, searched, start) if searched else snapshot.rows(np.zeros(0, np.intp))

    @property
    def _needs_several_nodes(self) -> bool:
        """Whether more than one node is needed: to be scored, or for an extender that filters."""
        extenders = self.state.extenders
        return self.framework.has_score_plugins or any(extender.is_prioritizer or extender.is_filter for extender in extenders)

    def _filter_with_extender(self, extender: Extender, rows: Rows) -> tuple[Rows, str]:
        """The rows that the extender keeps, and its error (""). Its reasons replace those that a node had before.

        Upstream: schedule_one.go findNodesThatPassExtenders
        """
        record = extender.filter(self.pod, rows)
        self.results.extender_filter.append(record)
        if record.error:
            return rows, "" if record.ignored else record.error
        statuses = self.diagnosis.node_to_status
        statuses.update({node: unresolvable(reason) for node, reason in record.unresolvable.items()})
        statuses.update({node: unschedulable(reason) for node, reason in record.failed.items()})
        place_of = {name: index for index, name in enumerate(rows.names)}
        feasible_rows = rows.take(np.array([place_of[name] for name in record.feasible if name in place_of], dtype=np.intp))
        if self.stage == stages.EXTENDER_FILTER and len(feasible_rows) != len(rows):
            # Not in the evaluation of the nominated node.
            self.diagnosis.unschedulable_plugins.add(EXTENDER_NAME)
        return (feasible_rows if extender.keeps_node_infos else self._without_pods(feasible_rows)), ""

    def _without_pods(self, rows: Rows) -> Rows:
        """Upstream makes new NodeInfos of the Node objects in the extender's response: without pods and images.

        Upstream: extender.go HTTPExtender.Filter
        """
        self.results.feasible_rows_lack_pods = True
        return rows_without_pods(rows, self.state.cache.generations)

    # Which of them is best.

    def _select_host(self) -> StageReport:
        rows, results = self.feasible, self.results
        assert rows is not None
        results.feasible_nodes = len(rows)
        if len(rows) == 1:
            results.node = rows.names[0]
            stored = self._store_remaining(None)
            return StageReport(stages.ASSUME, facts={"node": results.node, "reason": "only one", **stored})
        scores = self.totals()
        ranking = self._ranking(scores)
        results.node = rows.names[ranking.winner]
        results.ranking = ranking
        stored = self._store_remaining(self._remaining_nodes(rows.names, scores, ranking.winner))
        facts = {"node": results.node, "total": ranking.total, "tied": ranking.tied_nodes, **stored}
        return StageReport(stages.ASSUME, facts=facts)

    def _ranking(self, scores: Scores) -> Ranking:
        ranking = super()._ranking(scores)
        return rank_by_heap(scores, ranking) if self.state.tie_break == "heap" else ranking

    def _remaining_nodes(self, names: Sequence[str], scores: Scores, winner: int) -> RemainingNodes:
        """The nodes for the next pods, with the winner first, which is popped already."""
        tie_break = self.state.tie_break
        if tie_break != "random":
            return RemainingNodes(names, scores, is_first_of_tied=tie_break == "first")
        # As if the winner had been the first to pass the filters, and the others had followed in their order.
        return RemainingNodes([names[winner], *names[winner + 1 :], *names[:winner]], np.roll(scores, -winner), is_first_of_tied=True)

    def _store_remaining(self, others: RemainingNodes | None) -> dict[str, Any]:
        """Keep the other feasible nodes for the next pod. Returns the facts about that."""
        batch, results = self._batch, self.results
        if batch is None:
            return {}
        queue, clock = self.state.queue, self.state.clock
        flush = batch.store(
            self.queued.signature,
            hint=results.node_hint,
            chosen=results.node,
            others=others,
            cycle=queue.scheduling_cycle,
            now=clock.now,
            number=self.number,
        )
        results.batch_flush = flush or results.batch_flush
        results.is_hint_used = results.node_hint == results.node
        if flush is None and others is not None and not results.is_hint_used:
            results.batch_stored = len(others)
            return {"batch": {"stored": results.batch_stored}}
        return _flush_facts(flush)

    # No node fits.

    def _fit_failure(self, nominating: NominatingInfo | None) -> Failure:
        return _failure_of(
            FitErrorV136(self.pod.key, self.state.snapshot.num_nodes_in_placement, self._diagnosis), Code.UNSCHEDULABLE, nominating
        )

    # The pod takes the node.

    def _reserve(self) -> StageReport:
        return self._with_fit_error(super()._reserve())

    def _permit(self) -> StageReport:
        return self._with_fit_error(super()._permit())

    def _with_fit_error(self, report: StageReport) -> StageReport:
        """A rejection at Reserve or Permit is reported as that of the only node."""
        if self.failure is not None:
            self.failure = rejection_by_node(self.pod.key, self.results.node, self.failure.status)
        return report

    # The cycle failed.

    def _fail(
        self,
        failure: Failure,
        facts: dict[str, Any],
        statuses: Sequence[StatusView] = (),
        rejections: Sequence[RejectionView] = (),
    ) -> StageReport:
        if failure.unschedulable_plugins is None and self.assumed is None:
            # Upstream returns no numbers with an error.
            self.results.rejected_nodes = self.results.feasible_nodes = 0
        return super()._fail(failure, facts, statuses, rejections)

    def _handle_scheduling_failure(self) -> StageReport:
        report = super()._handle_scheduling_failure()
        failure, results = self.failure, self.results
        assert failure is not None
        # With the plugin that gates the pod, if one does.
        results.unschedulable_plugins = [] if failure.unschedulable_plugins is None else sorted(self.queued.unschedulable_plugins)
        results.pending_plugins = list(failure.pending_plugins)
        return report

    def _handle_failure(self, failure: Failure) -> dict[str, Any]:
        return handle_scheduling_failure(self.state, self.framework, self.queued, failure)

    #: The stages are those of v1.27.1; these run differently.
    STAGES: ClassVar[Mapping[str, Stage[Callable[[Any], StageReport]]]] = stages.overridden(
        SchedulingCycle.STAGES,
        {
            stages.POP: _pop,
            stages.SKIP_POD_SCHEDULE: _skip_pod_schedule,
            stages.PRE_FILTER: _pre_filter,
            stages.NOMINATED_NODE: _nominated_node,
            stages.FILTER: _filter,
            stages.SELECT_HOST: _select_host,
            stages.RESERVE: _reserve,
            stages.PERMIT: _permit,
            stages.HANDLE_SCHEDULING_FAILURE: _handle_scheduling_failure,
        },
    )


def rows_without_pods(rows: Rows, generations: Generations) -> Rows:
    """Rows over new NodeInfos of the same Nodes; each takes two generations."""
    infos = []
    for info in rows.infos:
        empty = NodeInfo(info.name, generations)
        assert info.node is not None
        empty.set_node(info.node)
        infos.append(empty)
    return Rows.of(infos)


def rejection_by_node(pod: str, node: str, status: Status) -> Failure:
    """The failure of a pod that a plugin rejected after its node was chosen. An error stays what it is."""
    if not status.is_rejected:
        return Failure(status)
    diagnosis = DiagnosisV136.new()
    diagnosis.node_to_status[node] = status
    diagnosis.add_plugin_status(status)
    return _failure_of(FitErrorV136(pod, 1, diagnosis), status.code)


def _failure_of(error: FitErrorV136, code: Code, nominating: NominatingInfo | None = CLEAR_NOMINATED_NODE) -> Failure:
    diagnosis = error.diagnosis
    assert isinstance(diagnosis, DiagnosisV136)
    return Failure(
        Status(code, error=StatusError(error.message)),
        tuple(sorted(diagnosis.unschedulable_plugins)),
        nominating,
        tuple(sorted(diagnosis.pending_plugins)),
    )


def _hint_facts(node: str, batch: OpportunisticBatch) -> dict[str, Any]:
    """The fact `batch` if an earlier cycle suggests a node: which cycle, and how many of its nodes are left."""
    return {"batch": {"node": node, "cycle": batch.from_cycle, "left": batch.left}} if node else {}


def _flush_facts(reason: str | None) -> dict[str, Any]:
    """The fact `batch` if nodes cannot be used or kept."""
    return {"batch": {"flush": reason}} if reason else {}
