"""Reduced forms of events before the last cycle. A later view needs little of them, and a cycle's results are most of the stored data."""

from __future__ import annotations

from typing import Any

from msgspec import defstruct

from schedviz.trace import events
from schedviz.trace.events import TraceEvent


class UnreadEvent(TraceEvent, frozen=True, kw_only=True):
    """An event of which a view needs only number and time, once a later cycle has begun."""


class PastCycleEnded(TraceEvent, frozen=True, kw_only=True, tag="cycleEnded"):
    """The part of a CycleEnded that the next cycle needs."""

    next_start_node_index: int = 0


#: Events of a running cycle, and events that no view shows.
_UNREAD = (
    events.CycleStarted,
    events.StageEnded,
    events.PodGroupStarted,
    events.PodGroupStageEnded,
    events.PodGroupPodTried,
    events.PodGroupEnded,
    events.CacheCall,
    events.EventRecorded,
    events.ExtenderAnswered,
    events.ClockAdvanced,
    events.CommandDone,
    events.RequeueConsidered,
    events.PreEnqueueRan,
)
_READ = (
    events.CachePod
    | events.CacheNode
    | events.SnapshotUpdated
    | events.QueueMoved
    | events.PodNominated
    | events.InFlightChanged
    | events.PodGroupChanged
    | events.SnapshotPod
    | PastCycleEnded
    | events.BindingStarted
    | events.BindingReleased
    | events.PermitAnswered
    | events.BindingStageEnded
    | events.BindingEnded
    | events.PreemptionStarted
    | events.PreemptionStageEnded
    | events.ApiCallChanged
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


def _unread(kind: Any) -> Any:
    tag = kind.__struct_config__.tag
    return defstruct(
        f"Unread_{tag}", [], bases=(UnreadEvent,), namespace={"__module__": __name__}, tag=tag, frozen=True, kw_only=True, gc=False
    )


PastEvent: Any = _READ
for _kind in _UNREAD:
    PastEvent |= _unread(_kind)
