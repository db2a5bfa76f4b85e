"""How long plugins take, for whoever asks. Nothing of it enters a decision, an event or a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Stopwatch:
    """Times the calls of plugins by a clock of the caller's, in its unit.

    What a plugin calls in turn is its own time: the dry runs of preemption ask Filter thousands of times, and that is PostFilter's.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        #: Off, calls pass as they are.
        self.is_on = True
        self._is_running = False
        self._taken: dict[str, dict[str, float]] = {}

    def take(self) -> dict[str, dict[str, float]]:
        """What was measured since the last time: by extension point and plugin, in the order in which they were first called."""
        taken, self._taken = self._taken, {}
        return taken

    def around(self, point: str, plugin: str, call: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        """The same call, timed."""

        def timed(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
            if self._is_running or not self.is_on:
                return call(*args, **kwargs)
            self._is_running = True
            begun = self._clock()
            try:
                return call(*args, **kwargs)
            finally:
                of_point = self._taken.setdefault(point, {})
                of_point[plugin] = of_point.get(plugin, 0) + self._clock() - begun
                self._is_running = False

        return timed


class TimedPlugin:
    """A plugin of which one method is timed; all else of it is its own."""

    def __init__(self, watch: Stopwatch, point: str, plugin: Any, method: str) -> None:
        self._plugin = plugin
        self.name: str = plugin.name
        setattr(self, method, watch.around(point, plugin.name, getattr(plugin, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plugin, name)
