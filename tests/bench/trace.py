"""Reads Chromium's trace of a page: the script time of each frame."""

from __future__ import annotations

import json
from typing import Any, Final

CATEGORIES: Final = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "__metadata"]
_TASK: Final = {"RunTask", "ThreadControllerImpl::RunTask"}
#: The browser's own work: style, layout, painting. The rest of a task is scripts, the calls they make, and garbage collection.
_RENDERING: Final = {"Commit", "HitTest", "Layerize", "Layout", "Paint", "PrePaint", "UpdateLayer", "UpdateLayoutTree"}
#: A frame is passed to the compositor.
_FRAME: Final = "Commit"


def script_millis(recorded: bytes) -> list[float]:
    """The CPU milliseconds of the main thread outside rendering between each drawn frame and the previous one."""
    events: list[dict[str, Any]] = json.loads(recorded)["traceEvents"]
    thread = _main_thread(events)
    mine = sorted(
        (event for event in events if (event.get("pid"), event.get("tid")) == thread and event.get("ph") == "X"), key=lambda one: one["ts"]
    )
    ends = sorted(one["ts"] + one["dur"] for one in mine if one["name"] == _FRAME)
    costs = [0.0] * len(ends)
    frame = 0
    inside = 0.0
    for event in mine:
        sign = 1 if event["name"] in _TASK else -1 if event["name"] in _RENDERING else 0
        if not sign or (sign > 0 and event["ts"] < inside):
            continue
        if sign > 0:
            inside = event["ts"] + event["dur"]
        while frame < len(ends) and ends[frame] <= event["ts"]:
            frame += 1
        if frame < len(ends):
            costs[frame] += sign * event.get("tdur", event["dur"]) / 1000
    # The work before the first frame is incomplete in the recording.
    return [max(0.0, cost) for cost in costs[1:]]


def _main_thread(events: list[dict[str, Any]]) -> tuple[int, int]:
    """The main thread of the renderer that drew the most frames, which is the recorded page."""
    counts: dict[tuple[int, int], int] = {}
    for event in events:
        if event["name"] == _FRAME:
            key = (event["pid"], event["tid"])
            counts[key] = counts.get(key, 0) + 1
    return max(counts, key=lambda key: counts[key]) if counts else (-1, -1)
