"""Events as far as a view needs them that comes after a later cycle: what a cycle found is most of what is stored, and is left out."""

from __future__ import annotations

from typing import Any

from msgspec import defstruct

from schedviz.trace import events
from schedviz.trace.events import TraceEvent


class Passed(TraceEvent, frozen=True, kw_only=True):
    """An event of which a view keeps its number and time alone, once a later cycle has begun."""


class PastCycleEnded(TraceEvent, frozen=True, kw_only=True, tag="cycleEnded"):
    """Of a cycle that ended, what the next one begins with."""

    next_start_node_index: int = 0


#: Of a running cycle, and what no view has at all.
_PASSED = (
    events.CycleStarted,
    events.StageEnded,
    events.CacheCall,
    events.EventRecorded,
    events.ExtenderAnswered,
    events.ClockAdvanced,
    events.CommandDone,
)
_READ = (
    events.CachePod
    | events.CacheNode
    | events.SnapshotUpdated
    | events.QueueMoved
    | events.PodNominated
    | PastCycleEnded
    | events.BindingStarted
    | events.BindingReleased
    | events.PermitAnswered
    | events.BindingStageEnded
    | events.BindingEnded
    | events.ApiWritten
    | events.WatchSent
    | events.WatchDelivered
    | events.WatchChanged
    | events.HelperSet
    | events.LatencySet
    | events.Configured
    | events.SchedulerExited
    | events.Restarted
)


def _passed(kind: Any) -> Any:
    tag = kind.__struct_config__.tag
    return defstruct(f"Passed_{tag}", [], bases=(Passed,), namespace={"__module__": __name__}, tag=tag, frozen=True, kw_only=True, gc=False)


PastEvent: Any = _READ
for _kind in _PASSED:
    PastEvent |= _passed(_kind)
