"""v1.18's preemption: a node on which the pod passes the default filters without any victim is a candidate.

An extender that filters but does not preempt is not called, so a pod that only the extender rejects is nominated, at every attempt, to a
node on which it cannot run. v1.27.1 rejects such a node. Of several nodes without victims upstream takes any (it iterates a map); here the
first.

Upstream: v1.18 pkg/scheduler/core/generic_scheduler.go Preempt, selectNodesForPreemption, selectVictimsOnNode, pickOneNodeForPreemption,
processPreemptionWithExtenders, podEligibleToPreemptOthers; pkg/scheduler/scheduler.go preempt
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import NodeToStatusMap
from schedviz.engine.framework.interface import NominatingInfo, NominatingMode, PostFilterResult
from schedviz.engine.framework.plugins.defaultpreemption.default_preemption import DefaultPreemption
from schedviz.engine.framework.preemption import Evaluator, NodeVictims, pick_one_node
from schedviz.engine.framework.preemption.evaluator import may_help, shown
from schedviz.engine.framework.preemption.record import PreemptionRecord
from schedviz.engine.framework.status import SUCCESS, Status, as_status, unschedulable
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod

_NOWHERE = unschedulable()


class PreemptionV118(DefaultPreemption):
    """Replaces DefaultPreemption in a profile with v1.18's behaviour."""

    needs_victims = False

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        """Nominate the pod to a node. Without one, an earlier nomination stays and the message does not mention preemption."""
        return EvaluatorV118(self.name, self._handle, state, self).preempt(pod, node_to_status)

    def num_candidates(self, num_nodes: int) -> int:
        """All nodes are candidates. Upstream: selectNodesForPreemption"""
        return num_nodes + 1

    def pod_eligible_to_preempt_others(self, pod: PodInfo, nominated_node_status: Status | None) -> str:  # noqa: ARG002
        """Not while a pod of lower priority terminates on the nominated node, whatever deleted it. Upstream: podEligibleToPreemptOthers"""
        if pod.pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        node_info = self._handle.snapshot.node_info_map.get(pod.pod.status.nominated_node_name)
        others = node_info.pods if node_info is not None else ()
        if any(other.pod.metadata.deletion_timestamp is not None and other.priority < pod.priority for other in others):
            return "not eligible due to a terminating pod on the nominated node."
        return ""


class EvaluatorV118(Evaluator):
    """One preemption attempt."""

    def preempt(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        latest: Pod | None = self._handle.objects.get("Pod", pod.namespace, pod.name)
        if latest is None:
            return None, as_status(f'pod "{pod.name}" not found')
        preemptor = pod.info_of(latest)
        if self._selector.pod_eligible_to_preempt_others(preemptor, None):
            return None, _NOWHERE
        rows = self._handle.snapshot.rows()
        potential = np.flatnonzero(node_to_status.mask(rows, may_help, absent=True))
        if not len(potential):
            self._handle.client.clear_nominated_node_name(preemptor.pod)
            return PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, "")), _NOWHERE

        candidates, _, errors = self._dry_run(preemptor, rows.take(potential))
        if errors:
            return None, as_status(errors[0])
        shown_candidates = tuple(map(shown, candidates))
        candidates, error = self._process_preemption_with_extenders(preemptor, candidates)
        shown_after_extenders = tuple(map(shown, candidates)) if self._handle.extenders else None
        if error:
            return PostFilterResult(record=PreemptionRecord(shown_candidates, shown_after_extenders)), as_status(error)
        if not candidates:
            return PostFilterResult(record=PreemptionRecord(shown_candidates, shown_after_extenders)), _NOWHERE

        best = _pick(candidates, self._handle.clock())
        self._evict(best, preemptor)
        record = PreemptionRecord(
            shown_candidates, shown_after_extenders, chosen=best.node, victims=tuple(victim.key for victim in best.pods)
        )
        return PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, best.node), record), SUCCESS

    def _process_preemption_with_extenders(self, pod: PodInfo, candidates: list[NodeVictims]) -> tuple[list[NodeVictims], str]:
        """The candidates that extenders keep; a node stays if an extender returns no victims for it.

        Upstream: processPreemptionWithExtenders
        """
        for extender in self._handle.extenders:
            if not candidates:
                break
            if not extender.supports_preemption or not extender.is_interested(pod):
                continue
            remaining, error = extender.process_preemption(pod, candidates, self._handle.snapshot)
            if error and not extender.is_ignorable:
                return [], error
            if error:
                continue
            candidates = remaining
        return candidates, ""

    def _evict(self, chosen: NodeVictims, pod: PodInfo) -> None:
        """Delete the victims and clear nominations of pods of lower priority; stops at the first error. Upstream: scheduler.go preempt"""
        client = self._handle.client
        for victim in chosen.pods:
            if client.delete_pod(victim.pod) is not None:
                return
            self._handle.reject_waiting_pod(victim.uid, self._plugin, "preempted")
            client.record_event(
                victim.pod,
                profile=self._handle.profile_name,
                type_="Normal",
                reason="Preempted",
                action="Preempting",
                note=f"Preempted by {pod.namespace}/{pod.name} on node {chosen.node}",
                related=pod.key,
            )
        for other in self._handle.nominator.nominated_pods_for_node(chosen.node):
            if other.priority < pod.priority:
                client.clear_nominated_node_name(other.pod)


def _pick(candidates: Sequence[NodeVictims], now: int) -> NodeVictims:
    """Prefer a node without victims. Upstream: pickOneNodeForPreemption"""
    without = next((candidate for candidate in candidates if not candidate.pods), None)
    return without or pick_one_node(candidates, now)
