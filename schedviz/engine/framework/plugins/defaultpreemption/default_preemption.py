"""DefaultPreemption: makes room for a pod by evicting pods of lower priority.

Exact for now where no pod of a lower priority runs on a node on which preemption might help.
Upstream: framework/plugins/defaultpreemption/default_preemption.go, framework/preemption/preemption.go
"""

from __future__ import annotations

from typing import Final

from schedviz.engine.config.plugin_args import DefaultPreemptionArgs
from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.fit_error import Diagnosis, FitError, NodeToStatusMap
from schedviz.engine.framework.interface import Handle, NominatingInfo, NominatingMode, PostFilterResult
from schedviz.engine.framework.listers import SharedLister
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.status import Code, Status, StatusError, as_status, unresolvable, unschedulable
from schedviz.engine.framework.types import NodeInfo, PodInfo
from schedviz.kube.core import Pod

_NOT_HELPFUL: Final = unresolvable("Preemption is not helpful for scheduling")
_NO_VICTIMS: Final = unresolvable("No preemption victims found for incoming pod")

#: Above every pod's priority.
_NO_POD: Final = 2**62

#: Nothing is nominated, and an earlier nomination is taken back. Upstream: NewPostFilterResultWithNominatedNode("")
_CLEARED: Final = PostFilterResult(NominatingInfo(NominatingMode.OVERRIDE, ""))


class DefaultPreemption:
    name = names.DEFAULT_PREEMPTION

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle

    def uses(self, pod: PodInfo, snapshot: SharedLister | None) -> bool:
        """Whether a pod of lower priority runs that could be evicted for this one. Without a snapshot nobody knows yet: no."""
        if snapshot is None or pod.pod.spec.preemption_policy == "Never":
            return False
        if not snapshot.node_info_list:
            return False
        return int(snapshot.rows().info_column("lowest-priority", _lowest_priority).min()) < pod.priority

    def post_filter(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:
        result, status = self._preempt(state, pod, node_to_status)
        return result, Status(status.code, (f"preemption: {status.message}",)) if status.message else status

    def _preempt(self, state: CycleState, pod: PodInfo, node_to_status: NodeToStatusMap) -> tuple[PostFilterResult | None, Status]:  # noqa: ARG002
        """Upstream: framework/preemption/preemption.go Preempt"""
        latest: Pod | None = self._handle.objects.get("Pod", pod.namespace, pod.name)
        if latest is None:
            return None, as_status(StatusError(f'pod "{pod.name}" not found', "pods", pod.name))
        preemptor = pod.like(latest)
        why_not = self._not_eligible(preemptor, node_to_status)
        if why_not:
            return None, unschedulable(why_not)
        nodes = self._handle.snapshot.node_info_list
        if not nodes:
            return None, as_status("no nodes available")
        statuses: NodeToStatusMap = {}
        helpful = False
        for node_info in nodes:
            status = node_to_status.get(node_info.name)
            hopeless = status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
            helpful = helpful or not hopeless
            statuses[node_info.name] = _NOT_HELPFUL if hopeless else _NO_VICTIMS
        if not helpful:
            self._handle.client.clear_nominated_node_name(latest)
        error = FitError(preemptor.key, len(statuses), Diagnosis(statuses))
        return _CLEARED, unschedulable(error.message)

    def _not_eligible(self, pod: PodInfo, node_to_status: NodeToStatusMap) -> str:
        """Why a pod may not evict others; "" where it may. Upstream: PodEligibleToPreemptOthers"""
        if pod.pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = pod.pod.status.nominated_node_name
        if not nominated:
            return ""
        status = node_to_status.get(nominated)
        if status is not None and status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node_info = self._handle.snapshot.node_info_map.get(nominated)
        others = node_info.pods if node_info is not None else ()
        if any(other.priority < pod.priority and _terminating_by_preemption(other.pod) for other in others):
            return "not eligible due to a terminating pod on the nominated node."
        return ""


def _lowest_priority(node_info: NodeInfo) -> int:
    return min((pod.priority for pod in node_info.pods), default=_NO_POD)


def _terminating_by_preemption(pod: Pod) -> bool:
    """Whether the pod goes because the scheduler evicted it. Upstream: podTerminatingByPreemption"""
    if pod.metadata.deletion_timestamp is None:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False
