"""Timing of stages, for a host that sets `Recorder.stage_clock`. Timings enter no decision, no event and no checkpoint."""

from __future__ import annotations

from typing import Final

from schedviz.engine.framework.runtime import Framework
from schedviz.trace.recorder import Recorder, StageTiming

#: One cycle in so many also times its plugins. Deviation: upstream samples a random tenth of the cycles.
#: Upstream: schedule_one.go pluginMetricsSamplePercent
CYCLES_PER_SAMPLE: Final = 10


def begin(recorder: Recorder, framework: Framework, cycle: int) -> float | None:
    """When a stage of a scheduling or binding cycle began; None: stages are not timed."""
    clock = recorder.stage_clock
    if clock is None:
        return None
    framework.sample_plugins(clock, on=cycle % CYCLES_PER_SAMPLE == 0)
    return clock()


def end(recorder: Recorder, framework: Framework, began: float | None) -> None:
    """Store the timing of the stage whose event was recorded last."""
    if began is not None and recorder.stage_clock is not None:
        recorder.stage_timings[recorder.event] = StageTiming(recorder.stage_clock() - began, framework.take_sample())
