"""`FinishedTrial`: the state at the end of a trial, as measures read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from schedviz.engine import Simulation
from schedviz.engine.framework.resource import Resource
from schedviz.engine.framework.types import NodeInfo
from schedviz.experiments.history import Attempt, History
from schedviz.kube.core import Pod
from schedviz.kube.policy import PodDisruptionBudget

_GATED = "scheduling gates"
_UNKNOWN_SCHEDULER = "no profile has the pod's schedulerName"
_NOT_TRIED = "not tried"


class FinishedTrial:
    """The state at the end of a trial. Measures must not modify it."""

    def __init__(
        self, simulation: Simulation, history: History, *, before: Mapping[str, Pod], arrived: Mapping[str, Pod], engine_seconds: float
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
        self._reasons = history.reasons

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
    def placements(self) -> dict[str, str]:
        """Pod of the workload -> its node at the end. Pending pods are missing."""
        return {key: pod.spec.node_name for key, pod in self.pods.items() if key in self.workload and pod.spec.node_name}

    @cached_property
    def gone(self) -> dict[str, Pod]:
        """Pods that were preempted: they existed before, and are deleted or terminating now."""
        remaining = {key for key, pod in self.pods.items() if pod.metadata.deletion_timestamp is None}
        return {key: pod for key, pod in {**self.bound_before, **self.workload}.items() if key not in remaining}

    @cached_property
    def pending(self) -> dict[str, str]:
        """Pending pod of the workload -> the reason."""
        return {key: self._reason(key, pod) for key, pod in self.pods.items() if not pod.spec.node_name}

    def _reason(self, key: str, pod: Pod) -> str:
        if key in self._reasons:
            return self._reasons[key]
        if pod.spec.scheduling_gates:
            return _GATED
        profiles = self.simulation.scheduler.state.profiles
        return _NOT_TRIED if pod.spec.scheduler_name in profiles else _UNKNOWN_SCHEDULER

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
        pod_info = self.simulation.release.pod_info(self.simulation.features)
        return [{name: n for name, n in amounts(pod_info(pod).requests.resource).items() if n} for pod in self.workload.values()]


def amounts(resource: Resource) -> dict[str, int]:
    """A Resource by name: milli-cpus, bytes, counts."""
    return {
        "cpu": resource.milli_cpu,
        "memory": resource.memory,
        "ephemeral-storage": resource.ephemeral_storage,
        **resource.scalar,
    }
