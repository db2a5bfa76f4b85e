"""`EvaluatorV136`: one preemption attempt for a pod, as v1.36 makes it. Upstream: framework/preemption/preemption.go"""

from __future__ import annotations

import numpy as np

from schedviz.engine.framework.fit_error import FitError, NodeToStatusMap
from schedviz.engine.framework.fit_error_v1_36 import DiagnosisV136, FitErrorV136, NodeToStatus
from schedviz.engine.framework.preemption.evaluator import NO_NODES, NOT_HELPFUL, Evaluator
from schedviz.engine.framework.preemption.executor import Executor
from schedviz.engine.framework.preemption.importance import NodeVictims
from schedviz.engine.framework.preemption.preemptor import Preemptor
from schedviz.engine.framework.status import Code, Status, StatusError
from schedviz.engine.framework.types import PodInfo


class EvaluatorV136(Evaluator):
    """One preemption of one plugin for one pod."""

    def _find_candidates(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[list[NodeVictims], FitError, list[StatusError]]:
        """Nodes on which preemption helps, why it helps on none, and the errors of dry runs. Upstream: findCandidates"""
        rows = self._handle.snapshot.rows()
        diagnosis = DiagnosisV136.new()
        diagnosis.nodes.absent_nodes_status = NOT_HELPFUL
        fit_error = FitErrorV136(pod.key, len(rows), diagnosis)
        if not len(rows):
            return [], fit_error, [NO_NODES]
        assert isinstance(node_to_status, NodeToStatus)
        is_potential = node_to_status.mask(rows, _may_help, absent=_may_help(node_to_status.absent_nodes_status))
        potential = rows.take(np.flatnonzero(is_potential))
        if not len(potential):
            return [], fit_error, []
        result = self._dry_run(pod, potential)
        diagnosis.node_to_status.add(potential, result.verdicts)
        return result.candidates, fit_error, result.errors

    def _prepare(self, chosen: NodeVictims, pod: PodInfo) -> Status:
        """Evict the victims, now or asynchronously. Upstream: actuatePodPreemption"""
        return Executor(self._handle, self._plugin).actuate(Preemptor.of_pod(pod), chosen.node, chosen.pods)


def _may_help(status: Status) -> bool:
    return status.code is Code.UNSCHEDULABLE
