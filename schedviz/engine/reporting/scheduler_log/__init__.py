"""The lines of the scheduler's log in a recorded run, derived from trace events when the log is captured; see `v1_27` and `v1_36`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from schedviz.engine.cache.debugger.log_line import LogLine
from schedviz.engine.reporting.scheduler_log.v1_27 import SchedulerLogV127
from schedviz.engine.reporting.scheduler_log.v1_36 import SchedulerLogV136
from schedviz.engine.simulation import Simulation
from schedviz.trace.events import AnyEvent
from schedviz.trace.releases import V1_27


class SchedulerLog(Protocol):
    """Derives the log lines of one run, step by step."""

    def lines(self, events: Sequence[AnyEvent], records: Mapping[int, dict[str, Any]]) -> Iterator[LogLine]:
        """The lines of a step's events, in the scheduler's order. `records` are those of its scheduling cycles, by number."""
        ...


def scheduler_log(simulation: Simulation, *, verbosity: int) -> SchedulerLog:
    """The log of a simulation that has not run yet."""
    return SchedulerLogV127() if simulation.release.version == V1_27 else SchedulerLogV136(simulation, verbosity)
