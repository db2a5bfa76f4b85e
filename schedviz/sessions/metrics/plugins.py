"""What plugins take, of all sessions of a worker together: it is the same engine, and a session has series enough.

One observation is one call. Of Filter and Score that is a call for all nodes, where upstream's is for one.
Upstream: framework/runtime/framework.go, every ObservePluginDurationAsync
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedviz.sessions.metrics import process
from schedviz.trace.events import AnyEvent, BindingStageEnded, StageEnded
from schedviz.trace.recorder import StageTiming

#: Extension points that upstream calls otherwise in its metrics.
_UPSTREAMS = {"NormalizeScore": "ScoreExtensionNormalize"}
_SUCCESS, _ERROR = "Success", "Error"


def observe(events: Sequence[AnyEvent], timings: Mapping[int, StageTiming]) -> None:
    """Count the plugins of those timings in which they were timed, under what the events say that they answered."""
    if not any(timing.plugins for timing in timings.values()):
        return
    for event in events:
        timing = timings.get(event.event)
        if timing is not None and timing.plugins and isinstance(event, StageEnded | BindingStageEnded):
            _observe(event, timing)


def _observe(event: StageEnded | BindingStageEnded, timing: StageTiming) -> None:
    codes = {status.plugin: status.code for status in event.statuses}
    calls = [(point, plugin, seconds) for point, plugins in timing.plugins.items() for plugin, seconds in plugins.items()]
    if event.facts.get("error"):
        # Where plugins answer for nodes, the statuses do not say whose error it was: nobody is asked after it.
        codes.setdefault(calls[-1][1], _ERROR)
    for point, plugin, seconds in calls:
        process.PLUGINS.labels(plugin, _UPSTREAMS.get(point, point), codes.get(plugin, _SUCCESS)).observe(seconds)
