"""`SchedulingCycle`: the scheduling cycle of one pod, from activeQ to a node or back to the queue, as a value that runs stage by stage.

Upstream: pkg/scheduler/schedule_one.go scheduleOne, schedulingCycle, schedulePod
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from schedviz.engine import stages
from schedviz.engine.cache import CacheError
from schedviz.engine.cycle_results import CycleResults, NominatedNodeEvaluation, Ranking
from schedviz.engine.extenders.extender import Extender
from schedviz.engine.failure import (
    Failure,
    error_failure,
    fit_failure,
    handle_scheduling_failure,
    no_nodes_failure,
)
from schedviz.engine.find_nodes import num_feasible_nodes_to_find, pass_extender, rows_in_search_order
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import Diagnosis, FitError
from schedviz.engine.framework.interface import PODS_TO_ACTIVATE_KEY, NominatingInfo, PodsToActivate, Scores
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.runtime import FilterOutcome, Framework, PluginResult, ScoreOutcome
from schedviz.engine.framework.types import PodInfo, QueuedPodInfo, nanos_to_seconds
from schedviz.engine.reporting import stage_timing
from schedviz.engine.reporting.stage_report import StageReport, extender_rejections, filter_rejections, statuses_of
from schedviz.engine.scheduler_state import SchedulerState
from schedviz.engine.select_host import best_normalized, best_raw, rank, scored_nodes, tied_names, totals
from schedviz.engine.stages import Stage
from schedviz.trace.events import CycleEnded, CycleStarted, StageEnded
from schedviz.trace.view import RejectionView, StageView, StatusView

SCHEDULED: Final = "scheduled"
SKIPPED: Final = "skipped"

#: What follows a stage that has found feasible nodes: with a single node nothing is scored.
_FEASIBLE_NODES: Final = (stages.PRE_SCORE, stages.SELECT_HOST)
#: What follows a stage that left no node.
_NO_NODE_FITS: Final = (stages.POST_FILTER, stages.HANDLE_SCHEDULING_FAILURE)


class SchedulingCycle:
    """One scheduling cycle: `advance` runs one stage at a time. `STAGES`, below the stages' methods, has their order and successors.

    Between two stages the cycle can be written to a checkpoint (`checkpointing.cycle_state`).
    """

    #: What happens to the pod's nomination if no node fits and there is no PostFilter plugin.
    nominating_without_post_filter: ClassVar[NominatingInfo | None] = None

    def __init__(self, state: SchedulerState, queued: QueuedPodInfo, framework: Framework, number: int) -> None:
        self.state = state
        #: Where the cycle's stages are recorded.
        self.recorder = state.recorder
        self.number = number
        self.queued = queued
        #: The pod as it was popped, with affinity terms of this version; once assumed, `queued` has the pod with its node.
        self.pod: PodInfo = queued.pod_info.fresh()
        self.framework = framework
        self.cycle_state = CycleState()
        self.cycle_state.write(PODS_TO_ACTIVATE_KEY, PodsToActivate({}))
        #: The stage that `advance` runs next; ENDED: none.
        self.stage = stages.POP
        self.results = CycleResults(start_node_index=state.next_start_node_index)
        self.diagnosis: Diagnosis = self._new_diagnosis()
        #: Filter's outcome for the main pass.
        self.filtered: FilterOutcome | None = None
        #: Score's outcome for the feasible rows.
        self.scored: ScoreOutcome | None = None
        #: Derived from `scored` when it is first needed, so it is not part of a checkpoint.
        self._ranking_by_plugins: Ranking | None = None
        #: The feasible rows, after extenders.
        self.feasible: Rows | None = None
        self.failure: Failure | None = None
        #: The pod with its node; None until it is assumed.
        self.assumed: PodInfo | None = None
        #: v1.36: the pod group in whose scheduling cycle the pod is tried; "": it is scheduled alone.
        self.pod_group = ""

    def _new_diagnosis(self) -> Diagnosis:
        return Diagnosis()

    @property
    def has_ended(self) -> bool:
        """Whether no stage is left to run."""
        return self.stage == stages.ENDED

    @property
    def title(self) -> str:
        """What is scheduled, for messages."""
        return self.pod.key

    @property
    def shown_start_node_index(self) -> int:
        """nextStartNodeIndex as the last ended cycle left it."""
        return self.results.start_node_index

    @property
    def is_about_to_fail(self) -> bool:
        """Whether the next stage puts the pod back into the queue."""
        return self.stage == stages.HANDLE_SCHEDULING_FAILURE

    @property
    def scheduled_pods(self) -> Sequence[SchedulingCycle]:
        """The cycles after which a binding cycle follows: this one, or none."""
        return [self] if self.is_scheduled else []

    @property
    def is_scheduled(self) -> bool:
        """Whether the cycle has ended and a binding cycle follows."""
        return self.has_ended and self.results.outcome == SCHEDULED

    # Before the scheduling algorithm.

    def _pop(self) -> StageReport:
        """Record that the cycle of a popped pod began."""
        state, queued, results = self.state, self.queued, self.results
        results.attempts = queued.attempts
        results.all_nodes = state.cache.node_tree.num_nodes
        self._record_start()
        now = state.clock.now
        facts = {
            "priority": queued.pod_info.priority,
            "queuedSeconds": nanos_to_seconds(now - queued.timestamp),
            "waitedSeconds": nanos_to_seconds(now - (queued.initial_attempt_timestamp or 0)),
        }
        return StageReport(stages.SKIP_POD_SCHEDULE, facts=facts)

    def _record_start(self) -> None:
        results = self.results
        results.at_seconds = self.state.clock.seconds
        self.recorder.record(
            CycleStarted,
            pod=self.queued.key,
            uid=self.queued.pod_info.pod.uid,
            profile=self.framework.profile_name,
            attempts=results.attempts,
            all_nodes=results.all_nodes,
            pod_group=self.pod_group,
        )

    def _skip_pod_schedule(self) -> StageReport:
        """Upstream: schedule_one.go skipPodSchedule"""
        pod = self.pod
        if pod.pod.metadata.deletion_timestamp is not None:
            self.state.record_event(
                pod.pod,
                self.framework.profile_name,
                type_="Warning",
                reason="FailedScheduling",
                action="Scheduling",
                note=f"skip schedule deleting pod: {pod.key}",
            )
            self.results.outcome = SKIPPED
            return StageReport(stages.ENDED, facts={"skipped": "deleting"})
        if self.state.cache.is_assumed_pod(pod):
            self.results.outcome = SKIPPED
            return StageReport(stages.ENDED, facts={"skipped": "assumed"})
        return StageReport(stages.UPDATE_SNAPSHOT)

    def _update_snapshot(self) -> StageReport:
        state = self.state
        update = state.cache.update_snapshot(state.snapshot)
        self.results.snapshot_update = update
        facts = {
            "visited": len(update.visited),
            "cloned": len(update.cloned),
            "nodes": state.snapshot.num_nodes,
            "generation": state.snapshot.generation,
        }
        if update.error:
            return self._fail(error_failure(update.error), facts)
        if state.snapshot.num_nodes == 0:
            return self._fail(no_nodes_failure(), facts)
        return StageReport(stages.PRE_FILTER, facts=facts)

    # Which nodes can run the pod. Upstream: schedule_one.go findNodesThatFitPod

    def _pre_filter(self) -> StageReport:
        outcome = self.framework.run_pre_filter_plugins(self.cycle_state, self.pod)
        results = self.results
        results.pre_filter = outcome.plugin_results
        results.pre_filter_nodes = None if outcome.node_names is None else sorted(outcome.node_names)
        results.skipped_filter_plugins = sorted(self.cycle_state.skip_filter_plugins)
        statuses = statuses_of(outcome.plugin_results)
        status = outcome.status
        if status.is_success:
            facts: dict[str, Any] = {"skipped": results.skipped_filter_plugins}
            if results.pre_filter_nodes is not None:
                facts["nodes"] = results.pre_filter_nodes
            following = stages.NOMINATED_NODE if self.pod.pod.status.nominated_node_name else stages.FILTER
            return StageReport(following, statuses, facts=facts)
        if not status.is_unschedulable:
            return self._fail(error_failure(status.as_error()), {}, statuses)
        self.diagnosis.pre_filter_msg = status.message
        if status.failed_plugin:
            self.diagnosis.unschedulable_plugins.add(status.failed_plugin)
        return self._no_node_fits({}, statuses)

    def _nominated_node(self) -> StageReport:
        """Try the nominated node, where preemption made room, before all others. Upstream: schedule_one.go evaluateNominatedNode"""
        facts = self._node_to_try_first()
        name = facts["node"]
        evaluation = NominatedNodeEvaluation(node=name)
        self.results.nominated_node = evaluation
        snapshot = self.state.snapshot
        try:
            snapshot.get(name)
        except LookupError as error:
            evaluation.error = str(error)
            return StageReport(stages.FILTER, facts=facts | {"error": evaluation.error})
        rows = snapshot.rows(np.array([snapshot.columns.row_of[name]]))
        outcome = self.framework.filter_rows(self.cycle_state, self.pod, rows, 1)
        if outcome.error is not None:
            evaluation.error = str(outcome.error.as_error())
            return StageReport(stages.FILTER, facts=facts | {"error": evaluation.error})
        self._diagnose(outcome)
        rejections = filter_rejections(outcome)
        if not len(outcome.feasible):
            status = outcome.verdicts[0]
            evaluation.rejected = PluginResult(status.failed_plugin, status)
            return StageReport(stages.FILTER, rejections=rejections, facts=facts)
        for extender in self._interested_extenders():
            rows, evaluation.error = self._filter_with_extender(extender, rows)
            if evaluation.error:
                return StageReport(stages.FILTER, facts=facts | {"error": evaluation.error})
            if not len(rows):
                return StageReport(stages.FILTER, facts=facts)
        evaluation.feasible = [name]
        self.feasible = rows
        # It was the only node that was evaluated.
        self.results.rejected_nodes = len(self.diagnosis.node_to_status)
        return self._found_feasible_nodes(facts | {"fits": True}, rejections)

    def _node_to_try_first(self) -> dict[str, Any]:
        """The facts of NominatedNode, with the node's name, until it fits."""
        return {"node": self.pod.pod.status.nominated_node_name, "fits": False}

    def _filter(self) -> StageReport:
        """Upstream: schedule_one.go findNodesThatPassFilters"""
        state, results = self.state, self.results
        names = None if results.pre_filter_nodes is None else frozenset(results.pre_filter_nodes)
        start = state.next_start_node_index
        try:
            rows = rows_in_search_order(state.snapshot, names, start)
        except LookupError as error:
            return self._fail(error_failure(str(error)), {"error": str(error)})
        want = self._num_feasible_nodes_to_find(len(rows))
        outcome = self.filtered = self.framework.filter_rows(self.cycle_state, self.pod, rows, want)
        # A node that the nominated pass rejected counts among the processed ones, once.
        statuses = self.diagnosis.node_to_status
        results.rejected_nodes = len(statuses.keys() | outcome.node_to_status().keys()) if statuses else len(outcome.rejected)
        if state.extenders and len(outcome.feasible) and outcome.error is None:
            self._diagnose(outcome)
        return self._end_filter(rows, outcome, want=want, index_modulo=len(rows))

    def _num_feasible_nodes_to_find(self, nodes: int) -> int:
        """How many feasible nodes end the search, by the profile's percentage, or else by the configuration's."""
        percentage = self.framework.percentage_of_nodes_to_score
        if percentage is None:
            percentage = self.state.percentage_of_nodes_to_score
        self.results.num_feasible_nodes_to_find = num_feasible_nodes_to_find(percentage, nodes)
        return self.results.num_feasible_nodes_to_find

    def _end_filter(self, rows: Rows, outcome: FilterOutcome, *, want: int, index_modulo: int) -> StageReport:
        """Advance the start index by the nodes that were processed, and go on with the feasible ones."""
        state, start, nodes = self.state, self.state.next_start_node_index, len(rows)
        feasible = len(outcome.feasible)
        state.next_start_node_index = (start + feasible + self.results.rejected_nodes) % index_modulo
        facts = {
            "start": start,
            "wanted": want,
            "evaluated": outcome.evaluated,
            "feasible": feasible,
            "nodes": nodes,
            "next": state.next_start_node_index,
        }
        rejections = filter_rejections(outcome)
        if outcome.error is not None:
            failed = outcome.error.as_error()
            return self._fail(error_failure(failed), {**facts, "error": str(failed)}, rejections=rejections)
        # If all nodes fit, `feasible` is the snapshot's own rows: scoring copies no columns.
        self.feasible = rows if feasible == nodes else rows.take(outcome.feasible)
        if state.extenders and feasible:
            return StageReport(stages.EXTENDER_FILTER, rejections=rejections, facts=facts)
        return self._found_feasible_nodes(facts, rejections)

    def _extender_filter(self) -> StageReport:
        """Filter with the next extender that is interested. Upstream: schedule_one.go findNodesThatPassExtenders"""
        rows, results = self.feasible, self.results
        assert rows is not None
        following = self._next_extender()
        if following is None:
            return self._found_feasible_nodes({}, [])
        index, extender = following
        results.extenders_done = index + 1
        remaining, error = self._filter_with_extender(extender, rows)
        record = results.extender_filter[-1]
        facts: dict[str, Any] = {
            "extender": extender.name,
            "feasible": len(remaining),
            "failed": len(record.failed),
            "unresolvable": len(record.unresolvable),
        }
        if record.error:
            facts |= {"error": record.error, "ignored": record.ignored}
        if error:
            self.feasible = rows.take(np.zeros(0, np.intp))
            return self._fail(error_failure(error), facts)
        self.feasible = remaining
        results.rejected_nodes = len(self.diagnosis.node_to_status)
        rejections = extender_rejections(record)
        if len(remaining) and self._next_extender() is not None:
            return StageReport(stages.EXTENDER_FILTER, rejections=rejections, facts=facts)
        return self._found_feasible_nodes(facts, rejections)

    def _interested_extenders(self) -> list[Extender]:
        return [extender for extender in self.state.extenders if extender.is_interested(self.pod)]

    def _next_extender(self) -> tuple[int, Extender] | None:
        for index, extender in enumerate(self.state.extenders):
            if index >= self.results.extenders_done and extender.is_interested(self.pod):
                return index, extender
        return None

    def _filter_with_extender(self, extender: Extender, rows: Rows) -> tuple[Rows, str]:
        """The rows that the extender keeps, and its error (""); rejected nodes are added to the diagnosis."""
        remaining, record = pass_extender(extender, self.pod, rows, self.diagnosis.node_to_status)
        self.results.extender_filter.append(record)
        return remaining, "" if record.ignored else record.error

    def _diagnose(self, outcome: FilterOutcome) -> None:
        """Add the rejected nodes and their plugins to the diagnosis, for the message and for preemption. The main pass is added once."""
        if outcome is self.filtered:
            if self.results.is_diagnosed:
                return
            self.results.is_diagnosed = True
        for status in outcome.rejections():
            self.diagnosis.add_plugin_status(status)
        self.diagnosis.node_to_status.add(outcome.rows, outcome.verdicts)

    def _found_feasible_nodes(self, facts: dict[str, Any], rejections: Sequence[RejectionView]) -> StageReport:
        assert self.feasible is not None
        feasible = len(self.feasible)
        if feasible == 0:
            return self._no_node_fits(facts, rejections=rejections)
        if feasible == 1 or not (self.framework.has_score_plugins or self.state.extenders):
            return StageReport(stages.SELECT_HOST, rejections=rejections, facts=facts)
        return StageReport(stages.PRE_SCORE, rejections=rejections, facts=facts)

    def _no_node_fits(
        self, facts: dict[str, Any], statuses: Sequence[StatusView] = (), rejections: Sequence[RejectionView] = ()
    ) -> StageReport:
        if self.filtered is not None:
            self._diagnose(self.filtered)
        if self.framework.has_post_filter_plugins:
            return StageReport(stages.POST_FILTER, statuses, rejections, facts)
        return self._fail(self._fit_failure(self.nominating_without_post_filter), facts, statuses, rejections)

    # Which of them is best. Upstream: schedule_one.go prioritizeNodes, selectHost

    def _pre_score(self) -> StageReport:
        assert self.feasible is not None
        outcome = self.framework.run_pre_score_plugins(self.cycle_state, self.pod, self.feasible)
        self.results.pre_score = outcome.plugin_results
        self.results.skipped_score_plugins = sorted(self.cycle_state.skip_score_plugins)
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success:
            return self._fail(error_failure(outcome.status.as_error()), {}, statuses)
        return StageReport(stages.SCORE, statuses, facts={"skipped": self.results.skipped_score_plugins})

    def _score(self) -> StageReport:
        """Run Score and NormalizeScore, one call of the framework; the result of the latter is shown at its own stage."""
        assert self.feasible is not None
        outcome = self.framework.run_score_plugins(self.cycle_state, self.pod, self.feasible)
        if not outcome.status.is_success:
            return self._fail(error_failure(outcome.status.as_error()), {})
        self.scored = outcome
        self._ranking_by_plugins = None
        facts: dict[str, Any] = {"plugins": [plugin.name for plugin in outcome.plugins], "nodes": len(self.feasible)}
        facts["best"] = best_raw(self.feasible, outcome, self.ranking_by_first_tied(outcome.totals))
        if self.state.priorities_v1_14 is not None:
            facts["priorities"] = self.state.priorities_v1_14.run(self.pod, self.feasible, self.state.snapshot)
        return StageReport(stages.NORMALIZE_SCORE, facts=facts)

    def _normalize_score(self) -> StageReport:
        assert self.feasible is not None
        facts: dict[str, Any] = {}
        if self.scored is not None:
            facts["weights"] = [plugin.weight for plugin in self.scored.plugins]
            facts["best"] = best_normalized(self.feasible, self.scored, self.ranking_by_first_tied(self.scored.totals))
        return StageReport(stages.EXTENDER_PRIORITIZE if self.state.extenders else stages.SELECT_HOST, facts=facts)

    def _extender_prioritize(self) -> StageReport:
        """Get the extenders' scores; an extender that fails is ignored."""
        assert self.feasible is not None
        scores = {extender.name: extender.prioritize(self.pod, self.feasible) for extender in self._interested_extenders()}
        self.results.extender_scores = scores
        return StageReport(stages.SELECT_HOST, facts={"extenders": [name for name, record in scores.items() if not record.error]})

    def totals(self) -> Scores:
        """The total of each feasible node, from plugins and extenders."""
        assert self.feasible is not None
        return totals(self.feasible, self.scored, self.results.extender_scores)

    def ranking_by_first_tied(self, scores: Scores) -> Ranking:
        """The ranking in which the first of tied nodes wins. That of the plugins' totals, which three stages need, is computed once."""
        if self.scored is None or scores is not self.scored.totals:
            return rank(scores, None)
        if self._ranking_by_plugins is None:
            self._ranking_by_plugins = rank(scores, None)
        return self._ranking_by_plugins

    def _ranking(self, scores: Scores) -> Ranking:
        return rank(scores, self.state.random_source) if self.state.tie_break == "random" else self.ranking_by_first_tied(scores)

    def _select_host(self) -> StageReport:
        rows = self.feasible
        assert rows is not None
        results = self.results
        results.feasible_nodes = len(rows)
        if len(rows) == 1:
            results.node = rows.names[0]
            return StageReport(stages.ASSUME, facts={"node": results.node, "reason": "only one"})
        scores = self.totals()
        ranking = self._ranking(scores)
        results.node = rows.names[ranking.winner]
        results.ranking = ranking
        facts = {"node": results.node, "total": ranking.total, "tied": ranking.tied_nodes}
        return StageReport(stages.ASSUME, facts=facts)

    # No node fits: preemption. Upstream: schedule_one.go schedulingCycle, RunPostFilterPlugins

    def _post_filter(self) -> StageReport:
        outcome = self.framework.run_post_filter_plugins(self.cycle_state, self.pod, self.diagnosis.node_to_status)
        self.results.post_filter = outcome
        self.diagnosis.post_filter_msg = outcome.status.message
        nominating = None if outcome.result is None else outcome.result.nominating_info
        record = None if outcome.result is None else outcome.result.record
        facts: dict[str, Any] = {}
        if nominating is not None:
            facts["nominatedNode"] = nominating.nominated_node_name
        if record is not None:
            facts["candidates"] = len(record.candidates)
            facts["victims"] = list(record.victims)
            if record.rule:
                facts["rule"] = record.rule
        return self._fail(self._fit_failure(nominating), facts, statuses_of(outcome.plugin_results))

    def _fit_failure(self, nominating: NominatingInfo | None) -> Failure:
        return fit_failure(FitError(self.pod.key, self.state.snapshot.num_nodes, self.diagnosis), nominating)

    # The pod takes the node. Upstream: schedule_one.go schedulingCycle

    def _assume(self) -> StageReport:
        node = self.results.node
        assumed = self.assumed = self.queued.pod_info.assigned(node)
        self.queued.pod_info = assumed
        try:
            self.state.cache.assume_pod(assumed)
        except CacheError as error:
            return self._fail(error_failure(str(error)), {"node": node, "error": str(error)})
        self.state.queue.delete_nominated_pod_if_exists(assumed)
        return StageReport(stages.RESERVE, facts={"node": node})

    def _reserve(self) -> StageReport:
        assert self.assumed is not None
        outcome = self.framework.run_reserve_plugins_reserve(self.cycle_state, self.assumed, self.results.node)
        self.results.reserve = outcome.plugin_results
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success:
            self.failure = Failure(outcome.status)
            return StageReport(stages.UNRESERVE, statuses)
        return StageReport(stages.PERMIT, statuses)

    def _permit(self) -> StageReport:
        assert self.assumed is not None
        outcome = self.framework.run_permit_plugins(self.cycle_state, self.assumed, self.results.node)
        self.results.permit = outcome.plugin_results
        statuses = statuses_of(outcome.plugin_results)
        if not outcome.status.is_success and not outcome.status.is_wait:
            self.failure = Failure(outcome.status)
            return StageReport(stages.UNRESERVE, statuses)
        facts: dict[str, Any] = {}
        waiting = self.framework.waiting_pods.get(self.assumed.uid)
        if waiting is not None:
            facts["waitSeconds"] = nanos_to_seconds(waiting.deadline - self.state.clock.now)
        if self.cycle_state.read(PODS_TO_ACTIVATE_KEY).pods:
            return StageReport(stages.ACTIVATE, statuses, facts=facts)
        self.results.outcome = SCHEDULED
        return StageReport(stages.ENDED, statuses, facts=facts)

    def _activate(self) -> StageReport:
        pods = activate(self.state, self.cycle_state)
        self.results.outcome = SCHEDULED
        return StageReport(stages.ENDED, facts={"pods": pods})

    # The cycle failed.

    def _unreserve(self) -> StageReport:
        assert self.assumed is not None
        plugins = self.framework.run_reserve_plugins_unreserve(self.cycle_state, self.assumed, self.results.node)
        self.results.unreserve = plugins
        return StageReport(stages.FORGET_POD, facts={"plugins": plugins})

    def _forget_pod(self) -> StageReport:
        assert self.assumed is not None
        error = self.state.forget_pod(self.assumed)
        return StageReport(stages.HANDLE_SCHEDULING_FAILURE, facts={"error": error} if error else {})

    def _handle_scheduling_failure(self) -> StageReport:
        failure, results = self.failure, self.results
        assert failure is not None
        facts = self._handle_failure(failure)
        results.outcome = failure.outcome
        results.node = ""
        results.message = failure.message
        results.condition_reason = failure.condition_reason
        results.unschedulable_plugins = list(failure.unschedulable_plugins or ())
        results.nominating = failure.nominating_info
        return StageReport(stages.ENDED, facts=facts)

    def _handle_failure(self, failure: Failure) -> dict[str, Any]:
        """Returns the facts of the stage."""
        return handle_scheduling_failure(self.state, self.framework, self.queued, failure)

    def _fail(
        self,
        failure: Failure,
        facts: dict[str, Any],
        statuses: Sequence[StatusView] = (),
        rejections: Sequence[RejectionView] = (),
    ) -> StageReport:
        self.failure = failure
        return StageReport(stages.HANDLE_SCHEDULING_FAILURE, statuses, rejections, facts)

    #: The stages in upstream's order, and what can follow each. Upstream: schedule_one.go schedulingCycle
    STAGES: ClassVar[Mapping[str, Stage[Callable[[SchedulingCycle], StageReport]]]] = stages.table(
        Stage(stages.POP, _pop, (stages.SKIP_POD_SCHEDULE,)),
        Stage(stages.SKIP_POD_SCHEDULE, _skip_pod_schedule, (stages.UPDATE_SNAPSHOT, stages.ENDED)),
        # schedulePod: which nodes can run the pod
        Stage(stages.UPDATE_SNAPSHOT, _update_snapshot, (stages.PRE_FILTER, stages.HANDLE_SCHEDULING_FAILURE)),
        Stage(stages.PRE_FILTER, _pre_filter, (stages.FILTER, stages.NOMINATED_NODE, *_NO_NODE_FITS)),
        Stage(stages.NOMINATED_NODE, _nominated_node, (stages.FILTER, *_FEASIBLE_NODES)),
        Stage(stages.FILTER, _filter, (*_FEASIBLE_NODES, stages.EXTENDER_FILTER, *_NO_NODE_FITS)),
        Stage(stages.EXTENDER_FILTER, _extender_filter, (*_FEASIBLE_NODES, stages.EXTENDER_FILTER, *_NO_NODE_FITS)),
        # schedulePod: which of them is best
        Stage(stages.PRE_SCORE, _pre_score, (stages.SCORE, stages.HANDLE_SCHEDULING_FAILURE)),
        Stage(stages.SCORE, _score, (stages.NORMALIZE_SCORE, stages.HANDLE_SCHEDULING_FAILURE)),
        Stage(stages.NORMALIZE_SCORE, _normalize_score, (stages.SELECT_HOST, stages.EXTENDER_PRIORITIZE)),
        Stage(stages.EXTENDER_PRIORITIZE, _extender_prioritize, (stages.SELECT_HOST,)),
        Stage(stages.SELECT_HOST, _select_host, (stages.ASSUME,)),
        # No node fits: preemption
        Stage(stages.POST_FILTER, _post_filter, (stages.HANDLE_SCHEDULING_FAILURE,)),
        # The pod takes the node
        Stage(stages.ASSUME, _assume, (stages.RESERVE, stages.HANDLE_SCHEDULING_FAILURE)),
        Stage(stages.RESERVE, _reserve, (stages.PERMIT, stages.UNRESERVE)),
        Stage(stages.PERMIT, _permit, (stages.ENDED, stages.ACTIVATE, stages.UNRESERVE)),
        Stage(stages.ACTIVATE, _activate, (stages.ENDED,)),
        # The cycle failed
        Stage(stages.UNRESERVE, _unreserve, (stages.FORGET_POD,)),
        Stage(stages.FORGET_POD, _forget_pod, (stages.HANDLE_SCHEDULING_FAILURE,)),
        Stage(stages.HANDLE_SCHEDULING_FAILURE, _handle_scheduling_failure, (stages.ENDED,)),
    )

    def begin(self) -> None:
        """Run the first stage, Pop. Unlike the others it is not timed: upstream's durations start after it."""
        report = self._pop()
        self.stage = report.next_stage
        self._record_stage(stages.POP, report)

    def advance(self) -> None:
        """Run one stage and record what it found."""
        stage, recorder = self.stage, self.recorder
        began = stage_timing.begin(recorder, self.framework, self.number)
        report = self.STAGES[stage].run(self)
        self.stage = report.next_stage
        self._record_stage(stage, report)
        stage_timing.end(recorder, self.framework, began)
        if report.next_stage == stages.ENDED:
            self._end()

    def _record_stage(self, stage: str, report: StageReport) -> None:
        self.recorder.record(
            StageEnded,
            stage=stage,
            next_stage=report.next_stage,
            statuses=report.statuses,
            rejections=report.rejections,
            facts=report.facts,
        )
        self.results.stages.append(StageView(stage=stage, statuses=report.statuses, rejections=report.rejections, facts=report.facts))

    def _end(self) -> None:
        results, state = self.results, self.state
        results.next_start_node_index = state.next_start_node_index
        if results.ranking is not None and self.feasible is not None and results.outcome == SCHEDULED:
            results.tied = tied_names(results.ranking, self.feasible)
            results.winner, results.runner_up = scored_nodes(results.ranking, self.feasible, self.scored, results.extender_scores)
        self.recorder.record(
            CycleEnded,
            pod=self.queued.key,
            outcome=results.outcome,
            node=results.node,
            message=results.message,
            condition_reason=results.condition_reason,
            evaluated_nodes=results.evaluated_nodes,
            feasible_nodes=results.feasible_nodes,
            num_feasible_nodes_to_find=results.num_feasible_nodes_to_find,
            start_node_index=results.start_node_index,
            next_start_node_index=results.next_start_node_index,
            tied_nodes=results.tied_nodes,
            tied=results.tied,
            winner=results.winner,
            runner_up=results.runner_up,
            unschedulable_plugins=results.unschedulable_plugins,
        )


def activate(state: SchedulerState, cycle_state: CycleState) -> list[str]:
    """Move the pods that plugins requested to activeQ, and return their keys. Upstream: schedule_one.go, end of both cycles"""
    pods_to_activate = cycle_state.read(PODS_TO_ACTIVATE_KEY)
    pods = list(pods_to_activate.pods)
    state.queue.activate(pods)
    pods_to_activate.pods.clear()
    return pods
