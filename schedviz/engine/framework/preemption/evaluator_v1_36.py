"""`EvaluatorV136`: one preemption attempt for a pod, as v1.36 makes it. Upstream: framework/preemption/preemption.go"""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.fit_error_v1_36 import DiagnosisV136, FitErrorV136, NodeToStatus
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode, PostFilterResult, PreemptionRecord
from schedviz.engine.framework.preemption.evaluator import Evaluator, aggregate, shown
from schedviz.engine.framework.preemption.executor import Executor
from schedviz.engine.framework.preemption.importance import NodeVictims, pick
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod

_NOT_HELPFUL: Final = unresolvable("Preemption is not helpful for scheduling")


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
        nodes = handle.snapshot.node_info_list
        if not nodes:
            return None, as_status("no nodes available")

        candidates, rejected, errors = self._candidates(preemptor, statuses)
        if errors and not candidates:
            return None, as_status(aggregate(errors))
        if not candidates:
            diagnosis = DiagnosisV136.new()
            diagnosis.node_to_status.update(rejected)
            diagnosis.nodes.absent_nodes_status = _NOT_HELPFUL
            return _nominating(""), unschedulable(FitErrorV136(preemptor.key, len(nodes), diagnosis).message)

        found = tuple(shown(candidate, pod_by_pod=handle.keeps_details) for candidate in candidates)
        candidates, status = self._call_extenders(preemptor, candidates)
        left = tuple(map(shown, candidates)) if handle.extenders else None
        record = PreemptionRecord(candidates=found, after_extenders=left)
        if not status.is_success:
            return PostFilterResult(record=record), status
        if not candidates:
            return PostFilterResult(record=record), unschedulable("no candidate node for preemption")

        picked = pick(candidates, handle.clock())
        best = picked.candidate
        record = PreemptionRecord(found, left, chosen=best.node, victims=tuple(one.key for one in best.pods), rule=picked.rule)
        status = Executor(handle, self._plugin).actuate(Preemptor.of_pod(preemptor), best.node, best.pods)
        if not status.is_success:
            return PostFilterResult(record=record), status
        return _nominating(best.node, record), SUCCESS

    def _candidates(self, pod: PodInfo, statuses: NodeToStatus) -> tuple[list[NodeVictims], NodeToStatusMap, list[StatusError]]:
        """Nodes on which preemption helps: those whose status is Unschedulable are tried. Upstream: findCandidates"""
        nodes = self._handle.snapshot.node_info_list
        potential = [info for info in nodes if statuses.status_of(info.name).code is Code.UNSCHEDULABLE]
        return self._dry_run(pod, potential) if potential else ([], {}, [])


def _nominating(node: str, record: PreemptionRecord | None = None) -> PostFilterResult:
    """Upstream: NewPostFilterResultWithNominatedNode; "" clears an earlier nomination."""
    return PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, node), record or PreemptionRecord())
