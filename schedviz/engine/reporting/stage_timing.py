"""How long stages take, for a host that wants to know (`Recorder.watch`). Nothing of it enters a decision, an event or a checkpoint."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.runtime import Framework
from schedviz.trace.recorder import Lap, Recorder

#: In every tenth cycle its plugins are timed, too. Deviation: upstream draws a tenth of the cycles by chance.
#: Upstream: schedule_one.go pluginMetricsSamplePercent
SAMPLED_CYCLES: Final = 10


def begin(recorder: Recorder, framework: Framework, cycle: int) -> float | None:
    """A stage of a cycle, or of its binding, begins: when, None where nobody wants to know."""
    watch = recorder.watch
    if watch is None:
        return None
    framework.sample_plugins(watch, on=cycle % SAMPLED_CYCLES == 0)
    return watch()


def end(recorder: Recorder, framework: Framework, began: float | None) -> None:
    """It ended, and the last event tells of it."""
    if began is not None and recorder.watch is not None:
        recorder.laps[recorder.event] = Lap(recorder.watch() - began, framework.take_sample())
