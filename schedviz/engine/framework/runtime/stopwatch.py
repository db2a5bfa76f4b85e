"""Timing of plugins. Timings enter no decision, no event and no checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Stopwatch:
    """Times the calls of plugins with the caller's clock, in its unit.

    Nested calls count as the outer plugin's time: the dry runs of preemption call Filter thousands of times, which is PostFilter's time.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        #: While off, calls are not timed.
        self.is_on = True
        self._is_running = False
        self._times: dict[str, dict[str, float]] = {}

    def drain(self) -> dict[str, dict[str, float]]:
        """The times since the last call, by extension point and plugin, in the order of the first calls."""
        times, self._times = self._times, {}
        return times

    def timed(self, point: str, plugin: str, call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        """The call, timed."""

        def timed(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            if self._is_running or not self.is_on:
                return call(*args, **kwargs)
            self._is_running = True
            begun = self._clock()
            try:
                return call(*args, **kwargs)
            finally:
                by_plugin = self._times.setdefault(point, {})
                by_plugin[plugin] = by_plugin.get(plugin, 0) + self._clock() - begun
                self._is_running = False

        return timed


class TimedPlugin:
    """A plugin with one method timed; all others are unchanged."""

    def __init__(self, watch: Stopwatch, point: str, plugin: Any, method: str) -> None:
        self._plugin = plugin
        self.name: str = plugin.name
        setattr(self, method, watch.timed(point, plugin.name, getattr(plugin, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)
