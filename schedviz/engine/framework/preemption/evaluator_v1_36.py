"""`EvaluatorV136`: one preemption attempt for a pod, as v1.36 makes it. Upstream: framework/preemption/preemption.go"""

from __future__ import annotations

import numpy as np

from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.fit_error_v1_36 import DiagnosisV136, FitErrorV136, NodeToStatus
from schedviz.engine.framework.interface import PostFilterResult
from schedviz.engine.framework.preemption.evaluator import NOT_HELPFUL, Evaluator, VictimSearchResult, aggregate, nominating, shown
from schedviz.engine.framework.preemption.executor import Executor
from schedviz.engine.framework.preemption.importance import pick
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.preemption.record import PreemptionRecord
from schedviz.engine.framework.rows import Rows
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unschedulable
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.framework.verdicts import Verdicts
from schedviz.kube.core import Pod


class EvaluatorV136(Evaluator):
    """One preemption of one plugin for one pod."""

    def preempt(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        """Evict victims and return the nomination, or why there is none. Upstream: Preempt"""
        handle = self._handle
        latest: Pod | None = handle.objects.get("Pod", pod.namespace, pod.name)
        if latest is None:
            return None, as_status(StatusError(f'pod "{pod.name}" not found', "pods", pod.name))
        preemptor = pod.like(latest)
        statuses = node_to_status if isinstance(node_to_status, NodeToStatus) else NodeToStatus(node_to_status)
        nominated = latest.status.nominated_node_name
        why_not = self._selector.pod_eligible_to_preempt_others(preemptor, statuses.status_of(nominated) if nominated else None)
        if why_not:
            return None, unschedulable(why_not)
        rows = handle.snapshot.rows()
        if not len(rows):
            return None, as_status("no nodes available")

        potential = rows.take(np.flatnonzero(statuses.mask(rows, _may_help, absent=_may_help(statuses.absent_nodes_status))))
        candidates, verdicts, errors = self._candidates(preemptor, potential)
        if errors and not candidates:
            return None, as_status(aggregate(errors))
        if not candidates:
            diagnosis = DiagnosisV136.new()
            diagnosis.node_to_status.add(potential, verdicts)
            diagnosis.nodes.absent_nodes_status = NOT_HELPFUL
            return nominating(""), unschedulable(FitErrorV136(preemptor.key, len(rows), diagnosis).message)

        shown_candidates = tuple(shown(candidate, pod_by_pod=handle.keeps_details) for candidate in candidates)
        candidates, status = self._call_extenders(preemptor, candidates)
        shown_after_extenders = tuple(map(shown, candidates)) if handle.extenders else None
        record = PreemptionRecord(candidates=shown_candidates, after_extenders=shown_after_extenders)
        if not status.is_success:
            return PostFilterResult(record=record), status
        if not candidates:
            return PostFilterResult(record=record), unschedulable("no candidate node for preemption")

        picked = pick(candidates, handle.clock())
        best = picked.candidate
        record = PreemptionRecord(
            shown_candidates, shown_after_extenders, chosen=best.node, victims=tuple(pod.key for pod in best.pods), rule=picked.rule
        )
        status = Executor(handle, self._plugin).actuate(Preemptor.of_pod(preemptor), best.node, best.pods)
        if not status.is_success:
            return PostFilterResult(record=record), status
        return nominating(best.node, record), SUCCESS

    def _candidates(self, pod: PodInfo, rows: Rows) -> VictimSearchResult:
        """Nodes on which preemption helps. Upstream: findCandidates"""
        return self._dry_run(pod, rows) if len(rows) else VictimSearchResult([], Verdicts.all(0, SUCCESS), [])


def _may_help(status: Status) -> bool:
    return status.code is Code.UNSCHEDULABLE
