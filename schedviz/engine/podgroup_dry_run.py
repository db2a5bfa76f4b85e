"""A dry run of a pod group's scheduling cycle, on a copy of the snapshot: would the group fit if these pods were gone? v1.36.

Upstream: pkg/scheduler/schedule_one_podgroup.go runWorkloadAwarePreemption
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from schedviz.engine.cache import Snapshot
from schedviz.engine.framework.interface import PodGroupDryRun
from schedviz.engine.framework.pod_groups import Placement
from schedviz.engine.framework.runtime import Framework
from schedviz.engine.framework.status import Status
from schedviz.engine.framework.types import PodInfo
from schedviz.engine.podgroup_algorithm import MakePodCycle, PodGroupAlgorithmRun, no_placement
from schedviz.engine.scheduler_state import SchedulerState


class _SnapshotDryRun:
    """Removes and adds pods, and tries the group's pods."""

    def __init__(self, snapshot: Snapshot, size: int, make_pod_cycle: MakePodCycle, *, by_placement: bool) -> None:
        self._snapshot = snapshot
        self._size = size
        self._make_pod_cycle = make_pod_cycle
        self._by_placement = by_placement

    def pods(self) -> list[PodInfo]:
        """The pods of all nodes, node by node."""
        return [pod for info in self._snapshot.node_info_list for pod in info.pods]

    def remove(self, pod: PodInfo) -> None:
        """Take a pod off its node."""
        self._snapshot.remove_pod(pod)

    def add(self, pod: PodInfo) -> None:
        """Put it back."""
        self._snapshot.add_pod(pod)

    def try_pods(self) -> Status:
        """Whether the group can be scheduled now."""
        status = PodGroupAlgorithmRun(Placement(), self._size, self._make_pod_cycle).run_to_end()
        return no_placement(status, 1) if self._by_placement and status.is_unschedulable else status


@contextmanager
def pod_group_dry_run(state: SchedulerState, framework: Framework, size: int, make_pod_cycle: MakePodCycle) -> Iterator[PodGroupDryRun]:
    """A dry run for `size` pods. Until the `with` ends, cycles and plugins read the copy of the snapshot."""
    snapshot = state.snapshot
    copy = snapshot.copy()
    state.snapshot = copy
    framework.snapshot = copy
    try:
        yield _SnapshotDryRun(copy, size, make_pod_cycle, by_placement=state.features.topology_aware_workload_scheduling)
    finally:
        state.snapshot = snapshot
        framework.snapshot = snapshot
