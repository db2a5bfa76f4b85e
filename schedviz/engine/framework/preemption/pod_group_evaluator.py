"""`PodGroupEvaluator`: which pods, or whole groups, to evict so that a pod group can be scheduled. v1.36, gate WorkloadAwarePreemption.

Upstream: framework/preemption/podgrouppreemption.go, types.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from schedviz.engine.framework.interface import Handle, PodGroupDryRun
from schedviz.engine.framework.listers import find_pod_group
from schedviz.engine.framework.pod_groups import group_of
from schedviz.engine.framework.preemption.budgets import Budgets
from schedviz.engine.framework.preemption.executor import Executor
from schedviz.engine.framework.preemption.importance import start_time
from schedviz.engine.framework.preemption.preemptor import Preemptor, priority_of
from schedviz.engine.framework.status import Status, unresolvable, unschedulable
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.workloads import PodGroup

#: `spec.disruptionMode` of a group whose pods are evicted together.
_AS_A_GROUP = "PodGroup"


class Victim:
    """Pods that are evicted together: one pod, or all pods of a group. Upstream: victim"""

    def __init__(self, pod: PodInfo, priority: int, now: int) -> None:
        self.pods = [pod]
        self.priority = priority
        self.is_group = group_of(pod.pod) is not None
        # Upstream ignores the start times of the other pods of a group.
        self.earliest_start = start_time(pod, now)

    @property
    def importance(self) -> tuple[float, ...]:
        """Sorts the more important victim first. Upstream: moreImportantVictim"""
        size = len(self.pods) if self.is_group else 0
        return (-self.priority, not self.is_group, -size, self.earliest_start)


class PodGroupEvaluator:
    """One preemption of one plugin for one group."""

    def __init__(self, plugin: str, handle: Handle, budgets: Budgets) -> None:
        self._plugin = plugin
        self._handle = handle
        self._budgets = budgets

    def preempt(self, group: PodGroup, pods: Sequence[PodInfo], dry_run: PodGroupDryRun) -> tuple[Status, list[PodInfo]]:
        """Evict victims. Returns Success and the victims, or why there are none. Upstream: Preempt"""
        preemptor = Preemptor.of_group(group, pods)
        victims = self._select_victims(preemptor, dry_run)
        if isinstance(victims, Status):
            return victims, []
        return Executor(self._handle, self._plugin).actuate(preemptor, "cluster", victims), victims

    def _select_victims(self, preemptor: Preemptor, dry_run: PodGroupDryRun) -> list[PodInfo] | Status:
        """Remove all pods of lower priority, and put back as many as the group leaves room for. Upstream: selectVictimsOnDomain"""
        if any(pod.pod.spec.preemption_policy == "Never" for pod in preemptor.pods):
            return unschedulable("not eligible due to preemptionPolicy=Never.")
        potential = [victim for victim in self._possible_victims(dry_run) if victim.priority < preemptor.priority]
        if not potential:
            return unresolvable("No preemption victims found for incoming preemptor")
        for victim in potential:
            _each(dry_run.remove, victim)
        status = dry_run.try_pods()
        if not status.is_success:
            return status
        potential.sort(key=lambda victim: victim.importance)
        chosen = [victim for victim in self._in_order_of_reprieve(potential) if not self._may_stay(victim, dry_run)]
        chosen.sort(key=lambda victim: victim.importance)
        return [pod for victim in chosen for pod in victim.pods]

    def _possible_victims(self, dry_run: PodGroupDryRun) -> list[Victim]:
        """All pods; those of a group that is disrupted as a whole are one victim. Upstream: newDomainForWorkloadPreemption"""
        victims: dict[str, Victim] = {}
        now = self._handle.clock()
        for pod in dry_run.pods():
            group = self._group_disrupted_with(pod)
            if group is None:
                victims[pod.uid] = Victim(pod, pod.priority, now)
            elif group.metadata.uid in victims:
                victims[group.metadata.uid].pods.append(pod)
            else:
                victims[group.metadata.uid] = Victim(pod, priority_of(group), now)
        return list(victims.values())

    def _group_disrupted_with(self, pod: PodInfo) -> PodGroup | None:
        """Upstream: isPodGroupPreemptiblePod"""
        named = group_of(pod.pod)
        pod_group = None if named is None else find_pod_group(self._handle.objects, named)
        return pod_group if pod_group is not None and pod_group.spec.disruption_mode == _AS_A_GROUP else None

    def _in_order_of_reprieve(self, victims: Sequence[Victim]) -> Iterator[Victim]:
        """Those whose eviction violates a disruption budget first. Upstream: filterVictimsWithPDBViolation"""
        allowed = self._budgets.allowed.copy()

        def violates(pod: PodInfo) -> bool:
            for number in self._budgets.protecting(pod.pod).tolist():
                allowed[number] -= 1
                if allowed[number] < 0:
                    return True
            return False

        protected = [any(violates(pod) for pod in victim.pods) for victim in victims]
        yield from (victim for victim, is_protected in zip(victims, protected, strict=True) if is_protected)
        yield from (victim for victim, is_protected in zip(victims, protected, strict=True) if not is_protected)

    def _may_stay(self, victim: Victim, dry_run: PodGroupDryRun) -> bool:
        """Whether the group can be scheduled although this victim is put back."""
        _each(dry_run.add, victim)
        if dry_run.try_pods().is_success:
            return True
        _each(dry_run.remove, victim)
        return False


def _each(act: Callable[[PodInfo], None], victim: Victim) -> None:
    for pod in victim.pods:
        act(pod)
