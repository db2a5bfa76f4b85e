"""`FinishedTrial`: the state at the end of a trial, as measures read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from schedviz.engine import Simulation
from schedviz.engine.framework.types import NodeInfo
from schedviz.experiments.amounts import amounts
from schedviz.experiments.plans.plan import Prices
from schedviz.experiments.prices import price_of
from schedviz.experiments.trials.history import Attempt, History
from schedviz.experiments.trials.series import SeriesAxis
from schedviz.experiments.trials.usage import Usage, UsageSource
from schedviz.experiments.trials.usage_log import NodeOrPodWrite
from schedviz.kube.core import Node, Pod
from schedviz.kube.policy import PodDisruptionBudget

_GATED_REASON = "scheduling gates"
_UNKNOWN_SCHEDULER_REASON = "no profile has the pod's schedulerName"
_NOT_TRIED_REASON = "not tried"


class FinishedTrial:
    """The state at the end of a trial. Measures must not modify it."""

    def __init__(
        self,
        simulation: Simulation,
        history: History,
        *,
        changes: Sequence[NodeOrPodWrite],
        before: Mapping[str, Pod],
        arrived: Mapping[str, Pod],
        ended: Mapping[str, str],
        prices: Prices | None,
        axis: SeriesAxis,
        engine_seconds: float,
    ) -> None:
        #: The engine, for measures that need more than the members below.
        self.simulation = simulation
        #: Every scheduling cycle, in order.
        self.attempts: Sequence[Attempt] = history.attempts
        #: CPU seconds of the engine.
        self.engine_seconds = engine_seconds
        #: Pods that had a node at the beginning, by `namespace/name`.
        self.bound_before = {key: pod for key, pod in before.items() if pod.spec.node_name}
        #: The pods to schedule, by `namespace/name`, in the order in which they arrived.
        self.workload = {key: pod for key, pod in {**before, **arrived}.items() if key not in self.bound_before}
        #: Pods of the workload that ended after their lifetimes, with the nodes on which they ran.
        self.ended = ended
        #: The axis of series: virtual time, or the pods in the order of their first attempts, where all are there from the beginning.
        self.axis = axis
        self._reasons = history.reasons
        self._changes = changes
        self._prices = prices

    @cached_property
    def nodes(self) -> list[NodeInfo]:
        """The nodes with their pods and sums, sorted by name."""
        state = self.simulation.scheduler.state
        state.cache.update_snapshot(state.snapshot)
        return sorted(state.snapshot.node_info_map.values(), key=lambda info: info.name)

    @cached_property
    def pods(self) -> dict[str, Pod]:
        """The pods at the end, by `namespace/name`."""
        return {obj.key: obj for obj in self.simulation.stored_objects() if isinstance(obj, Pod)}

    @cached_property
    def running(self) -> dict[str, str]:
        """Pod of the workload that is on a node at the end -> the node."""
        return {key: pod.spec.node_name for key, pod in self.pods.items() if key in self.workload and pod.spec.node_name}

    @cached_property
    def placements(self) -> dict[str, str]:
        """Pod of the workload -> its node, also of pods that ended; pods that have none are absent."""
        return {**self.ended, **self.running}

    @cached_property
    def gone(self) -> dict[str, Pod]:
        """Pods that preemption evicted: they were deleted, or are terminating. Without those that commands or controllers deleted."""
        there = {key for key, pod in self.pods.items() if pod.metadata.deletion_timestamp is None}
        preempted = {victim for attempt in self.attempts for victim in attempt.victims}
        # Victims of a pod group are not among those of its pods.
        deleted = [change.before for change in self._changes if change.after is None]
        preempted |= {pod.key for pod in (*deleted, *self.pods.values()) if isinstance(pod, Pod) and _is_preempted(pod)}
        pods = {**self.bound_before, **self.workload}
        return {key: pod for key, pod in pods.items() if key in preempted and key not in there and key not in self.ended}

    @cached_property
    def pending(self) -> dict[str, str]:
        """Pending pod of the workload -> the reason."""
        return {key: self._reason(key, pod) for key, pod in self.pods.items() if not pod.spec.node_name}

    def _reason(self, key: str, pod: Pod) -> str:
        if key in self._reasons:
            return self._reasons[key]
        if pod.spec.scheduling_gates:
            return _GATED_REASON
        profiles = self.simulation.scheduler.state.profiles
        return _NOT_TRIED_REASON if pod.spec.scheduler_name in profiles else _UNKNOWN_SCHEDULER_REASON

    @cached_property
    def budgets(self) -> list[PodDisruptionBudget]:
        """The disruption budgets."""
        return [obj for obj in self.simulation.stored_objects() if isinstance(obj, PodDisruptionBudget)]

    @cached_property
    def resources(self) -> list[str]:
        """The resources that pods request, sorted; without those that no node offers."""
        requested = {name for info in self.nodes for name, amount in amounts(info.requested).items() if amount}
        requested |= {name for shape in self.shapes for name in shape}
        offered = {name for info in self.nodes for name, amount in amounts(info.allocatable).items() if amount}
        return sorted(requested & offered)

    @cached_property
    def shapes(self) -> list[dict[str, int]]:
        """The requests of each pod of the workload, in milli-cpus, bytes and counts, without zeros."""
        return [self.requests_of(pod) for pod in self.workload.values()]

    def requests_of(self, pod: Pod) -> dict[str, int]:
        """The requests of a pod, in milli-cpus, bytes and counts, without zeros."""
        found = self._requests.get(pod.uid)
        if found is None:
            pod_info = self.simulation.release.pod_info(self.simulation.features)(pod)
            found = self._requests[pod.uid] = _without_zeros(amounts(pod_info.requests.resource))
        return found

    @cached_property
    def _requests(self) -> dict[str, dict[str, int]]:
        """By uid. The scheduler has calculated those of the pods on nodes."""
        return {pod.uid: _without_zeros(amounts(pod.requests.resource)) for info in self.nodes for pod in info.pods}

    @cached_property
    def prices(self) -> dict[str, float]:
        """Node -> its price per hour, by the plan; empty if that has no prices. Nodes that were deleted have theirs."""
        if self._prices is None:
            return {}
        nodes = [change.after for change in self._changes if isinstance(change.after, Node)]
        return {node.name: price_of(node, self._prices) or 0.0 for node in nodes}

    @cached_property
    def usage(self) -> Usage:
        """The use of the nodes during the trial."""
        first_tries: dict[str, int] = {}
        for attempt in self.attempts:
            first_tries.setdefault(attempt.pod, attempt.cycle)
        return Usage(
            UsageSource(
                changes=self._changes,
                first_tries=sorted((cycle, pod) for pod, cycle in first_tries.items()),
                workload=self.workload,
                resources=self.resources,
                requests_of=self.requests_of,
                prices=self.prices,
                axis=self.axis,
                end=self.simulation.clock.now,
            )
        )


def _is_preempted(pod: Pod) -> bool:
    """Whether preemption has marked the pod. Upstream: pkg/scheduler/framework/preemption DisruptionTarget"""
    return any(condition.type == "DisruptionTarget" and condition.reason == "PreemptionByScheduler" for condition in pod.status.conditions)


def _without_zeros(found: Mapping[str, int]) -> dict[str, int]:
    return {name: amount for name, amount in found.items() if amount}
