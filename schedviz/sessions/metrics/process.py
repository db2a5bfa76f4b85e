"""What one process of the service measures of itself: web server, worker or sweeper. Told to all through Redis (see reporting.py)."""

from __future__ import annotations

import os
import socket
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, disable_created_metrics

from schedviz.sessions.metrics.definitions import exponential

# A series more for each counter, to say when a process began: process_start_time_seconds does.
disable_created_metrics()  # type: ignore[no-untyped-call]

#: What every process has, and what those of one role have besides.
EVERY: Final = CollectorRegistry()
WORKER: Final = CollectorRegistry()
IO: Final = CollectorRegistry()
WEB: Final = CollectorRegistry()
OF_ROLE: Final = {"worker": WORKER, "io": IO, "web": WEB}
ProcessCollector(registry=EVERY)

#: From a click to a long jump.
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# --- Engine workers

TURNS: Final = Counter("schedviz_turns", "Turns that ended, by why.", ["ended"], registry=WORKER)
SLOTS: Final = Gauge("schedviz_slots", "Sessions that this worker can host at a time.", registry=WORKER)
SLOTS_TAKEN: Final = Gauge("schedviz_slots_taken", "Sessions that this worker hosts.", registry=WORKER)
RECOVERIES: Final = Counter(
    "schedviz_recoveries", "Sessions that were taken over from an owner that died or stood still past its lease.", registry=WORKER
)
LEASES_LOST: Final = Counter("schedviz_leases_lost", "Turns that found that another owner had taken their session.", registry=WORKER)
LOADS: Final = Histogram(
    "schedviz_engine_load_seconds", "Making a session's engine from what is stored.", registry=WORKER, buckets=_SECONDS
)
SLICES: Final = Histogram(
    "schedviz_slice_seconds",
    "Computing a slice of a session's commands, committing it and telling its viewers.",
    registry=WORKER,
    buckets=_SECONDS,
)
CYCLES: Final = Counter("schedviz_cycles", "Scheduling cycles that were committed.", registry=WORKER)
COMMANDS: Final = Counter("schedviz_commands_applied", "Commands that were done.", registry=WORKER)
SET_ASIDE: Final = Counter(
    "schedviz_commands_set_aside", "Commands that were set aside: they ended their workers or broke the engine.", registry=WORKER
)

PLUGINS: Final = Histogram(
    "scheduler_plugin_execution_duration_seconds",
    "[ALPHA] Duration for running a plugin at a specific extension point.",
    ["plugin", "extension_point", "status"],
    registry=WORKER,
    buckets=exponential(0.00001, 1.5, 20),
)

# --- Workers for imports and other long jobs

JOBS: Final = Histogram(
    "schedviz_job_seconds",
    "Jobs that ended, by task and how.",
    ["task", "state"],
    registry=IO,
    buckets=(0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600),
)

# --- Web servers

REQUESTS: Final = Histogram(
    "schedviz_http_request_duration_seconds",
    "Answering a request, by method, route and status.",
    ["method", "route", "status"],
    registry=WEB,
    buckets=_SECONDS,
)
VIEWERS: Final = Gauge("schedviz_viewers", "Open WebSockets.", registry=WEB)
FEEDS: Final = Gauge("schedviz_feeds", "Sessions that somebody looks at through this process.", registry=WEB)
FRAMES: Final = Counter("schedviz_frames_sent", "Frames given to viewers.", registry=WEB)
FRAME_BYTES: Final = Counter("schedviz_frame_bytes_sent", "Bytes of the frames given to viewers, compressed.", registry=WEB)
OVERFLOWS: Final = Counter(
    "schedviz_viewer_overflows",
    "Viewers that were too slow, lost the frames that waited for them and were given the view.",
    registry=WEB,
)


def process_name(role: str) -> str:
    """This process among all of a server: its role, host and number."""
    return f"{role}@{socket.gethostname()}-{os.getpid()}"
