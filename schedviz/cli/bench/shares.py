"""Profiles a cycle by stage and by plugin. Profiling slows the cycle down, so it is separate from the measurement."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

from schedviz.cli.bench.plugin_classes import patched, plugin_classes
from schedviz.engine.releases import RELEASES
from schedviz.trace.recorder import Recorder

#: The extension points of a plugin; its share is their sum.
_POINTS: Final = ("pre_filter", "filter", "post_filter", "pre_score", "score", "normalize_score", "reserve", "permit", "pre_bind", "bind")


class CycleProfile:
    """Seconds by name, per cycle. Time inside another name of the same profile counts for both."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._cycle: dict[str, float] = defaultdict(float)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time counts for the name."""

        @wraps(function)
        def profiled(*args: Any, **members: Any) -> Any:
            begin = time.process_time()
            try:
                return function(*args, **members)
            finally:
                self._cycle[name] += time.process_time() - begin

        return profiled

    def begin_cycle(self) -> None:
        """Discard what was measured before the cycle."""
        self._cycle.clear()

    def end_cycle(self) -> None:
        """Store the times of the cycle."""
        for name, seconds in self._cycle.items():
            self._seconds[name].append(seconds)

    def medians(self) -> dict[str, float]:
        """Seconds per cycle, largest first."""
        found = {name: statistics.median(seconds) for name, seconds in self._seconds.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1]))


@contextmanager
def profiled(release: str) -> Iterator[tuple[CycleProfile, CycleProfile]]:
    """Profile stages and plugins. Create the engine inside the context."""
    by_stage, by_plugin = CycleProfile(), CycleProfile()
    for_plugins = [
        (kind, point, by_plugin.timed(name, getattr(kind, point)))
        for name, kind in plugin_classes(release).items()
        for point in _POINTS
        if hasattr(kind, point)
    ]
    tables = [
        (cycle, "STAGES", {name: stage._replace(run=by_stage.timed(name, stage.run)) for name, stage in cycle.STAGES.items()})
        for cycle in (RELEASES[release].scheduling_cycle, RELEASES[release].binding_cycle)
    ]
    recording = [(Recorder, method, by_stage.timed("record", getattr(Recorder, method))) for method in ("record", "record_in_cycle")]
    with patched([*for_plugins, *tables, *recording]):
        yield by_stage, by_plugin
