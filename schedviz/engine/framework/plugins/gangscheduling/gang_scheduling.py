"""GangScheduling: the pods of a gang wait until there are enough of them, and are bound only if enough of them have a node. v1.36.

Upstream: framework/plugins/gangscheduling/gangscheduling.go
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from schedviz.engine.framework.cycle_state import CycleState
from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.listers import find_pod_group
from schedviz.engine.framework.plugins import names
from schedviz.engine.framework.plugins.helper.hint_objects import after, queue_if
from schedviz.engine.framework.pod_groups import PodGroupInfo, PodGroups, group_of
from schedviz.engine.framework.status import SUCCESS, Code, Status, StatusError, as_status, unresolvable
from schedviz.engine.framework.types import (
    GVK,
    NANOS_PER_SECOND,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    PodInfo,
    QueueingHint,
    RegisteredEvent,
)
from schedviz.kube.core import Pod
from schedviz.kube.meta import KubeObject
from schedviz.kube.workloads import PodGroup

#: How long a pod waits at Permit for the others. Upstream: permitTimeoutDuration
PERMIT_TIMEOUT: Final = 5 * 60 * NANOS_PER_SECOND

_TOO_FEW_PODS: Final = unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
_TOO_FEW_SCHEDULED: Final = Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",))


class GangScheduling:
    name = names.GANG_SCHEDULING

    def __init__(self, _args: Any, handle: Handle) -> None:
        self._handle = handle

    def events_to_register(self) -> Sequence[RegisteredEvent]:
        return (
            ClusterEventWithHint(ClusterEvent(GVK.POD, ActionType.ADD), _after_pod_added),
            ClusterEventWithHint(ClusterEvent(GVK.POD_GROUP, ActionType.ADD), _after_pod_group_added),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Gate the pod until its PodGroup exists, and until the cluster has minCount pods of a gang."""
        group = group_of(pod.pod)
        if group is None:
            return SUCCESS
        pod_group = find_pod_group(self._handle.objects, group)
        if pod_group is None:
            return unresolvable(f'waiting for pods\'s pod group "{group.name}" to appear in scheduling queue')
        gang = pod_group.spec.scheduling_policy.gang
        if gang is None:
            return SUCCESS
        try:
            state = self._handle.pod_groups.pod_group(group.key)
        except LookupError as error:
            return as_status(str(error))
        return _TOO_FEW_PODS if len(state.all_pods) < gang.min_count else SUCCESS

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> tuple[Status, int]:  # noqa: ARG002 - the extension point's shape
        """Let the pod wait until minCount pods of its gang have a node, and then allow all that wait.

        In a pod group's scheduling cycle the pods are counted in the snapshot, in which the cycle places them; otherwise in the cache.
        """
        group = group_of(pod.pod)
        if group is None:
            return SUCCESS, 0
        pod_group = find_pod_group(self._handle.objects, group)
        if pod_group is None:
            return as_status(pod_group_not_found(group).wrap(f"failed to get podGroup {group.key}")), 0
        gang = pod_group.spec.scheduling_policy.gang
        if gang is None:
            return SUCCESS, 0
        groups: PodGroups = self._handle.snapshot if state.is_pod_group_scheduling_cycle else self._handle.pod_groups
        try:
            members = groups.pod_group(group.key)
        except LookupError as error:
            return as_status(str(error)), 0
        if members.scheduled_pods_count < gang.min_count:
            self._handle.activate([other.key for other in members.unscheduled_pods()])
            return _TOO_FEW_SCHEDULED, PERMIT_TIMEOUT
        for uid in sorted(members.assumed):
            self._handle.allow_waiting_pod(uid, self.name)
        return SUCCESS, 0


def pod_group_not_found(group: PodGroupInfo) -> StatusError:
    """The lister's error for a group that does not exist."""
    return StatusError(f'podgroup.scheduling.k8s.io "{group.name}" not found', "podgroups", group.name)


def _after_pod_added(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodAdded"""
    group = group_of(pod.pod)
    return queue_if(group is not None and group == group_of(after(Pod, old, new)))


def _after_pod_group_added(pod: PodInfo, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Upstream: isSchedulableAfterPodGroupAdded"""
    group, added = group_of(pod.pod), after(PodGroup, old, new).metadata
    return queue_if(group is not None and group == (added.namespace, added.name))
