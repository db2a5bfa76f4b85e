"""Runs plugins: `Framework` (one for each profile), and the outcome of each extension point."""

from schedviz.engine.framework.runtime.framework import Framework
from schedviz.engine.framework.runtime.handle_parts import HandleParts
from schedviz.engine.framework.runtime.outcomes import (
    FilterOutcome,
    PluginResult,
    PluginRun,
    PostFilterOutcome,
    PreFilterOutcome,
    ScoreOutcome,
    ScoresOfPlugin,
)
from schedviz.engine.framework.runtime.plugin_lists import PluginLists, PluginListsError, Registry
from schedviz.engine.framework.runtime.stopwatch import Stopwatch
from schedviz.engine.framework.runtime.waiting_pods import WaitingPod, WaitingPods

__all__ = [
    "FilterOutcome",
    "Framework",
    "HandleParts",
    "PluginLists",
    "PluginListsError",
    "PluginResult",
    "PluginRun",
    "PostFilterOutcome",
    "PreFilterOutcome",
    "Registry",
    "ScoreOutcome",
    "ScoresOfPlugin",
    "Stopwatch",
    "WaitingPod",
    "WaitingPods",
]
