"""`LiveDryRuns`: dry runs on a live engine, which use a snapshot of their own and leave the engine unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.kube.core import Pod

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


class StatefulPluginError(LookupError):
    """A plugin of the pod's profile keeps state, so a dry run could change its results in real cycles."""


class LiveDryRuns:
    """Makes dry runs on the same engine; each costs what changed in the cache since the last."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        #: The cache whose changes the snapshot has. Another cache has other generations.
        self._cache: Cache | None = None

    @contextmanager
    def dry_run(self, simulation: Simulation, pod: Pod) -> Iterator[DryRun]:
        """A dry run of the pod, valid until the `with` ends. Not during a cycle, which may still read the scheduler's snapshot.

        Raises `UnknownProfileError`, `StatefulPluginError`.
        """
        scheduler = simulation.scheduler
        state = scheduler.state
        _require_stateless(simulation, pod)
        if self._cache is not state.cache:
            self._cache, self._snapshot = state.cache, Snapshot()
        theirs = state.snapshot
        scheduler.use_snapshot(self._snapshot)
        try:
            yield DryRun(simulation, pod)
        finally:
            scheduler.use_snapshot(theirs)


def _require_stateless(simulation: Simulation, pod: Pod) -> None:
    framework = simulation.scheduler.state.profiles.get(pod.spec.scheduler_name)
    for plugin in framework.stateful_plugins if framework is not None else ():
        if not getattr(plugin, "is_read_only", False):
            raise StatefulPluginError(f"the plugin {plugin.name} keeps state between cycles")
