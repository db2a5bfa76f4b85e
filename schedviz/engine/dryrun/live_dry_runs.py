"""`LiveDryRuns`: dry runs on a live engine, which use a snapshot of their own and leave the engine unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.dryrun.dry_run import DryRun, refresh_snapshot
from schedviz.engine.dryrun.moved_pods import MovedPods
from schedviz.engine.framework.types import PodInfo
from schedviz.kube.core import Pod

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


class StatefulPluginError(LookupError):
    """A plugin of the pod's profile keeps state that a dry run may change, which would change its results in real cycles."""


class LiveDryRuns:
    """Makes dry runs on the same engine; each costs what changed in the cache since the last."""

    def __init__(self, *, assumed: Callable[[Simulation], Sequence[PodInfo]] = lambda _: ()) -> None:
        """`assumed`: pods with the nodes on which another scheduler has assumed them, which each dry run finds there."""
        self._assumed = assumed
        self._snapshot = Snapshot()
        #: The cache whose changes the snapshot has. Another cache has other generations.
        self._cache: Cache | None = None

    @contextmanager
    def dry_run(self, simulation: Simulation, pod: Pod, *, moved: MovedPods | None = None) -> Iterator[DryRun]:
        """A dry run of the pod, valid until the `with` ends. Not during a cycle, which may still read the scheduler's snapshot.

        `moved`: on these nodes instead of the present ones. Raises `UnknownProfileError`, `StatefulPluginError`.
        """
        _require_dry_run_safe(simulation, pod)
        if moved is not None:
            for own in self._assumed(simulation):
                if own.uid == pod.uid:
                    moved.take_away(own)
            with self._using(simulation, moved.snapshot):
                yield DryRun(simulation, pod)
            return
        present = self._present(simulation)
        with self._using(simulation, present):
            others = [other for other in self._assumed(simulation) if other.uid != pod.uid]
            if others:
                # The dry run itself refreshes it, too late for placing pods.
                refresh_snapshot(simulation)
            with MovedPods(present).placed(others):
                yield DryRun(simulation, pod)

    def moved_pods(self, simulation: Simulation) -> MovedPods:
        """A copy of the present nodes with the assumed pods, in which pods can be moved."""
        snapshot = self._present(simulation)
        with self._using(simulation, snapshot):
            refresh_snapshot(simulation)
        moved = MovedPods(snapshot.copy())
        for pod in self._assumed(simulation):
            moved.place(pod)
        return moved

    def _present(self, simulation: Simulation) -> Snapshot:
        cache = simulation.scheduler.state.cache
        if self._cache is not cache:
            self._cache, self._snapshot = cache, Snapshot()
        return self._snapshot

    @staticmethod
    @contextmanager
    def _using(simulation: Simulation, snapshot: Snapshot) -> Iterator[None]:
        scheduler = simulation.scheduler
        scheduler_snapshot = scheduler.state.snapshot
        scheduler.use_snapshot(snapshot)
        try:
            yield
        finally:
            scheduler.use_snapshot(scheduler_snapshot)


def _require_dry_run_safe(simulation: Simulation, pod: Pod) -> None:
    framework = simulation.scheduler.state.profiles.get(pod.spec.scheduler_name)
    for plugin in framework.stateful_plugins if framework is not None else ():
        if not getattr(plugin, "is_dry_run_safe", False):
            raise StatefulPluginError(f"the plugin {plugin.name} keeps state between cycles")
