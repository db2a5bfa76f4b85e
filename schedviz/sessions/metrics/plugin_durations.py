"""Plugin durations, summed over all sessions of a worker: all sessions run the same plugins, and per-session series would be too many.

One observation is one call. A call of Filter or Score here evaluates all nodes; upstream's evaluates one.

Upstream: framework/runtime/framework.go, every ObservePluginDurationAsync
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedviz.sessions.metrics import process
from schedviz.trace.events import AnyEvent, BindingStageEnded, StageEnded
from schedviz.trace.recorder import StageTiming

#: Extension points with a different name in upstream's metrics.
_UPSTREAM_LABELS = {"NormalizeScore": "ScoreExtensionNormalize"}
_SUCCESS, _ERROR = "Success", "Error"


def observe(events: Sequence[AnyEvent], timings: Mapping[int, StageTiming]) -> None:
    """Observe the plugin timings, labelled with the statuses in the events."""
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
        # For plugins that evaluate nodes, the statuses do not attribute errors to a plugin, and no plugin runs after an error.
        codes.setdefault(calls[-1][1], _ERROR)
    for point, plugin, seconds in calls:
        process.PLUGINS.labels(plugin, _UPSTREAM_LABELS.get(point, point), codes.get(plugin, _SUCCESS)).observe(seconds)
