"""`Sandbox`: dry runs on an engine that goes on being somebody's. They look at a snapshot of their own, and leave the engine as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedviz.engine.cache import Cache, Snapshot
from schedviz.engine.dryrun.dry_run import DryRun
from schedviz.kube.core import Pod

if TYPE_CHECKING:
    from schedviz.engine.simulation import Simulation


class NotAskedBesideError(LookupError):
    """A plugin of the pod's profile remembers what it was asked, so asking it would change what it says to the real cycles."""


class Sandbox:
    """Asks about the same engine again and again; each question costs what changed in the cache since the one before."""

    def __init__(self) -> None:
        self._snapshot = Snapshot()
        #: Whose changes the snapshot has; another one begins at other generations.
        self._cache: Cache | None = None

    @contextmanager
    def dry_run(self, simulation: Simulation, pod: Pod) -> Iterator[DryRun]:
        """A dry run of the pod, to be asked while the `with` lasts. Not while a cycle runs, which may still read the scheduler's snapshot.

        Raises `UnknownProfileError`, `NotAskedBesideError`.
        """
        scheduler = simulation.scheduler
        state = scheduler.state
        _expect_no_memory(simulation, pod)
        if self._cache is not state.cache:
            self._cache, self._snapshot = state.cache, Snapshot()
        theirs = state.snapshot
        scheduler.use_snapshot(self._snapshot)
        try:
            yield DryRun(simulation, pod)
        finally:
            scheduler.use_snapshot(theirs)


def _expect_no_memory(simulation: Simulation, pod: Pod) -> None:
    framework = simulation.scheduler.state.profiles.get(pod.spec.scheduler_name)
    for plugin in framework.stateful_plugins if framework is not None else ():
        if not getattr(plugin, "asking_changes_nothing", False):
            raise NotAskedBesideError(f"the plugin {plugin.name} remembers what it was asked")
